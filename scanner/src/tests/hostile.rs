//! Pages that are built to exhaust a reader's time or stack.

use std::time::{Duration, Instant};

use super::Status::Blocked;
use super::*;

/// Pages of about a megabyte that are built to exhaust a reader's time or stack. The bound is generous, and
/// far below what quadratic time would take.
#[test]
fn hostile_pages_exhaust_neither_stack_nor_time() {
    // The paragraph ends any open SVG.
    let ask = "<p><input name=seed_phrase>";
    let table = format!("<table>{}", "<a>x".repeat(200_000));
    let pages = [
        ("nested elements", "<div>".repeat(200_000)),
        ("nested elements of several kinds", "<div/><section><span>".repeat(60_000)),
        ("nested drawings", "<svg><g>".repeat(100_000)),
        ("nested tables", "<table><tr><td>".repeat(60_000)),
        ("nested templates", format!("{}{}", "<template>".repeat(90_000), "</template>".repeat(90_000))),
        ("nested labels", "<label id=x>x".repeat(80_000)),
        ("formatting that is never closed", formatting()),
        ("content that belongs before its table", table),
        ("many options", format!("<select>{}</select>", "<option>x</option>".repeat(60_000))),
        ("many fields", "<p>mnemo<input type=password>".repeat(40_000)),
        ("one long text", "do not seed phrase ".repeat(60_000)),
        ("one long attribute", format!("<p title='{}'>", "x seed phrase ".repeat(80_000))),
        ("open angle brackets", "< ".repeat(500_000)),
        ("many titles", format!("{}{}", "<title>a</title>".repeat(30_000), "<input id=a>".repeat(40_000))),
        ("nested labels without text", format!("{}{}", "<label>".repeat(100), "<wbr>".repeat(190_000))),
        (
            "long labels for one id",
            format!(
                "{}{}",
                format!("<label for=a>{}</label>", "x ".repeat(200)).repeat(4),
                "<input id=a>".repeat(70_000)
            ),
        ),
        ("lines", "a<br>".repeat(200_000)),
        ("places to edit in each other", "<div contenteditable>a".repeat(50_000)),
        ("logins", "<form><p>Card number<input><p>PIN<input type=password></form>".repeat(15_000)),
        ("tips", "<form title='x'><p title=Garden>x<input type=password></form>".repeat(15_000)),
        ("buttons", format!("<form>{}</form>", "<input><button>Copy it</button>".repeat(30_000))),
        ("notes", "<p>phrase<sup>1</sup>".repeat(40_000)),
        ("comments in comments", format!("{}-->", "<!--".repeat(250_000))),
    ];
    for (name, page) in pages {
        let began = Instant::now();
        assert_eq!(verdict(&format!("{page}</table>{ask}")).status, Blocked, "{name}");
        assert!(began.elapsed() < Duration::from_secs(10), "{name}: {:?}", began.elapsed());
    }
}

fn formatting() -> String {
    let opened: String = (0..2000).map(|n| format!("<b class={n}><font size={n}>")).collect();
    opened + &"<p>x".repeat(200_000)
}
