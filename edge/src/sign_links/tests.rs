//! Signed links on private pages.

use domain::LinkGeneration;
use domain::signing_key::LinkKey;

use super::*;
use crate::find::Mount;

/// For pages of `my-page-a1b2`.
pub fn signer(mount: Mount, depth: u16) -> LinkSigner {
    let host: Host = "my-page-a1b2".parse().unwrap();
    let signature = Signature::of(&host, LinkGeneration::FIRST, &LinkKey::new("secret")).unwrap();
    let origins = Origins::new(&Url::parse("https://serve.example:8443").unwrap(), "pages.example");
    LinkSigner::new(&SignedLinks { signature, version: None, mount, depth }, &host, &origins).unwrap()
}

/// Replaces the signature by an `S`.
pub fn short(signed: String) -> String {
    signed.replace(signer(Mount::Name, 0).signature.as_str(), "S")
}

fn signed(mount: Mount, depth: u16, link: &str) -> String {
    signer(mount, depth).sign(link).map_or_else(|| link.to_owned(), short)
}

#[test]
fn links_within_the_site_carry_the_signature() {
    for (link, expected) in [
        ("next.html", "next.html?sig=S"),
        ("css/app.css", "css/app.css?sig=S"),
        ("./", "./?sig=S"),
        ("..", "..?sig=S"),
        ("../x.png", "../x.png?sig=S"),
        ("a.html#part", "a.html?sig=S#part"),
        ("a.html?b=c", "a.html?b=c&sig=S"),
        ("a.html?b=c&d#e", "a.html?b=c&d&sig=S#e"),
        ("a.html?b=c&amp;sig=0123", "a.html?b=c&amp;sig=0123&sig=S"),
        ("?page=2", "?page=2&sig=S"),
        (" a.html\n", "a.html?sig=S"),
        ("/site/my-page-a1b2/b.html", "/site/my-page-a1b2/b.html?sig=S"),
        ("../../my-page-a1b2/b.html", "../../my-page-a1b2/b.html?sig=S"),
        ("../../my-page-a1b2", "../../my-page-a1b2?sig=S"),
        ("x&#38;y.html", "x&?sig=S#38;y.html"),
    ] {
        assert_eq!(signed(Mount::Path, 1, link), expected, "{link}");
    }
}

#[test]
fn external_links_are_unchanged() {
    for link in [
        "https://example.com/",
        "https:example.com",
        "https:a",
        "HTTP:a",
        "ht\ntps:/site/my-page-a1b2/a",
        "https:/serve.example:8443/site/my-page-a1b2/",
        "https:\\\\serve.example:8443\\site\\my-page-a1b2\\",
        "//example.com/a",
        "\\\\example.com\\a",
        "/\t/example.com/a",
        "mailto:a@b.example",
        "javascript:void(0)",
        "java\nscript:void(0)",
        "data:text/plain,x",
        "blob:x",
        "#part",
        "",
        "/",
        "/site/other-c3d4/",
        "/site/my-page-a1b2x",
        "../../",
        "../../other-c3d4/x.html",
        "..\\..\\other-c3d4\\x.html",
        "%2e%2e/%2e%2e/other-c3d4/",
        "a.html?sig=0123",
        "a.html?x&sig=0123",
    ] {
        assert_eq!(signed(Mount::Path, 1, link), link, "{link}");
    }
}

#[test]
fn on_its_own_host_name_everything_below_the_root_is_in_the_site() {
    assert_eq!(signed(Mount::Name, 0, "/img/a.png"), "/img/a.png?sig=S");
    assert_eq!(signed(Mount::Name, 0, "../../a.png"), "../../a.png?sig=S");
    assert_eq!(signed(Mount::Name, 0, "//example.com/a.png"), "//example.com/a.png");
}

#[test]
fn public_urls_of_the_site_are_internal_links_for_any_request_style() {
    for mount in [Mount::Path, Mount::Name] {
        for link in [
            "https://serve.example:8443/site/my-page-a1b2/about",
            "https://my-page-a1b2.pages.example:8443/x",
            "https://MY-PAGE-a1b2.pages.example:8443",
            "//my-page-a1b2.pages.example:8443/x",
            "//serve.example:8443/site/my-page-a1b2",
        ] {
            assert_eq!(signed(mount, 1, link), format!("{link}?sig=S"));
        }
        for link in [
            "https://serve.example:8443/",
            "https://serve.example:8443/site/other-c3d4/",
            "https://serve.example:8443/site/my-page-a1b2/../other-c3d4/",
            "https://serve.example/site/my-page-a1b2/",
            "http://my-page-a1b2.pages.example:8443/",
            "https://my-page-a1b2.pages.example/",
            "https://other-c3d4.pages.example:8443/",
            "https://my-page-a1b2.pages.example.evil:8443/",
            "https://my-page-a1b2.pages.example:8443@evil.example/",
            "//evil.example/site/my-page-a1b2/",
        ] {
            assert_eq!(signed(mount, 1, link), link);
        }
    }
}

#[test]
fn each_srcset_candidate_is_signed() {
    let signer = signer(Mount::Name, 0);
    for (set, expected) in [
        ("a.png", "a.png?sig=S"),
        ("a.png 1x, b.png 2x", "a.png?sig=S 1x, b.png?sig=S 2x"),
        ("a.png, b.png", "a.png?sig=S, b.png?sig=S"),
        ("\n a.png   100w ,\n b.png 200w\n", "a.png?sig=S   100w, b.png?sig=S 200w"),
        ("data:image/png;base64,AA 1x, b.png 2x", "data:image/png;base64,AA 1x, b.png?sig=S 2x"),
        ("https://example.com/a.png 1x", "https://example.com/a.png 1x"),
    ] {
        assert_eq!(short(signer.sign_set(set).unwrap()), expected, "{set}");
    }
    assert_eq!(signer.sign_set(" , "), None);
}
