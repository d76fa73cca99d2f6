//! What the service says of itself to strangers: whom to write to, and what crawlers may visit.

use crate::reader::Reader;
use crate::value::{ContactAddress, RobotsText};

/// Nothing of it need be set.
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
