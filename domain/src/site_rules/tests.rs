//! Whole files of rules.

use super::*;
use crate::{BlobHash, SitePath, content_type_of};

fn parse(redirects: &str, headers: &str) -> (SiteRules, Vec<String>) {
    let (rules, faults) = SiteRules::parse(redirects.as_bytes(), headers.as_bytes());
    let shown = |fault: RuleFault| {
        assert!(!fault.message.is_empty() && !fault.hint.is_empty(), "{fault:?}");
        format!("{}:{}", fault.file, fault.line)
    };
    (rules, faults.into_iter().map(shown).collect())
}

/// What the rules do with a path that no file has.
fn action(redirects: &str, path: &str) -> String {
    action_at(redirects, path, FileAtPath::Absent)
}

fn action_at(redirects: &str, path: &str, file: FileAtPath) -> String {
    let (rules, _) = parse(redirects, "");
    match rules.redirects.find(&RequestPath::new(path), file, None) {
        None => "nothing".to_owned(),
        Some(RedirectMatch::Rewrite { path }) => format!("200 {path}"),
        Some(RedirectMatch::NotFound { path }) => format!("404 {path}"),
        Some(RedirectMatch::Redirect { status, to: Destination::Within { path, rest } }) => {
            format!("{status} /{path}{rest}")
        }
        Some(RedirectMatch::Redirect { status, to: Destination::Elsewhere(address) }) => {
            format!("{status} {address}")
        }
    }
}

/// `name: value` of each header for a path.
fn headers(file: &str, path: &str) -> Vec<String> {
    let (rules, _) = parse("", file);
    let headers = rules.headers.for_path(&RequestPath::new(path));
    headers.iter().map(|header| format!("{}: {}", header.name, header.value)).collect()
}

fn manifest(names: &[&str]) -> Manifest {
    let file = |name: &&str| {
        let path: SitePath = name.parse().unwrap();
        let content_type = content_type_of(&path);
        let hash = BlobHash::of(b"x");
        ManifestFile { path, hash, size_bytes: 1, content_type, variants: vec![], bundled: None }
    };
    Manifest::new(names.iter().map(file).collect())
}

#[test]
fn first_redirect_that_matches_decides() {
    let file = "\u{feff}# Moved pages\r\n\r\n/home / \r\n  /a/*\t/b/:splat 302 # comment\r\n\
                /news/:year/:slug /blog/:slug?y=:year 308\n/x https://a.example/ 307\n/y /z#top 303\n\
                /gone/* /gone.html 404\n/* /index.html 200";
    assert_eq!(parse(file, "").1, Vec::<String>::new());
    for (path, expected) in [
        ("/home", "301 /"),
        ("/a/1/2", "302 /b/1/2"),
        ("/news/2026/hello", "308 /blog/hello?y=2026"),
        ("/x", "307 https://a.example/"),
        ("/y", "303 /z#top"),
        ("/gone/x", "404 /gone.html"),
        ("/other", "200 /index.html"),
        ("/", "200 /index.html"),
        ("", "nothing"),
    ] {
        assert_eq!(action(file, path), expected, "{path}");
    }
}

#[test]
fn a_file_takes_precedence_unless_the_rule_is_forced() {
    let file = "/a /b\n/a /c 302!\n/d /e 200!\n/f /g";
    for (path, file_at_path, expected) in [
        ("/a", FileAtPath::Absent, "301 /b"),
        ("/a", FileAtPath::Present, "302 /c"),
        ("/d", FileAtPath::Present, "200 /e"),
        ("/f", FileAtPath::Present, "nothing"),
    ] {
        assert_eq!(action_at(file, path, file_at_path), expected, "{path} {file_at_path:?}");
    }
}

#[test]
fn a_redirect_to_the_requested_path_does_not_apply() {
    assert_eq!(action("/a /a\n/* /b", "/a"), "301 /b");
    assert_eq!(action_at("/* /index.html 301!", "/index.html", FileAtPath::Present), "nothing");
    assert_eq!(action("/* /:splat 302", "/x"), "nothing");
    assert_eq!(action("/* https://a.example/:splat 302", "/x"), "302 https://a.example/x");
}

