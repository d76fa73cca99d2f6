//! Adds the headers that a site wants to a response, as far as they do not loosen what protects visitors.

use anyhow::Context;
use domain::Visibility;
use domain::site_rules::{CacheTerms, SiteHeader, cache_control};
use poem::Response;
use poem::http::{HeaderName, HeaderValue, StatusCode, header};

use crate::sites::Site;

const NO_REFERRER: &str = "no-referrer";
const ROBOTS: &str = "x-robots-tag";

/// What happens to the header that the response already has.
enum Setting {
    Replace,
    Add,
    /// The site's header is left out.
    Skip,
}

pub fn apply(
    response: &mut Response,
    wanted: &[SiteHeader<'_>],
    site: &Site,
    caching: CacheTerms,
) -> anyhow::Result<()> {
    let is_redirect = response.status().is_redirection() && response.status() != StatusCode::NOT_MODIFIED;
    for SiteHeader { name, value } in wanted {
        let value = match *name {
            // How long a redirect is cached does not depend on the file's name.
            "cache-control" if is_redirect => continue,
            "cache-control" => cache_control(value, caching),
            _ => value.clone(),
        };
        let (setting, value) =
            (setting_of(name, &value, site.route.visibility), HeaderValue::try_from(value));
        let name = HeaderName::from_bytes(name.as_bytes()).context("read the name of a site's header")?;
        let value = value.context("read the value of a site's header")?;
        match setting {
            Setting::Replace => drop(response.headers_mut().insert(name, value)),
            Setting::Add => drop(response.headers_mut().append(name, value)),
            Setting::Skip => {}
        }
    }
    Ok(())
}

fn setting_of(name: &str, value: &str, visibility: Visibility) -> Setting {
    let is_private = visibility == Visibility::Private;
    if name == header::CONTENT_SECURITY_POLICY.as_str() {
        // Browsers apply every policy, so that another one can only be stricter.
        Setting::Add
    } else if name == ROBOTS && visibility != Visibility::Public {
        // Search engines apply the strictest of several headers, and the first is `noindex`.
        Setting::Add
    } else if name == header::REFERRER_POLICY.as_str() && is_private && value != NO_REFERRER {
        // The address of a private page contains its signature.
        Setting::Skip
    } else if name == header::ACCESS_CONTROL_ALLOW_ORIGIN.as_str() && is_private {
        Setting::Skip
    } else {
        Setting::Replace
    }
}
