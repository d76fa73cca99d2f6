//! A request that has passed the gate of its site.

use std::sync::Arc;

use domain::Time;
use poem::Request;

use crate::find::Address;
use crate::gate::Pass;
use crate::patience::Patience;
use crate::sites::Site;

/// A visitor with access to a site.
pub struct PageVisit<'r> {
    pub request: &'r Request,
    pub address: Address<'r>,
    pub site: &'r Arc<Site>,
    pub pass: Pass,
    /// At the address of a version, the live address of the same path.
    pub live_address: Option<String>,
    pub now: Time,
    pub patience: Patience,
}