#[test]
fn each_faulty_redirect_is_reported_with_its_line() {
    for line in [
        "/only",
        "/only # comment",
        "no-slash /x",
        "https://old.example/* /x",
        "/a?b=c /x",
        "/a#b /x",
        "/a/*/b /x",
        "/:a/:a /x",
        "/a x",
        "/a javascript:alert(1)",
        "/a mailto:a@b.example",
        "/a /../x",
        "/a https://:host/",
        "/a /b/:splat",
        "/a /b 200 extra",
        "/a /b 410",
        "/a /b 451",
        "/a /b 500",
        "/a /b 0",
        "/a /b 301!!",
        "/a /b !",
        "/a /b permanent",
        "/a https://x.example/ 200",
        "/a //x.example/ 200",
        "/a https://x.example/ 404!",
        "/store id=:id /blog/:id 301",
        "/a /b 301 Country=us",
        "/a /b 301 Language=en",
        "/a /b 302 Role=admin",
        "/a /b\u{7}",
    ] {
        let (rules, faults) = parse(&format!("/first /x\n{line}\n/last /y"), "");
        assert_eq!(faults, ["_redirects:2"], "{line:?}");
        assert_eq!(rules.redirects.rules().len(), 2, "{line:?}");
    }
    let (_, faults) = SiteRules::parse(b"/a /b\n/\xff /c\n", b"");
    assert_eq!(faults[0].line, 2);
    assert_eq!(parse("/a /b\n/a /c\n/a /d 301!\n/a /e 301!", "").1, ["_redirects:2", "_redirects:4"]);
    assert_eq!(parse(&format!("/{} /b", "a".repeat(2_000)), "").1, ["_redirects:1"]);
}

#[test]
fn rules_and_bytes_are_limited() {
    let rule = |number: u32| format!("/from-{number} /to-{number}\n");
    let hundred: String = (0..100).map(rule).collect();
    assert_eq!(parse(&hundred, "").1, Vec::<String>::new());
    let (rules, faults) = parse(&format!("{hundred}# more\n/a /b\n/c /d"), "");
    assert_eq!((rules.redirects.rules().len(), faults), (100, vec!["_redirects:102".to_owned()]));
    let block = |number: u32| format!("/path-{number}\n  X-A: 1\n");
    let hundred: String = (0..100).map(block).collect();
    assert_eq!(parse("", &hundred).1, Vec::<String>::new());
    assert_eq!(parse("", &format!("{hundred}/*\n  X-A: 1\n")).1, ["_headers:201"]);
    let long = format!("/a /b\n{}/c /d\n", "# comment\n".repeat(6_600));
    let (rules, faults) = parse(&long, "");
    assert_eq!((rules.redirects.rules().len(), faults), (1, vec!["_redirects:6555".to_owned()]));
    let names: String = (0..33).map(|number| format!("  X-A{number}: 1\n")).collect();
    assert_eq!(parse("", &format!("/*\n{names}")).1, ["_headers:34"]);
    let many = format!("/*\n{}", "  X-A: 1\n".repeat(1_001));
    assert_eq!(parse("", &many).1, ["_headers:1002"]);
    let large = format!("/*\n{}", format!("  X-A: {}\n", "a".repeat(1_900)).repeat(3));
    let sent: usize = headers(&large, "/").iter().map(String::len).sum();
    assert!((2_000..4_100).contains(&sent), "{sent}");
    let repeated = format!("/*\n  X-A: {}\n", ":splat".repeat(300));
    assert_eq!(headers(&repeated, &format!("/{}", "a".repeat(1_000))), Vec::<String>::new());
}

#[test]
fn header_rules_that_match_apply_together() {
    let file = "# all\n/*\n  X-Frame-Options: DENY\n  X-A: 1\n  X-A: 2\n\n/docs/*\nX-A:3\n! X-Frame-Options\n\
                /docs/:page\n  Link: </:page>; rel=\"canonical\"\n  ! Not-Allowed\n/*.js\n  X-B: :splat :other";
    assert_eq!(parse("", file).1, ["_headers:12"]);
    assert_eq!(headers(file, "/"), ["x-frame-options: DENY", "x-a: 1, 2"]);
    assert_eq!(headers(file, "/docs/a%20b,c"), ["x-a: 1, 2, 3", "link: </a%20b%2Cc>; rel=\"canonical\""]);
    assert_eq!(headers(file, "/x/y.js"), ["x-frame-options: DENY", "x-a: 1, 2", "x-b: x/y :other"]);
    let again = "/*\n  X-A: 1\n/b\n  ! X-A\n  X-A: 2\n";
    assert_eq!(headers(again, "/b"), ["x-a: 2"]);
}

