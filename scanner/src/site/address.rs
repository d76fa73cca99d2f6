//! Resolves addresses on a page to paths in its site.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// Longer addresses do not name a file of the site.
const ADDRESS_BYTES_MAX: usize = 2_048;

/// The path for an address on a page of the site, or `None` if it leads elsewhere.
pub(super) fn resolve(page: &str, address: &str) -> Option<String> {
    // Browsers ignore line ends in addresses, and accept backslashes as slashes.
    let address: String = address.trim().chars().filter(|one| !matches!(one, '\n' | '\r' | '\t')).collect();
    let address = address.replace('\\', "/");
    let address = address.as_str();
    if address.is_empty() || address.len() > ADDRESS_BYTES_MAX || leads_elsewhere(address) {
        return None;
    }
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let path: Cow<'_, str> = percent_decode_str(path).decode_utf8_lossy();
    let mut parts: Vec<&str> = match path.starts_with('/') {
        true => Vec::new(),
        false => page.rsplit_once('/').map_or(Vec::new(), |(folder, _)| folder.split('/').collect()),
    };
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    let folder = if path.ends_with('/') || path.ends_with("/.") { "/" } else { "" };
    Some(parts.join("/") + folder)
}

/// The files that the edge would try for a path.
pub(super) fn candidates(path: &str) -> [String; 3] {
    let folder = path.trim_end_matches('/');
    let index = if folder.is_empty() { "index.html".to_owned() } else { format!("{folder}/index.html") };
    [path.to_owned(), format!("{folder}.html"), index]
}

/// An address with a scheme or a host is not a path.
fn leads_elsewhere(address: &str) -> bool {
    let scheme = address.split(['/', '?', '#']).next().is_some_and(|first| first.contains(':'));
    scheme || address.starts_with("//")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_resolved_as_a_browser_would() {
        let cases = [
            ("index.html", "login.html", Some("login.html")),
            ("index.html", "./a/../b/form.txt?x=1#top", Some("b/form.txt")),
            ("pages/deep/a.html", "../part.html", Some("pages/part.html")),
            ("pages/a.html", "/js/app.js", Some("js/app.js")),
            ("a.html", "../../up.html", Some("up.html")),
            ("a.html", "my%20form.html", Some("my form.html")),
            ("a.html", "part/", Some("part/")),
            ("a.html", "", None),
            ("a.html", "https://example.com/x.js", None),
            ("a.html", "//example.com/x.js", None),
            ("a.html", "data:text/html,x", None),
        ];
        for (page, address, expected) in cases {
            assert_eq!(resolve(page, address).as_deref(), expected, "{address}");
        }
    }

    #[test]
    fn directory_resolves_to_its_index() {
        assert_eq!(candidates("part/")[2], "part/index.html");
        assert_eq!(candidates("about")[1], "about.html");
        assert_eq!(candidates("")[2], "index.html");
    }
}
