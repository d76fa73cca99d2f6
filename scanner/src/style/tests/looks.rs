//! Which elements are visible.

use super::super::*;
use crate::document::{Content, parse_html};
use ElementVisibility::{Gone, Seen, Unseen};

/// A document with its own sheets applied.
pub(super) fn dressed(html: &str) -> (Document, Looks) {
    let document = parse_html(html);
    let sheets: Vec<String> = document
        .nodes()
        .filter(|node| document.element(*node).is_some_and(|element| element.name() == "style"))
        .filter_map(|node| match document.content(document.first_child(node)?) {
            Content::Text(text) => Some(text.to_string()),
            _ => None,
        })
        .collect();
    let sheets: Vec<&str> = sheets.iter().map(String::as_str).collect();
    let looks = dress(&document, &sheets, Canvas::White);
    (document, looks)
}

pub(super) fn by_id(document: &Document, id: &str) -> NodeId {
    let mut nodes = document.nodes();
    nodes.find(|node| document.element(*node).is_some_and(|element| element.text("id") == id)).unwrap()
}

fn shown(html: &str) -> ElementVisibility {
    let (document, looks) = dressed(html);
    looks.shown(by_id(&document, "it"))
}

fn check(cases: &[(&str, ElementVisibility)]) {
    for (html, expected) in cases {
        assert_eq!(shown(html), *expected, "{html}");
    }
}

#[test]
fn non_rendered_elements_are_gone() {
    check(&[
        ("<p id=it>", Seen),
        ("<p id=it style='display:none'>", Gone),
        ("<p id=it style='DISPLAY : NONE !important'>", Gone),
        ("<p id=it style='display:none;display:block'>", Seen),
        ("<div style='display:none'><p id=it style='display:block'>", Gone),
        ("<p id=it style='visibility:hidden'>", Gone),
        ("<div style='visibility:hidden'><p id=it style='visibility:visible'>", Seen),
        ("<div style='visibility:hidden'><p id=it>", Gone),
        ("<div style='content-visibility:hidden'><p id=it>", Gone),
        ("<p id=it hidden>", Gone),
        ("<style>p { display: block }</style><p id=it hidden>", Seen),
        ("<dialog id=it>", Gone),
        ("<dialog id=it open>", Seen),
        ("<div popover><p id=it>", Gone),
        ("<template><p id=it></template>", Gone),
        ("<div><template shadowrootmode=open><p id=it></template></div>", Seen),
        ("<noscript id=it>", Gone),
        ("<input type=HIDDEN id=it>", Gone),
        ("<details><p id=it>", Seen),
        ("<svg><g display=none><text id=it>", Gone),
    ]);
}

#[test]
fn invisible_elements_are_unseen() {
    check(&[
        ("<p id=it style='opacity:0'>", Unseen),
        ("<p id=it style='opacity:1%'>", Unseen),
        ("<p id=it style='opacity:.8'>", Seen),
        ("<p id=it style='filter:blur(2px) opacity(0)'>", Unseen),
        ("<div style='font-size:0'><p id=it>", Unseen),
        ("<div style='font-size:0'><p id=it style='font-size:16px'>", Seen),
        ("<div style='font-size:0'><input id=it>", Seen),
        ("<p id=it style='font:0/0 a'>", Unseen),
        ("<p id=it style='font: 700 16px Arial'>", Seen),
        ("<p id=it style='font-size:.01em'>", Unseen),
        ("<p id=it style='text-indent:-9999px'>", Unseen),
        ("<p id=it style='text-indent:2em'>", Seen),
        ("<p id=it style='position:absolute;left:-9999px'>", Unseen),
        ("<p id=it style='left:-9999px'>", Seen),
        ("<p id=it style='position:absolute;left:calc(0px - 5000px)'>", Unseen),
        ("<p id=it style='position:fixed;inset:-4000px'>", Unseen),
        ("<p id=it style='margin-left:-9999px'>", Unseen),
        ("<div style='position:absolute;left:-9999px'><p id=it style='position:absolute;left:9999px'>", Seen),
        ("<div style='margin-left:-9999px'><p id=it>", Unseen),
        ("<p id=it style='position:absolute;clip:rect(0 0 0 0)'>", Unseen),
        ("<p id=it style='position:absolute;clip:rect(1px,1px,1px,1px)'>", Unseen),
        ("<p id=it style='clip-path:inset(50%)'>", Unseen),
        ("<p id=it style='clip-path:inset(10px)'>", Seen),
        ("<p id=it style='clip-path:polygon(0 0, 0 0, 0 0)'>", Unseen),
        ("<p id=it style='width:1px;height:1px;overflow:hidden'>", Unseen),
        ("<p id=it style='max-height:0;overflow:hidden'>", Unseen),
        ("<p id=it style='max-height:0'>", Seen),
        ("<p id=it style='transform:scale(0)'>", Unseen),
        ("<p id=it style='transform:translateX(-9999px)'>", Unseen),
        ("<p id=it style='transform:translate(-50%,-50%)'>", Seen),
        ("<p id=it style='opacity:0;animation:appear 1s forwards'>", Seen),
        ("<p id=it style='opacity:0;animation:none'>", Unseen),
        ("<svg><text id=it opacity=0>", Unseen),
    ]);
}

