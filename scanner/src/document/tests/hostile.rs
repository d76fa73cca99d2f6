//! Hostile documents have a bounded parsing time and depth.

use std::time::{Duration, Instant};

use super::super::*;

/// Full-size files in release builds. In debug builds the parsers are ten times slower.
const PAGE_BYTES: usize = if cfg!(debug_assertions) { 1 << 20 } else { 10 << 20 };
/// Long enough for a busy machine, and far below what quadratic time would take.
const BOUND: Duration = Duration::from_secs(20);

fn filled(piece: &str) -> String {
    piece.repeat(PAGE_BYTES / piece.len())
}

fn numbered(piece: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    let mut number = 0;
    while text.len() < PAGE_BYTES {
        text.push_str(&piece(number));
        number += 1;
    }
    text
}

fn formatting() -> String {
    let opened: String = (0..2000).map(|n| format!("<b class={n}><font size={n}>")).collect();
    opened + &filled("<p>x")
}

fn pages() -> Vec<(&'static str, String)> {
    vec![
        ("nested elements", filled("<div>")),
        ("nested elements of several kinds", filled("<div/><section><span>")),
        ("nested drawings", filled("<svg><g>")),
        ("nested drawings and pages", filled("<svg><foreignObject>")),
        ("nested tables", filled("<table><tr><td>")),
        ("nested lists", filled("<ul><li><dl><dd>")),
        ("nested forms and buttons", filled("<form><button>")),
        ("nested links", filled("<a href=x>")),
        ("nested links in blocks", numbered(|n| format!("<a href={n}><div>"))),
        ("nested templates", filled("<template>")),
        ("nested options", filled("<select><optgroup><option>")),
        ("nested ruby", filled("<ruby><rt><rp>")),
        ("unknown elements", numbered(|n| format!("<x{n}>"))),
        ("unknown end tags", numbered(|n| format!("<p></x{n}>"))),
        ("formatting that is never closed", formatting()),
        ("formatting in a drawing", filled("<svg><b>")),
        ("content that belongs before its table", format!("<table>{}", filled("<a>x"))),
        ("text that belongs before its table", format!("<table>{}", filled("x<tr>"))),
        ("attributes of one tag", format!("<input {}>", numbered(|n| format!("a{n} ")))),
        ("attributes of an end tag", format!("</p {}>", numbered(|n| format!("a{n} ")))),
        (
            "attributes of the end of a script",
            format!("<script></script {}>", numbered(|n| format!("a{n} "))),
        ),
        (
            "attributes of many tags",
            numbered(|n| format!("<p {}>", (0..60).map(|a| format!("a{a}{n} ")).collect::<String>())),
        ),
        ("attributes of the body", numbered(|n| format!("<body a{n}>"))),
        ("one name", format!("<p {}>", filled("a"))),
        ("one name of quotes", format!("<p {}>", filled("'"))),
        ("one tag of slashes", format!("<p {}>", filled("/ "))),
        ("one long attribute", format!("<p title='{}'>", filled("x "))),
        ("open angle brackets", filled("< ")),
        ("empty tags", filled("<>")),
        ("empty end tags", filled("</>")),
        ("comments in comments", format!("{}-->", filled("<!--"))),
        ("short comments", filled("<!---->")),
        ("dashes", format!("<!--{}", filled("- --"))),
        ("scripts in a script", format!("<script>{}", filled("<!--<script>"))),
        ("ends of other scripts", format!("<script>{}", filled("</scrip"))),
        ("many scripts", filled("<script></script>")),
        ("null characters", filled("\0")),
        ("references", filled("&#;&amp&x;")),
        ("unclosed quote", format!("<p a=\"{}", filled("<p a='>'>"))),
        ("one text", filled("x ")),
        ("carriage returns", filled("\r")),
    ]
}

#[test]
fn hostile_html_exhausts_neither_stack_nor_time() {
    for (name, page) in pages() {
        let began = Instant::now();
        let document = parse_html(&page);
        let parsed = began.elapsed();
        assert!(document.text_below(document.root(), 100).len() <= 400);
        let mut steps = 0_usize;
        document.walk(document.root(), |_| {
            steps += 1;
            Onward::Inside
        });
        drop(document);
        println!("html {name}: parsed {parsed:?}, {steps} steps, in all {:?}", began.elapsed());
        assert!(began.elapsed() < BOUND, "{name}: {:?}", began.elapsed());
    }
}

#[test]
fn hostile_xml_exhausts_neither_stack_nor_time() {
    let root = "<h xmlns='http://www.w3.org/1999/xhtml'>";
    let own = [
        ("prefixes", numbered(|n| format!("<a xmlns:p{n}='x'>"))),
        ("prefixes of one tag", format!("<a {}>", numbered(|n| format!("xmlns:p{n}='x' ")))),
        ("unknown prefixes", numbered(|n| format!("<p{n}:a>"))),
        ("short ends", filled("<a></>")),
        ("CDATA", format!("<![CDATA[{}", filled("]]x"))),
        ("processing instructions", filled("<?x?>")),
        ("ends that fit nothing", format!("{}{}", "<a>".repeat(100_000), filled("</b>"))),
    ];
    for (name, page) in own.into_iter().chain(pages()) {
        let began = Instant::now();
        let document = parse_xml(&format!("{root}{page}"));
        let parsed = began.elapsed();
        drop(document);
        println!("xml {name}: parsed {parsed:?}, in all {:?}", began.elapsed());
        assert!(began.elapsed() < BOUND, "{name}: {:?}", began.elapsed());
    }
}

#[test]
fn entity_expansion_is_bounded() {
    let mut subset = "<!ENTITY a0 'lollollollol'>".to_owned();
    for level in 1..20 {
        subset.push_str(&format!("<!ENTITY a{level} '{}'>", format!("&a{};", level - 1).repeat(20)));
    }
    let many: String = (0..5000).map(|n| format!("<!ENTITY b{n} 'x'>")).collect();
    let body = "&a19;&b1;".repeat(100_000);
    for text in [
        format!("<!DOCTYPE h [{subset}]><h xmlns='http://www.w3.org/1999/xhtml'>{body}</h>"),
        format!("<!DOCTYPE h [{many}]><h xmlns='http://www.w3.org/1999/xhtml'>{body}</h>"),
        format!("<!DOCTYPE h [{}", filled("<!-- --'\"")),
        format!("<!DOCTYPE h [{}]>", filled("<!ENTITY")),
    ] {
        let began = Instant::now();
        let document = parse_xml(&text);
        drop(document);
        println!("entities: {:?}", began.elapsed());
        assert!(began.elapsed() < BOUND, "{:?}", began.elapsed());
    }
}

#[test]
fn hostile_bytes_are_read_in_bounded_time() {
    for (name, bytes) in [
        ("comments before a page", filled("<!-- -->").into_bytes()),
        ("blanks", filled("\u{200b}").into_bytes()),
        ("metas", filled("<meta charset").into_bytes()),
        ("bytes that are no text", vec![0xff; PAGE_BYTES]),
        ("zeros", vec![0; PAGE_BYTES]),
    ] {
        let began = Instant::now();
        assert!(read("a", &bytes).text.len() <= 4 * PAGE_BYTES);
        assert!(began.elapsed() < BOUND, "{name}: {:?}", began.elapsed());
    }
    let url = format!("data:text/html;base64,{}", filled("AAAA"));
    let began = Instant::now();
    assert!(open_data_url(&url).is_some());
    assert!(began.elapsed() < BOUND);
}
