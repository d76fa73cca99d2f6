//! A request that has passed the gate of its site.

use std::sync::Arc;

use domain::{Time, Visibility};
use poem::Request;

use crate::closed::Closed;
use crate::find::Address;
use crate::front::FrontPage;
use crate::gate::Pass;
use crate::patience::Patience;
use crate::resolve::resolve;
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

impl PageVisit<'_> {
    /// The response if the site has no file at the address. The front page of a private site needs a
    /// signature, so it is not offered.
    pub fn no_file(&self) -> Closed {
        let route = &self.site.route;
        // With rules, a redirect may stand for the front page.
        let has_front = self.site.rules.is_some() || !resolve(&route.manifest, FrontPage::PATH).is_absent();
        let is_front = self.address.path.trim_start_matches('/').is_empty();
        if is_front || !has_front || route.visibility == Visibility::Private {
            return Closed::Missing;
        }
        Closed::NoFile { depth: self.address.depth() }
    }
}
