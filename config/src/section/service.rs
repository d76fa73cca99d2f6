//! Public information about the service: the contact, and the rules for crawlers.

use crate::reader::Reader;
use crate::value::{ContactAddress, RobotsText};

/// All of it is optional.
#[derive(Clone, Debug, Default)]
pub struct Service {
    /// A URI, such as `mailto:abuse@example.com`.
    pub contact: Option<String>,
    /// The whole text of `/robots.txt`.
    pub robots: Option<String>,
}

impl Service {
    pub(crate) fn read(reader: &mut Reader) -> Self {
        Self {
            contact: reader.optional::<ContactAddress>("service.contact").map(|contact| contact.0),
            robots: reader.optional::<RobotsText>("service.robots").map(|robots| robots.0),
        }
    }
}
