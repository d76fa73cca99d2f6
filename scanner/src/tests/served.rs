//! The content type decides how a file is read. Bytes that look like an image or another encoding do not
//! change the verdict.

use super::Status::{Blocked, Pass, Review};
use super::*;

const FORM: &str = "<form><label>Enter your seed phrase<textarea name=seed></textarea></label></form>";
const SCRIPT: &str = "document.body.innerHTML='<label>Enter your seed phrase<textarea></textarea></label>'";
const XHTML: &str = "<html xmlns='http://www.w3.org/1999/xhtml'><body><form><p>Enter your seed phrase\
                     <textarea name='seed'></textarea></p></form></body></html>";

/// Magic numbers of images, fonts, audio, video, archives and programs.
const MAGICS: [&[u8]; 31] = [
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"RIFF",
    b"BM",
    b"BM\0",
    b"\0\0\x01\0",
    b"\0\0\x02\0",
    b"II*\0",
    b"MM\0*",
    b"%PDF-",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ",
    b"7z\xbc\xaf",
    b"Rar!",
    b"\x28\xb5\x2f\xfd",
    b"wOFF",
    b"wOF2",
    b"OTTO",
    b"\0\x01\0\0\0",
    b"\0asm",
    b"ID3",
    b"OggS",
    b"fLaC",
    b"\x1a\x45\xdf\xa3",
    b"\x7fELF",
    b"\0\0\0\x20ftyp",
];

