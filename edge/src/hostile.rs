//! Hostile requests, and the invariants of what they find.
//!
//! `check` asserts the invariants of finding and resolving. The fuzzer feeds it bytes, and a unit test feeds
//! it a hundred thousand seeded requests. Production builds do not include it.

use domain::link::UrlStyle;
use domain::{BlobHash, Manifest, ManifestFile};
use poem::http::{HeaderMap, HeaderValue, Uri, Version, header};
use url::Url;

use crate::find::{Address, Mount, Names, SiteMatch, name_of};
use crate::resolve::{Resolved, resolve};

/// The files of the test site, with names that are easily confused.
const FILES: [&str; 12] = [
    "index.html",
    "404.html",
    "about.html",
    "docs/index.html",
    "docs/a b.html",
    "both.html",
    "both/index.html",
    "%2e%2e/secret.html",
    "..;/x.html",
    "100%.html",
    "ünï.html",
    "a/b/c/d.txt",
];

const DOMAIN: &str = "pages.example";

/// The names and the site that hostile requests target.
pub struct HostileTarget {
    names: Names,
    manifest: Manifest,
}

impl HostileTarget {
    pub fn new() -> anyhow::Result<Self> {
        let serve_url = Url::parse("http://127.0.0.1:8081")?;
        let files: anyhow::Result<Vec<_>> = FILES.iter().map(|path| file(path)).collect();
        Ok(Self { names: Names::new(DOMAIN, &serve_url, UrlStyle::Path), manifest: Manifest::new(files?) })
    }

    /// Parses a request as the handler does and panics if an invariant is broken. The first line of the input
    /// is the `Host`, the rest is the target. Returns whether anything was found.
    pub fn check(&self, input: &[u8]) -> bool {
        let line_ends_at = input.iter().position(|byte| *byte == b'\n').unwrap_or(0);
        let (host, target) = input.split_at(line_ends_at);
        let target = target.strip_prefix(b"\n").unwrap_or(target);
        if let Ok(path) = std::str::from_utf8(target) {
            // Checks paths that cannot occur in a request line, too.
            self.check_path(path);
        }
        let Ok(uri) = Uri::try_from(target) else { return false };
        let Ok(host) = HeaderValue::from_bytes(host) else { return false };
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host);
        let Ok(name) = name_of(&uri, &headers, Version::HTTP_11) else { return false };
        match self.names.find(&uri, name) {
            Ok(SiteMatch::Site(address)) => {
                check_host(&address, name, &uri);
                self.check_address(&address)
            }
            Ok(SiteMatch::Alive | SiteMatch::Ready | SiteMatch::Icon) => {
                assert!(matches!(uri.path(), "/healthz" | "/readyz" | "/favicon.ico"));
                true
            }
            Err(_) => false,
        }
    }

    fn check_address(&self, address: &Address<'_>) -> bool {
        let is_found = self.check_path(address.path);
        if resolve(&self.manifest, address.path) == Resolved::Folder {
            self.check_redirect(address);
        }
        is_found
    }

    /// A redirect stays within the site and does not lead to another redirect.
    fn check_redirect(&self, address: &Address<'_>) {
        let (location, root) = (address.with_slash(), address.mount.root(&address.label));
        assert!(location.ends_with('/') && !location.starts_with("//"), "{location}");
        let Some(below) = location.strip_prefix(root.trim_end_matches('/')) else {
            panic_out_of_site(&location, &root)
        };
        assert!(resolve(&self.manifest, below) != Resolved::Folder, "{location} leads in a circle");
    }

    /// A file is found only by its own name, decoded exactly once.
    fn check_path(&self, path: &str) -> bool {
        let found = resolve(&self.manifest, path);
        if let Resolved::OwnNotFound(file) = &found {
            assert_eq!(file.path.as_str(), "404.html");
        }
        let Resolved::File(file) = found else { return false };
        assert!(path.starts_with('/'), "{path:?}");
        let decoded = decoded_once(&path[1..]);
        let spellings =
            ["", ".html", "index.html"].map(|rest| [decoded.as_slice(), rest.as_bytes()].concat());
        let own_name = file.path.as_str().as_bytes();
        assert!(spellings.iter().any(|spelling| spelling == own_name), "{path:?} found {}", file.path);
        assert!(FILES.contains(&file.path.as_str()));
        true
    }
}

/// The host is exactly the one that the request names.
fn check_host(address: &Address<'_>, name: &str, uri: &Uri) {
    let host = address.label.to_string();
    match address.mount {
        Mount::Name => {
            assert_eq!(name.to_ascii_lowercase(), format!("{host}.{DOMAIN}"));
            assert_eq!(address.path, uri.path());
        }
        Mount::Path => {
            let below = uri.path().strip_prefix("/site/").unwrap_or_default();
            let label = below.split('/').next().unwrap_or_default();
            assert_eq!(decoded_once(label), host.as_bytes());
            assert_eq!(address.path, &below[label.len()..]);
        }
    }
}

