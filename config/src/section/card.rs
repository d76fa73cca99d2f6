//! The address of the card processor and the secrets shared with it. All of it may be unset: a missing part
//! must never prevent the start.

use domain::CardTerms;

use crate::reader::Reader;
use crate::secret::Secret;
use crate::section::mode::Mode;
use crate::value::WebAddress;

/// The card processor. The routes of an unset part respond with 501.
#[derive(Clone, Debug)]
pub struct Card {
    pub webhook_secret: Option<Secret>,
    pub api_url: Option<String>,
    pub secret_key: Option<Secret>,
    /// Whether events of live mode or of test mode are accepted. Unset: the mode of the key's prefix.
    pub livemode: Option<bool>,
}

impl Card {
    /// Whether a checkout can be opened, which needs an address and a key.
    pub fn rail(&self) -> CardTerms {
        let is_open = self.api_url.is_some() && self.secret_key.is_some();
        if is_open { CardTerms::Open } else { CardTerms::Closed }
    }

    pub(crate) fn read(reader: &mut Reader, mode: Option<Mode>) -> Self {
        let card = Self {
            webhook_secret: reader.optional("card.webhook_secret"),
            api_url: reader.optional::<WebAddress>("card.api_url").map(|address| address.0),
            secret_key: reader.optional("card.secret_key"),
            livemode: reader.optional("card.livemode"),
        };
        if let Some(mode) = mode {
            mode.guard_unset(reader, "card.secret_key", card.secret_key.is_some());
        }
        card
    }
}
