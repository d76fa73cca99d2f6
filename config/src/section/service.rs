//! Public information about the service: the operator's contact and pages, and the rules for crawlers.

use domain::ServiceLinks;

use crate::reader::Reader;
use crate::value::{ContactAddress, PageAddress, RobotsText};

/// All of it is optional.
#[derive(Clone, Debug, Default)]
pub struct Service {
    pub links: ServiceLinks,
    /// The whole text of `/robots.txt`.
    pub robots: Option<String>,
}

impl Service {
    pub(crate) fn read(reader: &mut Reader) -> Self {
        let links = ServiceLinks {
            terms: page(reader, "service.terms"),
            privacy: page(reader, "service.privacy"),
            imprint: page(reader, "service.imprint"),
            contact: reader.optional::<ContactAddress>("service.contact").map(|contact| contact.0),
        };
        Self { links, robots: reader.optional::<RobotsText>("service.robots").map(|robots| robots.0) }
    }
}

fn page(reader: &mut Reader, key: &'static str) -> Option<String> {
    reader.optional::<PageAddress>(key).map(|address| address.0)
}