#[test]
fn text_in_the_background_colour_is_unseen() {
    check(&[
        ("<p id=it style='color:white'>", Unseen),
        ("<p id=it style='color:#fdfdfd'>", Unseen),
        ("<p id=it style='color:#888'>", Seen),
        ("<div style='background:black'><p id=it style='color:white'>", Seen),
        ("<div style='background:black'><p id=it>", Unseen),
        ("<div style='background:#000 url(x.png)'><p id=it>", Seen),
        ("<div style='color:white'><p id=it style='background:navy'>", Seen),
        ("<p id=it style='color:transparent'>", Unseen),
        ("<p id=it style='color:transparent;text-shadow:0 0 0 #000'>", Seen),
        ("<p id=it style='color:rgba(0,0,0,.01)'>", Unseen),
        ("<p id=it style='color:rgb(0 0 0 / 1%)'>", Unseen),
        ("<p id=it style='color:hsl(120, 50%, 100%)'>", Unseen),
        ("<p id=it style='color:hsl(120deg 100% 25%);background:#008000'>", Unseen),
        ("<p id=it style='color:oklch(1 0 0)'>", Seen),
        ("<p id=it style='-webkit-text-fill-color:transparent'>", Unseen),
        (
            "<h1 id=it style='background:linear-gradient(red,blue);-webkit-background-clip:text;color:transparent'>",
            Seen,
        ),
        ("<div style='color:white'><input id=it>", Seen),
        ("<div style='color:white'><button id=it>", Seen),
        ("<font color=white id=it>", Unseen),
        ("<body bgcolor=black text=white><p id=it>", Seen),
        ("<body bgcolor=000000><p id=it>", Unseen),
        ("<div style='color:white'><svg><text id=it>", Seen),
    ]);
}

