//! Imports, media queries and rules of style sheets.

use super::super::{imports, media, sheet};

fn rules(text: &str) -> Vec<(String, Vec<&str>)> {
    sheet::read(text).0.into_iter().map(|rule| (rule.selectors, rule.declarations)).collect()
}

#[test]
fn stylesheets_are_split_into_rules() {
    let one = |selectors: &str, declaration| vec![(selectors.to_owned(), vec![declaration])];
    let cases = [
        ("a{b:c}", one("a", "b:c")),
        ("a { b : c ; } ", one("a", "b : c")),
        ("a{b:c", one("a", "b:c")),
        ("/* x{y:z} */ a{b:c}", one("a", "b:c")),
        ("a[x='}']{b:c}", one("a[x='}']", "b:c")),
        ("a{b:url(x;y)}", one("a", "b:url(x;y)")),
        ("a{b:';'}", one("a", "b:';'")),
        ("a{b:'\n;c:d}", vec![("a".to_owned(), vec!["b:'", "c:d"])]),
        ("a{b{c:d}}", one("a b", "c:d")),
        ("a,b{&:hover{c:d}}", one(":is(a,b):hover", "c:d")),
        ("}a{b:c}", one("}a", "b:c")),
        ("a\\{{b:c}", one("a\\{", "b:c")),
        ("@media print{a{b:c}}", vec![]),
        ("@media screen{a{b:c}}", one("a", "b:c")),
        ("@unknown{a{b:c}}", vec![]),
        ("a{}", vec![]),
        ("", vec![]),
    ];
    for (text, expected) in cases {
        assert_eq!(rules(text), expected, "{text}");
    }
}

#[test]
fn imports_are_listed() {
    let cases = [
        ("@import 'a.css';", vec!["a.css"]),
        ("@IMPORT url(\"a.css\") screen; @import url( b.css );", vec!["a.css", "b.css"]),
        ("@charset 'utf-8';\n/* hi */ @import url(c.css)", vec!["c.css"]),
        ("a{@import 'x.css';}", vec![]),
        ("/* @import 'x.css'; */", vec![]),
        ("@import", vec![]),
    ];
    for (text, expected) in cases {
        assert_eq!(imports(text), expected, "{text}");
    }
}

#[test]
fn media_conditions_are_evaluated_for_a_desktop_in_light_mode() {
    let cases = [
        ("media", true),
        ("media all", true),
        ("media screen", true),
        ("media only screen and (min-width:768px)", true),
        ("media only screen and (max-width:767px)", false),
        ("media print", false),
        ("media not print", true),
        ("media print, screen", true),
        ("media (min-width: 100em)", false),
        ("media (600px <= width)", true),
        ("media (width>2000px)", false),
        ("media (hover: none)", false),
        ("media (orientation: portrait)", false),
        ("media not (min-width: 600px)", false),
        ("media (max-width: 10px) or (min-width: 20px)", true),
        ("media (min-resolution: 2dppx)", true),
        ("supports (display: grid)", true),
        ("supports not (display: grid)", false),
        ("layer base", true),
        ("container (min-width: 1px)", true),
        ("keyframes x", false),
        ("page", false),
        ("starting-style", false),
    ];
    for (at_rule, expected) in cases {
        assert_eq!(media::holds(at_rule), expected, "{at_rule}");
    }
}
