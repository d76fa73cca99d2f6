//! Adds the headers that a site wants to a response, as far as they do not loosen what protects visitors.

use anyhow::Context;
use domain::Visibility;
use domain::site_rules::{CacheTerms, SiteHeader, cache_control};
use poem::Response;
use poem::http::{HeaderName, HeaderValue, StatusCode};

use crate::visit::PageVisit;

const NO_REFERRER: &str = "no-referrer";

/// What happens to the header that the response already has.
enum Setting {
    Replace,
    Add,
}

pub fn apply(
    response: &mut Response,
    wanted: &[SiteHeader<'_>],
    visit: &PageVisit<'_>,
    caching: CacheTerms,
) -> anyhow::Result<()> {
    let is_redirect = response.status().is_redirection() && response.status() != StatusCode::NOT_MODIFIED;
    for SiteHeader { name, value } in wanted {
        let value = match *name {
            // Redirects keep the service's own caching time.
            "cache-control" if is_redirect => continue,
            "cache-control" => cache_control(value, caching),
            _ => value.clone(),
        };
        let Some(setting) = setting_of(name, &value, visit) else { continue };
        let name = HeaderName::from_bytes(name.as_bytes()).context("read the name of a site's header")?;
        let value = HeaderValue::try_from(value).context("read the value of a site's header")?;
        match setting {
            Setting::Replace => drop(response.headers_mut().insert(name, value)),
            Setting::Add => drop(response.headers_mut().append(name, value)),
        }
    }
    Ok(())
}

/// `None`: the site's header is left out.
fn setting_of(name: &str, value: &str, visit: &PageVisit<'_>) -> Option<Setting> {
    let is_private = visit.site.route.visibility == Visibility::Private;
    let is_version = visit.address.label.version.is_some();
    match name {
        // The service names the canonical address of a version. Search engines ignore two different ones.
        "link" if is_version && value.to_ascii_lowercase().contains("canonical") => None,
        // Browsers apply every policy, so that another one can only be stricter. Search engines apply the
        // strictest of several rules, so that our `noindex` remains. A `Link` is one of a list.
        "content-security-policy" | "x-robots-tag" | "link" => Some(Setting::Add),
        // The address of a private page contains its signature.
        "referrer-policy" if is_private && value != NO_REFERRER => None,
        "access-control-allow-origin" if is_private => None,
        _ => Some(Setting::Replace),
    }
}
