//! Floods of style rules, and of the elements that they apply to.

use super::{ASK, Files, Flood, HALF_BYTES, built, file, filled, index, page};

const END: &str =
    "</style><form><label>Enter your seed phrase <textarea name=seed></textarea></label></form>";

pub fn floods() -> Vec<Flood> {
    vec![
        page("rules", "<style>", ".c{n}{color:red}", END),
        page("one selector of many", "<style>", ".a{n},", "p{display:none}</style>"),
        page("selectors in selectors", "<style>", ":not(", END),
        page("rules in rules", "<style>", "a{", END),
        page("media in media", "<style>", "@media all{", END),
        page("brackets", "<style>p{color:", "([{", END),
        page("comments and strings without an end", "<style>", "/*\"\\", END),
        page("at-rules that nobody knows", "<style>", "@x y;@z{}", END),
        page("escapes", "<style>p{content:\"", "\\61 \\000062", END),
        page("properties that refer to each other", "<style>", "p{--a{n}:var(--a{m}) var(--a{m})}", END),
        page("addresses to import", "<style>", "@import \"{n}.css\";", END),
        file("a sheet alone", "site.css", "p .x{n}::before{content:\"seed\"}"),
        built("a rule for every element", rules_for_all),
        built("descendants of descendants", descendants),
        built("any within any", any_within_any),
        built("brothers of brothers", brothers),
        built("children by number", children_by_number),
        built("what has what", what_has_what),
        built("long content before every element", content_before_all),
        built("content out of attributes", content_of_attributes),
        built("a value looked through by every rule", values_looked_through),
        built("sheets for every media, of elements", sheets),
    ]
}

/// Half rules, half elements that may match them.
fn rules_over(rule: &str, element: &str) -> Files {
    let (rules, elements) = (filled(rule, HALF_BYTES), filled(element, HALF_BYTES));
    index(&["<style>", &rules, "</style>", &elements, ASK])
}

fn rules_for_all() -> Files {
    rules_over("p{opacity:.{n}}", "<p>x")
}

fn descendants() -> Files {
    rules_over("div div div div p{n} div b{opacity:.{n}}", "<div><b>x</b>")
}

fn any_within_any() -> Files {
    rules_over("* * * * * * * * .no{n} *{opacity:.{n}}", "<div><div><b>x</b></div>")
}

fn brothers() -> Files {
    rules_over(".no{n}~p~p~p+p{opacity:.{n}}", "<p>x</p>")
}

fn children_by_number() -> Files {
    rules_over("p:nth-last-child({n}n+1){opacity:.5}", "<p>x</p>")
}

fn what_has_what() -> Files {
    rules_over("div:has(p:has(.no{n})){opacity:.5}", "<div><p>x</p></div>")
}

fn content_of_attributes() -> Files {
    rules_over("p::before{content:attr(a) attr(a) attr(a) \"{n}\"}", "<p a=\"seed phrase\">x</p>")
}

fn content_before_all() -> Files {
    let words = filled("word{n} ", HALF_BYTES);
    index(&["<style>p::before{content:\"", &words, "\"}</style>", &filled("<p><input></p>", HALF_BYTES)])
}

fn values_looked_through() -> Files {
    let rules = filled("[title*=\"zz{n}\"]{opacity:.5}", HALF_BYTES);
    index(&["<style>", &rules, "</style><p title=\"", &filled("zzz ", HALF_BYTES), "\">x</p>", ASK])
}

fn sheets() -> Files {
    index(&[&filled("<style media=screen>p{opacity:.{n}}</style><p>x</p>", HALF_BYTES * 2), ASK])
}