#[test]
fn each_faulty_header_is_reported_with_its_line() {
    for line in [
        "Set-Cookie: a=b",
        "Location: /x",
        "Content-Encoding: gzip",
        "Transfer-Encoding: chunked",
        "Service-Worker-Allowed: /",
        "Content-Type: text/html",
        "Content-Length: 1",
        "Clear-Site-Data: \"*\"",
        "Strict-Transport-Security: max-age=1",
        "Basic-Auth: joe:secret",
        "Access-Control-Allow-Credentials: true",
        "X-Content-Type-Options: none",
        "X-Accel-Redirect: /x",
        "X-Sendfile: /etc/passwd",
        "X-Forwarded-For: 1.2.3.4",
        "X-PAYMENT-RESPONSE: x",
        "X-Handbill-A: b",
        "X-: a",
        "Cross-Origin-: a",
        "X-A:",
        "X A: b",
        ": a",
        "X-Ä: a",
        "X-A: ä",
        "X-A: a\u{1}b",
        "no header",
        "! Set-Cookie",
        "!X-A",
        "Cache-Control: max-age=1, whatever",
        "Cache-Control: forever",
        "Content-Security-Policy: report-uri https://a.example",
        "Content-Security-Policy: default-src 'none'; Report-To a",
        "Content-Security-Policy: ;",
    ] {
        let (_, faults) = parse("", &format!("/*\n  X-First: 1\n  {line}\n  X-Last: 1"));
        assert_eq!(faults, ["_headers:3"], "{line:?}");
    }
    for (file, expected) in [
        ("X-A: 1\n/*\n  X-A: 1", vec!["_headers:1"]),
        ("/a\n/b\n  X-A: 1\n/c", vec!["_headers:1", "_headers:4"]),
        ("https://a.example/*\n  X-A: 1\n/*\n  X-A: 2", vec!["_headers:1"]),
        ("/a*b*\n  X-A: 1\n", vec!["_headers:1"]),
        ("/a\n  Set-Cookie: b", vec!["_headers:2"]),
    ] {
        assert_eq!(parse("", file).1, expected, "{file:?}");
    }
    let (_, faults) = SiteRules::parse(b"", b"/*\n  Basic-Auth: joe:secret");
    assert!(!faults[0].message.contains("secret"), "{faults:?}");
}

#[test]
fn a_policy_of_the_site_sends_no_reports() {
    let value = |policy: &str| headers(&format!("/*\n  Content-Security-Policy: {policy}"), "/").join("");
    for (policy, expected) in [
        ("default-src 'none'; sandbox", "default-src 'none'; sandbox"),
        ("img-src 'self' ;report-uri /x;; style-src 'self'", "img-src 'self'; style-src 'self'"),
        ("REPORT-URI https://a.example , script-src 'none'", "script-src 'none'"),
        (
            "frame-ancestors 'none', report-to a; object-src 'none'",
            "frame-ancestors 'none', object-src 'none'",
        ),
    ] {
        assert_eq!(value(policy), format!("content-security-policy: {expected}"));
    }
}

#[test]
fn rules_are_compared_with_the_files() {
    let site = manifest(&["index.html", "docs/index.html", "a b.html", "app.3f2a9c1b.js", "_redirects"]);
    let file = "/1 /docs\n/2 /a%20b\n/3 /none\n/4 /2\n/5 /none 200\n/6 /_redirects 200\n/7/* /none/:splat\n\
                /8 https://a.example/none\n/9 /9\n/10 /2 200\n/11 /none#x 404";
    let (rules, faults) =
        parse(file, "/*.js\n  Cache-Control: max-age=600\n/*.css\n  X-A: 1\n  Cache-Control: max-age=600");
    assert_eq!(faults, Vec::<String>::new());
    let found = rules.faults_in(&site);
    let shown: Vec<_> = found.iter().map(|fault| format!("{}:{}", fault.file, fault.line)).collect();
    let expected = [3, 5, 6, 9, 10, 11].map(|line| format!("_redirects:{line}"));
    assert_eq!(shown, [&expected[..], &["_headers:5".to_owned()]].concat());
    assert_eq!(found[0].message, "the site has no /none");
}

#[test]
fn files_with_rules_are_not_part_of_the_site() {
    let site = manifest(&["_headers", "_redirects", "a/_headers", "index.html"]);
    for path in ["/_headers", "/_redirects", "/%5Fheaders", "/_redirects/"] {
        assert_eq!(site.at_encoded(path), None, "{path}");
    }
    assert!(site.at_encoded("/a/_headers").is_some());
    let files = site.rule_files().unwrap();
    assert!(files.redirects.is_some() && files.headers.is_some());
    assert!(manifest(&["index.html", "a/_redirects"]).rule_files().is_none());
}

#[test]
fn headers_apply_to_every_spelling_of_a_file_s_path() {
    for (file, path) in [
        ("/docs/*\n  X-A: 1", "/docs%2Findex.html"),
        ("/docs/*\n  X-A: 1", "/do%63s%2findex.html"),
        ("/@a/*\n  X-A: 1", "/%40a/x"),
        ("/a!\n  X-A: 1", "/a%21"),
    ] {
        assert_eq!(headers(file, path), ["x-a: 1"], "{path}");
    }
    assert_eq!(
        headers("/docs/*\n  X-A: 1", "/docs%252Findex.html"),
        Vec::<String>::new(),
        "it is another file"
    );
}
