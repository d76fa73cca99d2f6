//! Files that form a page together, and the verdict on them.

use super::Status::{Blocked, Pass, Review};
use super::*;

#[test]
fn page_is_detected_by_content_and_not_by_name() {
    let html = b"\xef\xbb\xbf<form><input name=seed_phrase></form>";
    for path in ["a.txt", "img/logo.png", "deep/down/page", "x.svg", "app.js", "Größe.html"] {
        assert_eq!(verdict_of(&[(path, html)]).status, Blocked, "{path}");
    }
    let code = b"render('<form><input name=seed_phrase></form>')";
    for path in ["app.js", "data.json", "style.css"] {
        assert_eq!(verdict_of(&[(path, code)]).status, Pass, "{path}");
    }
    // By itself it is shown as plain text.
    assert_eq!(verdict_of(&[("notes.txt", code)]).status, Pass);
}

#[test]
fn non_utf8_bytes_are_still_scanned() {
    let html = b"<p>\xff\xfe caf\xe9</p><label>Seed phrase \xe9<input></label>\x00\xc3";
    assert_eq!(verdict_of(&[("index.html", html)]).status, Blocked);
}

#[test]
fn the_worst_file_decides_and_the_evidence_names_it() {
    let login = "<h1>My Bank</h1><form><input type=password name=pin></form>";
    let verdict = verdict_of(&[
        ("index.html", login),
        ("about.html", "<p>Hello</p>"),
        ("w/restore.html", "<form><textarea id=p name='seed phrase'></textarea></form>"),
    ]);
    assert_eq!(verdict.status, Blocked);
    assert_eq!(
        serde_json::to_value(&verdict).unwrap(),
        serde_json::json!({
            "status": "blocked",
            "findings": [
                {
                    "rule": "seed_phrase",
                    "file": "w/restore.html",
                    "field": "textarea#p[name=seed phrase]",
                    "words": ["seed phrase"],
                },
                {
                    "rule": "password_near_lure",
                    "file": "index.html",
                    "field": "input[name=pin][type=password]",
                    "words": ["bank"],
                },
            ],
        })
    );
}

#[test]
fn pages_are_scanned_independently_of_each_other() {
    let verdict = verdict_of(&[
        ("login.html", "<input type=password>"),
        ("pay.html", "<p>We take PayPal</p><input name=amount>"),
    ]);
    assert_eq!(verdict, Verdict { status: Pass, findings: vec![] });
}

#[test]
fn evidence_is_bounded() {
    let many: String = (0..1000).map(|number| format!("<input name=private_key id=f{number}>")).collect();
    assert_eq!(verdict(&many).findings.len(), FINDINGS_MAX);
}

#[test]
fn byte_order_mark_decides_the_charset() {
    let page = "<!doctype html><form><label>Seed phrase <input name=seed></label></form>";
    let little: Vec<u8> =
        [0xfeff].into_iter().chain(page.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = [0xfeff].into_iter().chain(page.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    let marked: Vec<u8> = [0xef, 0xbb, 0xbf].into_iter().chain(page.bytes()).collect();
    for bytes in [little, big, marked] {
        assert_eq!(verdict_of(&[("index.html", &bytes)]).status, Blocked);
    }
}

#[test]
fn frames_scripts_and_fetched_files_count_towards_their_page() {
    let seed = "<label>Seed phrase<textarea></textarea></label>";
    let inline = format!("<iframe srcdoc='{seed}'></iframe>");
    let text = format!("Hello {seed}");
    let cases: [(&str, Vec<(&str, &str)>); 8] = [
        ("a frame", vec![("index.html", "<iframe src=part></iframe>"), ("part.html", seed)]),
        ("a frame's document in the page", vec![("index.html", &inline)]),
        (
            "a data address",
            vec![("index.html", "<iframe src='data:text/html,%3Cinput name=seed_phrase%3E'></iframe>")],
        ),
        (
            "a script",
            vec![
                ("index.html", "<script src=a.js></script>"),
                ("a.js", "b.innerHTML = '<input name=seed_phrase>'"),
            ],
        ),
        (
            "a text that a script fetches",
            vec![("index.html", "<script>fetch('f.txt')</script>"), ("f.txt", &text)],
        ),
        (
            "a text that a script of a folder fetches",
            vec![
                ("index.html", "<script src=js/a.js></script>"),
                ("js/a.js", "fetch('data/f.txt')"),
                ("data/f.txt", &text),
            ],
        ),
        (
            "a request around a frame",
            vec![
                ("index.html", "<h1>Enter your recovery phrase</h1><iframe src=f.html></iframe>"),
                ("f.html", "<textarea></textarea>"),
            ],
        ),
        (
            "a number in one frame and a code in another",
            vec![
                ("index.html", "<iframe src=n.html></iframe><iframe src=c.html></iframe>"),
                ("n.html", "Card number <input>"),
                ("c.html", "CVV <input>"),
            ],
        ),
    ];
    for (name, files) in cases {
        assert_eq!(verdict_of(&files).status, Blocked, "{name}");
    }
}

#[test]
fn lure_on_a_page_counts_in_its_frames_but_not_in_linked_pages() {
    let login = ("login.html", "<input type=password>");
    let framed = [("index.html", "<h1>PayPal</h1><iframe src=login.html></iframe>"), login];
    assert_eq!(verdict_of(&framed).status, Review);
    let linked = [("index.html", "<h1>PayPal</h1><a href=login.html>Sign in</a>"), login];
    assert_eq!(verdict_of(&linked).status, Pass);
}

#[test]
fn recursive_embedding_terminates() {
    let files: Vec<(String, String)> = (0..50)
        .map(|number| {
            let frames: String =
                (0..50).map(|other| format!("<iframe src=p{other}.html></iframe>")).collect();
            (format!("p{number}.html"), frames + "<input name=seed_phrase>")
        })
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    assert_eq!(verdict_of(&files).status, Blocked);
}

#[test]
fn plain_text_is_scanned_where_a_script_fetches_it() {
    let script = "fetch('l.txt').then(r => r.text()).then(t => { label.textContent = t })";
    let page = format!("<label id=label></label><textarea></textarea><script>{script}</script>");
    let files = [("index.html", page.as_str()), ("l.txt", "Enter your seed phrase")];
    assert_eq!(verdict_of(&files).status, Blocked);
    assert_eq!(verdict_of(&[("notes.txt", "Enter your seed phrase")]).status, Pass);
}

#[test]
fn document_entities_are_expanded_in_a_fixed_order() {
    let (pad, more) = ("x".repeat(5 << 20), "y".repeat(4 << 20));
    let entities = format!(
        "<!ENTITY pad '{pad}'><!ENTITY frm '{more}&#60;input name=\"seed_phrase\"/>'>\
         <!ENTITY a '&pad;'><!ENTITY b '&frm;'>"
    );
    let page = format!(
        "<!DOCTYPE html [{entities}]><html xmlns='http://www.w3.org/1999/xhtml'><body>&b;</body></html>"
    );
    let file = [("a.xhtml", page.as_str())];
    let first = verdict_of(&file);
    assert!((0..3).all(|_| verdict_of(&file) == first));
}