/// Implemented independently of the resolver's library, as a cross-check.
fn decoded_once(text: &str) -> Vec<u8> {
    let (mut decoded, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let pair = after.get(..2).and_then(|pair| Some((hex_value(pair[0])?, hex_value(pair[1])?)));
        match pair {
            Some((high, low)) if *first == b'%' => {
                decoded.push(high * 16 + low);
                rest = &after[2..];
            }
            _ => {
                decoded.push(*first);
                rest = after;
            }
        }
    }
    decoded
}

fn hex_value(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

fn file(path: &str) -> anyhow::Result<ManifestFile> {
    Ok(ManifestFile {
        path: path.parse()?,
        hash: BlobHash::of(path.as_bytes()),
        size_bytes: 1,
        content_type: String::new(),
        variants: vec![],
        bundled: None,
    })
}

/// A broken invariant must stop the fuzzer.
#[allow(clippy::panic)]
fn panic_out_of_site(location: &str, root: &str) -> ! {
    panic!("{location} leads out of {root}")
}

#[cfg(test)]
mod tests {
    use domain::Chance;

    use super::*;

    const REQUESTS: usize = 100_000;
    const PIECES_MAX: u64 = 10;

    /// The parts of hostile addresses. Some are harmless, so that files are found too.
    const PIECES: [&str; 49] = [
        "/",
        "/",
        "/",
        "//",
        "\\",
        "%2f",
        "%2F",
        "%5c",
        "%252f",
        ".",
        "..",
        "../",
        "/..",
        "..;",
        "..;/",
        "%2e",
        "%2E%2e",
        "%252e%252e",
        "%c0%ae",
        "%e0%80%ae",
        "%00",
        "\0",
        "%",
        "%%",
        "%2",
        "%ff",
        ";",
        "?",
        "#",
        "@",
        ":",
        ":8081",
        "site",
        "/site/",
        "my-page-a1b2",
        "other-page-c3d4",
        "index",
        "index.html",
        ".html",
        "404",
        "about",
        "docs",
        "docs/",
        "both",
        "100%25",
        "%C3%BCn%C3%AF",
        "a/b/c/d.txt",
        "etc/passwd",
        "*",
    ];

    const HOSTS: [&str; 12] = [
        "127.0.0.1:8081",
        "pages.example",
        "my-page-a1b2.pages.example",
        "MY-PAGE-A1B2.Pages.Example:80",
        "other-page-c3d4.pages.example.",
        "my-page-a1b2.pages.example.evil.example",
        "evil@my-page-a1b2.pages.example",
        "..pages.example",
        "",
        "[::1]:8081",
        ":",
        "my-page-a1b2%2epages.example",
    ];

    const STARTS: [&str; 9] = [
        "*",
        "/",
        "/",
        "/site/my-page-a1b2/",
        "/site/my-page-a1b2",
        "/site/other-page-c3d4/",
        "",
        "http://my-page-a1b2.pages.example/",
        "//pages.example/",
    ];

    /// Draws choices from one seeded random stream.
    struct Draws {
        chance: Chance,
        bytes: Vec<u8>,
    }

    impl Draws {
        fn one_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
            choices[self.below(choices.len() as u64) as usize]
        }

        fn below(&mut self, bound: u64) -> u64 {
            if self.bytes.len() < 2 {
                self.bytes.extend_from_slice(&self.chance.bytes::<4096>());
            }
            let pair = self.bytes.split_off(self.bytes.len() - 2);
            u64::from(u16::from_le_bytes([pair[0], pair[1]])) % bound
        }

        fn request(&mut self) -> Vec<u8> {
            let mut request = format!("{}\n{}", self.one_of(&HOSTS), self.one_of(&STARTS)).into_bytes();
            for _ in 0..self.below(PIECES_MAX) {
                request.extend_from_slice(self.one_of(&PIECES).as_bytes());
            }
            if self.below(16) == 0 {
                let at = self.below(request.len() as u64) as usize;
                request[at] = self.below(256) as u8;
            }
            request
        }
    }

    #[test]
    fn hundred_thousand_hostile_requests_resolve_to_the_named_file_or_nothing() {
        let prey = HostileTarget::new().unwrap();
        let mut draws = Draws { chance: Chance::seeded(4_12), bytes: vec![] };
        let found = (0..REQUESTS).filter(|_| prey.check(&draws.request())).count();
        // A generator that never finds a file would prove nothing.
        assert!(found > REQUESTS / 200, "{found} of {REQUESTS}");
    }

    #[test]
    fn reference_decoder_decodes_once() {
        assert_eq!(decoded_once("%2e%252e%zz%4"), b".%2e%zz%4");
    }
}
