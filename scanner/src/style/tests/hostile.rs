//! Hostile style sheets have a bounded matching time.

use std::time::{Duration, Instant};

use super::super::*;
use super::looks::by_id;
use crate::document::parse_html;

/// Full-size files in release builds. In debug builds the parsers are ten times slower.
const SHEET_BYTES: usize = if cfg!(debug_assertions) { 1 << 20 } else { 10 << 20 };
const ELEMENTS: usize = SHEET_BYTES / 100;
const BOUND: Duration = Duration::from_secs(20);

fn filled(piece: &str) -> String {
    piece.repeat(SHEET_BYTES / piece.len())
}

fn numbered(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect()
}

#[test]
fn hostile_stylesheets_exhaust_neither_stack_nor_time() {
    let page = numbered(1000, |n| format!("<p class='c{n} c'>x</p>"));
    let document = parse_html(&format!("<div>{page}<p id=it>Hi</div>"));
    let sheets = [
        ("braces", filled("{")),
        ("closing braces", filled("}")),
        ("brackets", filled("(")),
        ("brackets in a rule", format!("p{{color:{}", filled("("))),
        ("brackets of all kinds", filled("([{")),
        ("rules in rules", filled("a{")),
        ("groups in groups", filled("@media{")),
        ("rules in a long rule", format!("{}{{{}", "a".repeat(299), filled("b{c:d}"))),
        ("parents in a rule", format!("{}{{{}", "a".repeat(299), filled("&&&&{c:d}"))),
        ("selectors in selectors", filled(":is(")),
        ("negations", format!("{}{{color:red}}", ":not(".repeat(SHEET_BYTES / 5))),
        ("a long selector", format!("{}{{color:red}}", filled("p+"))),
        ("many long selectors", filled(&format!("{}p{{color:red}}", "p+".repeat(500)))),
        ("many descendants", filled(&format!("{}p{{color:red}}", "p ~ ".repeat(18)))),
        ("selectors for all", filled("*{opacity:0}")),
        ("excluding selectors", filled("p:not(.x){opacity:0}")),
        ("counting selectors", filled("p:nth-last-child(2n+1){opacity:.5}")),
        ("attribute selectors", filled("[class*=xyz]{opacity:0}")),
        ("many declarations", format!("p{{{}", filled("color:red;"))),
        ("many different declarations", format!("p{{{}", filled("color:red;opacity:1;left:1px;"))),
        ("one long value", format!("p{{color:{}", filled("a "))),
        ("variables", numbered(SHEET_BYTES / 20, |n| format!("p{{--v{n}:var(--v)}}"))),
        ("uses of variables", format!("p{{--v:var(--v)var(--v)}}{}", filled("p{color:var(--v)}"))),
        ("comments", filled("/*")),
        ("quotes", filled("\"'")),
        ("backslashes", filled("\\")),
        ("addresses", filled("url( ")),
        ("imports", filled("@import 'a';")),
        ("conditions", format!("@media {}{{", filled("(a) and "))),
        ("generated words", filled("p::before{content:'words'}")),
    ];
    for (name, sheet) in sheets {
        let began = Instant::now();
        let looks = dress(&document, &[&sheet], Canvas::White);
        println!("style {name}: {:?}", began.elapsed());
        assert!(began.elapsed() < BOUND, "{name}: {:?}", began.elapsed());
        assert!(looks.hidden_by(document.root()).is_none());
        imports(&sheet);
    }
}

