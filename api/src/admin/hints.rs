//! Removes resource hints from a previewed page: links such as `preconnect` and `dns-prefetch` make browsers
//! open connections, and no content security policy prevents that.

use anyhow::Context;
use lol_html::html_content::Element;
use lol_html::{HandlerResult, Settings, element, rewrite_str};

use crate::http::refusal::RefusedCall;

/// The links that a preview keeps. A `rel` with escaped characters is not recognized and is removed.
const LINKS_KEPT: [&str; 2] = ["stylesheet", "alternate"];
/// With this setting a page could turn prefetching on again after the headers turn it off.
const PREFETCH_SETTING: &str = "x-dns-prefetch-control";

/// The page without links other than stylesheets.
pub fn without_hints(html: &str) -> Result<String, RefusedCall> {
    // In strict mode the rewriter rejects pages that browsers accept.
    let settings = Settings::new().with_strict(false).append_element_content_handler(element!("*", tame));
    let tamed = rewrite_str(html, settings).context("remove resource hints from a previewed page");
    tamed.map_err(|error| service::Failure::from(error).into())
}

fn tame(element: &mut Element<'_, '_>) -> HandlerResult {
    let name = element.tag_name();
    match name.rsplit(':').next().unwrap_or_default() {
        "link" => {
            let rel = element.get_attribute("rel").unwrap_or_default().to_ascii_lowercase();
            let kept: Vec<_> =
                rel.split_ascii_whitespace().filter(|word| LINKS_KEPT.contains(word)).collect();
            element.set_attribute("rel", &kept.join(" "))?;
        }
        "meta" => {
            let names = element.get_attribute("http-equiv").unwrap_or_default();
            // A name with escaped characters could be this setting.
            if names.trim().eq_ignore_ascii_case(PREFETCH_SETTING) || names.contains('&') {
                element.remove_attribute("http-equiv");
            }
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_hints_are_removed_from_previewed_pages() {
        for rel in [
            "preconnect",
            "DNS-Prefetch",
            "prefetch",
            "preload",
            "modulepreload",
            "prerender",
            " preconnect icon",
            "pre&#99;onnect",
        ] {
            let tamed = without_hints(&format!("<p>a<LINK Rel=\"{rel}\" href=//x.example>b")).unwrap();
            assert_eq!(tamed.to_lowercase(), "<p>a<link rel=\"\" href=//x.example>b", "{rel}");
        }
        let both = without_hints("<link rel='preconnect stylesheet' href=a.css>").unwrap();
        assert!(both.contains("rel=\"stylesheet\"") && both.contains("href=a.css"), "{both}");
        for switch in ["x-dns-prefetch-control", "X-DNS-Prefetch-Control ", "x-dns&#45;prefetch-control"] {
            let tamed = without_hints(&format!("<meta http-equiv=\"{switch}\" content=on>")).unwrap();
            assert!(!tamed.contains("http-equiv"), "{tamed}");
        }
    }

    #[test]
    fn markup_without_resource_hints_is_unchanged() {
        for page in [
            "",
            "<p>ü & <b>x</i>",
            "<meta http-equiv=refresh content=1>",
            "<script>'<link rel=preload>'</script>",
        ] {
            assert_eq!(without_hints(page).unwrap(), page);
        }
    }
}