#[test]
fn rules_cascade_as_in_browsers() {
    let cases = [
        ("p{display:none} p{display:block}", Seen),
        (".c{display:none} p{display:block}", Gone),
        ("#it{display:block} .c{display:none}", Seen),
        ("p{display:none!important} #it{display:block}", Gone),
        ("@media print{p{display:none}}", Seen),
        ("@media screen and (min-width: 600px){p{display:none}}", Gone),
        ("@media (max-width: 600px){p{display:none}}", Seen),
        ("@media (width < 600px), (400px <= width <= 2000px){p{display:none}}", Gone),
        ("@media (prefers-color-scheme: dark){p{display:none}}", Seen),
        ("@media not all{p{display:none}}", Seen),
        ("@supports (display:grid){@layer a{p{display:none}}}", Gone),
        ("@font-face{p{display:none}}", Seen),
        ("div{p{display:none}}", Gone),
        ("div{&.d{p{display:none}}}", Gone),
        (".e,div{@media screen{p,q{display:none}}}", Gone),
        ("div > p.c[data-x=y]:first-child{display:none}", Gone),
        ("div + p{display:none}", Seen),
        ("p:nth-child(2){display:none}", Seen),
        ("P:not(.other):is(.c, .x){display:none}", Gone),
        ("p:hover{display:none}", Seen),
        ("p:not(:hover){display:none}", Gone),
        ("p, :unknown(x){display:none}", Seen),
        ("*{--h:none} p{display:var(--h)}", Gone),
        ("p{display:var(--h, none)}", Gone),
        (":root{--h:none} .a{--h:block} p{display:var(--h)}", Seen),
        ("<!-- p{display:none} -->", Gone),
        ("@charset 'utf-8'; @import 'x.css'; p{display:none}", Gone),
        ("p{color:red; /* ; } */ display:none", Gone),
        ("q::before{content:'}'} p{display:none}", Gone),
        ("q{background:url(data:image/svg+xml;utf8,'{)} p{display:none}", Gone),
        ("q{color:rgb(1,2;} p{display:none}", Seen),
        ("p{*zoom:1;_x:y;display:none}", Gone),
        ("p{disp\\lay:none}", Seen),
        ("i{display:none}", Seen),
    ];
    for (sheet, expected) in cases {
        let html = format!("<style>{sheet}</style><div class=d><p id=it class='b c' data-x=y>Hi</p></div>");
        assert_eq!(shown(&html), expected, "{sheet}");
    }
}

#[test]
fn formatting_elements_are_matched_by_name() {
    check(&[("<style>i{display:none}</style><p>se<i id=it>x</i>ed", Gone)]);
}

#[test]
fn text_nodes_inherit_visibility_from_their_elements() {
    let (document, looks) = dressed("<div id=d style='opacity:0'><section style='display:none'><p id=it>Hi");
    let text = document.first_child(by_id(&document, "it")).unwrap();
    assert_eq!(looks.shown(text), Gone);
    assert_eq!(looks.hidden_by(text), Some(by_id(&document, "d")));
    assert_eq!(looks.hidden_by(document.root()), None);
}

#[test]
fn masked_fields_are_detected_by_style_and_font() {
    let cases = [
        ("<input id=it style='-webkit-text-security:disc'>", true),
        ("<div style='-webkit-text-security:circle'><input id=it></div>", true),
        ("<input id=it style='-webkit-text-security:none'>", false),
        ("<style>.p{font-family:'text-security-disc', serif}</style><input id=it class=p>", true),
        ("<input id=it style='font:16px \"password\"'>", true),
        ("<input id=it style='font-family:Arial'>", false),
    ];
    for (html, expected) in cases {
        let (document, looks) = dressed(html);
        assert_eq!(looks.is_masked(by_id(&document, "it")), expected, "{html}");
    }
}

#[test]
fn generated_content_is_reported() {
    let cases = [
        (".c::before{content:'Seed ' \"phrase\"}", Some("Seed phrase"), None),
        (".c:after{content:'\\73 eed'}", None, Some("seed")),
        (".c::before{content:attr(data-x) '!'}", Some("words!"), None),
        (".c::before{content:''}", None, None),
        (".c::before{content:'x';display:none}", None, None),
        (".c::before{content:'x'} p.c::before{content:none}", None, None),
        (".c::before{content:counter(n) '. '}", Some(". "), None),
        (".c::placeholder{content:'x'}", None, None),
        (".c:hover::before{content:'x'}", None, None),
    ];
    for (sheet, before, after) in cases {
        let (document, looks) = dressed(&format!("<style>{sheet}</style><p id=it class=c data-x=words>"));
        let it = by_id(&document, "it");
        assert_eq!((looks.before(it), looks.after(it)), (before, after), "{sheet}");
    }
}

#[test]
fn interaction_rules_can_reveal_elements() {
    let cases = [
        (".menu:hover .item{display:block}", true),
        ("#a:target{visibility:visible}", true),
        ("input:checked ~ div{max-height:500px}", true),
        ("a:hover{text-decoration:underline}", false),
        ("p{display:block}", false),
    ];
    for (sheet, expected) in cases {
        assert_eq!(dress(&parse_html("<p>"), &[sheet], Canvas::White).may_reveal(), expected, "{sheet}");
    }
}
