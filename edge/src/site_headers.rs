//! Adds the headers that a site wants to a response, as far as they do not loosen what protects visitors.

use anyhow::Context;
use domain::Visibility;
use domain::site_rules::{CacheTerms, SiteHeader, cache_control};
use poem::Response;
use poem::http::{HeaderName, HeaderValue, StatusCode};

use crate::sites::Site;

const NO_REFERRER: &str = "no-referrer";

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
    match name {
        // Browsers apply every policy, so that another one can only be stricter. Search engines apply the
        // strictest of several rules, so that our `noindex` remains. A `Link` is one of a list.
        "content-security-policy" | "x-robots-tag" | "link" => Setting::Add,
        // The address of a private page contains its signature.
        "referrer-policy" if is_private && value != NO_REFERRER => Setting::Skip,
        "access-control-allow-origin" if is_private => Setting::Skip,
        _ => Setting::Replace,
    }
}