/// Content by content type, and how to put a magic number before it so that browsers still read it.
fn contents() -> Vec<(&'static str, &'static str, [&'static str; 2])> {
    let mut contents = Vec::new();
    for html in ["index.html", "a.htm", "a.shtml", "a.hxt"] {
        contents.extend([(html, FORM, ["", ""]), (html, FORM, ["<!--", "-->"])]);
    }
    for script in ["a.js", "a.mjs", "a.jsx"] {
        contents.extend([(script, SCRIPT, ["", "=1;"]), (script, SCRIPT, ["/*", "*/"])]);
    }
    for xml in ["a.xhtml", "a.xht", "a.svg", "a.xml", "a.xsl", "a.rss", "a.atom", "a.rdf", "a.mathml"] {
        contents.push((xml, XHTML, ["<!--", "-->"]));
    }
    contents
}

/// The verdict on a file that is served under a name. If it is a script, a page runs it.
fn verdict_under(path: &str, bytes: &[u8]) -> Verdict {
    let page = format!("<p>Hello</p><script src={path}></script>");
    match path.contains(".js") || path.contains(".mjs") {
        true => verdict_of(&[("index.html", page.as_bytes()), (path, bytes)]),
        false => verdict_of(&[(path, bytes)]),
    }
}

#[test]
fn magic_numbers_do_not_change_verdicts_on_files_served_as_text() {
    for (path, content, [before, after]) in contents() {
        assert_eq!(verdict_under(path, content.as_bytes()).status, Blocked, "{path}");
        for magic in MAGICS {
            let bytes = [before.as_bytes(), magic, after.as_bytes(), content.as_bytes()].concat();
            let verdict = verdict_under(path, &bytes);
            assert_eq!(verdict.status, Blocked, "{path}: {}", magic.escape_ascii());
        }
    }
}

#[test]
fn files_fetched_by_scripts_are_always_scanned_as_text() {
    let form = [b"\x89PNG\r\n\x1a\n\0\0", FORM.as_bytes()].concat();
    let words = [b"PK\x03\x04\n", "Enter your seed phrase".as_bytes()].concat();
    for path in ["p.png", "p.bin", "p.woff2", "p.mp4", "p.txt", "p.json", "p.css", "p"] {
        let page = format!(
            "<p id=p></p><script>fetch('{path}').then(r => r.text()).then(t => p.innerHTML = t)</script>"
        );
        let files = [("index.html", page.as_bytes()), (path, form.as_slice())];
        assert_eq!(verdict_of(&files).status, Blocked, "{path}");
        assert_ne!(verdict_of(&files[1..]).status, Blocked, "{path}");
    }
    let page = "<label id=label></label><textarea></textarea>\
                <script>fetch('l.bin').then(r => r.text()).then(t => { label.textContent = t })</script>";
    assert_eq!(verdict_of(&[("index.html", page.as_bytes()), ("l.bin", &words)]).status, Blocked);
    let picture = [("index.html", "<img src=p.png>".as_bytes()), ("p.png", form.as_slice())];
    assert_eq!(verdict_of(&picture).status, Pass);
}

#[test]
fn nul_bytes_in_text_are_reviewed_and_hide_nothing() {
    let padding = "a\0".repeat(2_100);
    for (path, content) in [
        ("index.html", format!("<!--{padding}-->{FORM}")),
        ("a.js", format!("/*{padding}*/{SCRIPT}")),
        ("a.svg", format!("<!--{padding}-->{XHTML}")),
    ] {
        assert_eq!(verdict_under(path, content.as_bytes()).status, Blocked, "{path}");
    }
    for path in ["index.html", "a.js", "a.css", "a.json", "a.txt", "a.svg"] {
        let verdict = verdict_of(&[(path, "Hello\0")]);
        assert_eq!((verdict.status, verdict.findings[0].rule), (Review, Rule::NulBytes), "{path}");
    }
    assert_eq!(verdict_of(&[("a.png", "\u{89}PNG\0")]).status, Pass);
}

#[test]
fn data_url_is_decoded_in_every_charset_that_browsers_may_use() {
    let padding = "a%00".repeat(2_100);
    let page =
        format!("<iframe src='data:text/html,<!--{padding}-->{}'></iframe>", FORM.replace('\'', "%27"));
    assert_eq!(verdict(&page).status, Blocked);
}

#[test]
fn provisional_pages_that_only_redirect_or_hide_their_content_are_reviewed() {
    let cases = [
        ("<meta http-equiv=Refresh content='0; url=https://evil.example/'>", Rule::RedirectsAway),
        ("<p>One moment…</p><script>location.replace('//evil.example')</script>", Rule::RedirectsAway),
        ("<body onload=\"location.href='https://evil.example'\">", Rule::RedirectsAway),
        (
            "<p>Loading</p><script>document.body.innerHTML = atob(location.hash.slice(1))</script>",
            Rule::HiddenContent,
        ),
        ("<div id=a></div><script>a.innerHTML = unpack(window.name)</script>", Rule::HiddenContent),
        (
            "<script>crypto.subtle.decrypt(a, k, d).then(t => document.write(new TextDecoder().decode(t)))</script>",
            Rule::HiddenContent,
        ),
    ];
    let strict = Terms { is_provisional: true, ..Terms::default() };
    for (page, rule) in cases {
        let file = [ScannedFile { path: "index.html", bytes: page.as_bytes(), content_type: "text/html" }];
        let found = scan(&file, &strict).unwrap();
        assert_eq!((found.status, found.findings[0].rule), (Review, rule), "{page}");
        assert_eq!(verdict(page).status, Pass, "{page}");
    }
    for page in [
        "<meta http-equiv=refresh content='0; url=/start.html'>",
        "<meta http-equiv=refresh content=30><p>Live scores</p>",
        "<script>location.href = navigator.language + '.html'</script>",
        "<h1>Counter</h1><script>const at = Number(location.hash.slice(1)); n.textContent = at</script>",
    ] {
        let file = [ScannedFile { path: "index.html", bytes: page.as_bytes(), content_type: "text/html" }];
        assert_eq!(scan(&file, &strict).unwrap().status, Pass, "{page}");
    }
}

#[test]
fn redirects_of_a_provisional_site_to_other_sites_are_reviewed() {
    let page = ScannedFile { path: "index.html", bytes: b"<h1>Hello</h1>", content_type: "text/html" };
    let strict = Terms { is_provisional: true, ..Terms::default() };
    for (rules, status) in [
        ("/* https://evil.example/:splat 302", Review),
        ("# moved\r\n/a\t//evil.example\r\n", Review),
        ("/a HTTP://evil.example/ 301 # comment", Review),
        ("/a /b # https://evil.example\n# /c https://evil.example\n/* /index.html 200", Pass),
    ] {
        let content_type = "application/octet-stream";
        let rules = ScannedFile { path: "_redirects", bytes: rules.as_bytes(), content_type };
        assert_eq!(scan(&[page, rules], &strict).unwrap().status, status, "{rules:?}");
        assert_eq!(scan(&[page, rules], &Terms::default()).unwrap().status, Pass);
    }
}
