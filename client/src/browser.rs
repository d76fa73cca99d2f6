//! The URLs of published pages, and the browser. Only an http or https URL may be passed to the system's
//! opener.

use domain::SitePath;
use reqwest::Url;

use crate::failure::Failure;

/// The URL to open after a publish. A single file that is not the front page has its own URL.
pub fn address_of(site: &str, paths: &[SitePath]) -> String {
    let [path] = paths else { return site.to_owned() };
    if *path == SitePath::index() {
        return site.to_owned();
    }
    let Ok(mut url) = site.parse::<Url>() else { return site.to_owned() };
    if let Ok(mut parts) = url.path_segments_mut() {
        parts.pop_if_empty().extend(path.as_str().split('/'));
    }
    url.into()
}

/// Opens the URL in the browser, without waiting for it.
pub fn open(address: &str) -> Result<(), Failure> {
    let is_web = address.parse::<Url>().is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    if !is_web {
        return Err(Failure::unreachable(
            "the page's URL is not an http or https URL",
            "check that --url points to a Handbill server you trust",
        ));
    }
    open::that_detached(address).map_err(|_| {
        Failure::of_this_machine("no browser could be opened on this machine")
            .hinting(format!("open {address} yourself"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_of_a_single_non_html_file_includes_its_path() {
        let site = "http://127.0.0.1:8081/site/page-a1b2/";
        let address = |paths: &[&str]| {
            let paths: Vec<SitePath> = paths.iter().map(|path| path.parse().unwrap()).collect();
            address_of(site, &paths)
        };
        assert_eq!(address(&["index.html"]), site);
        assert_eq!(address(&["a.txt", "b.txt"]), site);
        assert_eq!(address(&["my photo.jpg"]), format!("{site}my%20photo.jpg"));
        let paths = ["a.txt".parse().unwrap()];
        assert_eq!(address_of(&format!("{site}?sig=0a"), &paths), format!("{site}a.txt?sig=0a"));
    }

    #[test]
    fn only_http_urls_are_opened() {
        for bad in ["file:///etc/passwd", "javascript:alert(1)", "/usr/bin/true", "--help"] {
            assert!(open(bad).is_err(), "{bad}");
        }
    }
}