#[test]
fn hostile_pages_are_styled_in_bounded_time() {
    let rules = |piece: fn(usize) -> String| numbered(ELEMENTS, piece);
    let cases = [
        (
            "as many rules as elements",
            rules(|n| format!("<p class=c{n}>")),
            rules(|n| format!(".c{n}{{opacity:0}}")),
        ),
        ("rules for every element", rules(|_| "<p>".to_owned()), rules(|_| "p{opacity:0}".to_owned())),
        ("brothers", rules(|_| "<p></p>".to_owned()), rules(|_| "p ~ p ~ q ~ p{opacity:0}".to_owned())),
        ("nested", rules(|_| "<div>".to_owned()), rules(|_| "div div q div{opacity:0}".to_owned())),
        ("long classes", format!("<p class='{}'>", filled("c ")), rules(|_| ".c.d{opacity:0}".to_owned())),
        (
            "a long attribute",
            format!("<p title='{}'>", filled("a")),
            rules(|_| "[title*=aaaaaaaaaaaaaaab]{opacity:0}".to_owned()),
        ),
        ("long styles", format!("<p style='{}'>", filled("color:red;")), String::new()),
        (
            "many styles",
            rules(|_| "<p style='opacity:0;color:red;left:2px;font:12px a'>".to_owned()),
            String::new(),
        ),
        (
            "counted brothers",
            rules(|_| "<p></p>".to_owned()),
            "p:nth-child(3n):nth-last-of-type(2n){opacity:0}".to_owned(),
        ),
        (
            "comments between",
            rules(|_| "<!----><p></p>".to_owned()),
            "p + p{opacity:0} p:empty{left:0}".to_owned(),
        ),
        (
            "one empty of comments",
            format!("<p>{}", filled("<!---->")),
            rules(|_| "p:empty{opacity:0}".to_owned()),
        ),
        (
            "generated words",
            rules(|_| "<p>".to_owned()),
            format!("p::before{{content:'{}'}}", "x".repeat(1500)),
        ),
    ];
    for (name, page, sheet) in cases {
        let document = parse_html(&format!("{page}<b id=it>"));
        let began = Instant::now();
        let looks = dress(&document, &[&sheet], Canvas::White);
        println!("dress {name}: {:?}", began.elapsed());
        assert!(began.elapsed() < BOUND, "{name}: {:?}", began.elapsed());
        looks.shown(by_id(&document, "it"));
    }
}

#[test]
fn elements_count_as_visible_when_the_budget_is_exhausted() {
    let page = "<p>x".repeat(20_000);
    let document = parse_html(&format!("{page}<b id=it>"));
    let sheet = format!("{} b:not(i) {{ display: none }}", ":not(q) {opacity:.5}".repeat(5000));
    assert_eq!(
        dress(&document, &[&sheet], Canvas::White).shown(by_id(&document, "it")),
        ElementVisibility::Seen
    );
    assert_eq!(
        dress(&document, &["b:not(i) { display: none }"], Canvas::White).shown(by_id(&document, "it")),
        ElementVisibility::Gone
    );
}

#[test]
fn random_stylesheets_do_not_crash_the_style_engine() {
    let document = parse_html("<div class=a><p id=b style='color:red'>x</p></div>");
    const PIECES: [&str; 24] = [
        "{", "}", "(", ")", "[", "]", "\"", "'", "\\", ";", ":", "a", "#b", ".a", "@media", "::before",
        "content", "url(", "/*", "*/", "&", ",", "é", ":is(",
    ];
    let mut state = 7_u32;
    for length in 0..4000 {
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as usize
        };
        let sheet: String = (0..length % 60).map(|_| PIECES[next() % PIECES.len()]).collect();
        let looks = dress(&document, &[&sheet], Canvas::White);
        assert_eq!(looks.hidden_by(document.root()), None);
        imports(&sheet);
    }
}

#[test]
fn sibling_and_ancestor_selectors_are_matched_in_bounded_time() {
    let brothers = "<p></p>".repeat(ELEMENTS);
    let nested = format!("{}{}", "<div>".repeat(100), "<p class=x></p>".repeat(ELEMENTS));
    for (page, selectors) in [
        (&brothers, ".x ~ * ~ * ~ * ~ *"),
        (&brothers, "* ~ .x ~ * + * ~ * ~ p"),
        (&brothers, "p:not(:nth-child(2n) ~ :nth-last-child(3) ~ .y)"),
        (&nested, ".x .y * > * ~ * ~ * * ~ .x"),
        (&nested, ".y * .z * * * * * * * * * ~ *"),
        (&nested, ":is(.y ~ * *, * .y ~ *) ~ :not(* .q ~ * *)"),
    ] {
        let document = parse_html(page);
        let began = Instant::now();
        dress(&document, &[&format!("{selectors}{{opacity:0}}")], Canvas::White);
        println!("brothers {selectors}: {:?}", began.elapsed());
        assert!(began.elapsed() < BOUND, "{selectors}: {:?}", began.elapsed());
    }
}
