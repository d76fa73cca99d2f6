//! Small pages, each named by what it is, with the verdict that it must get.

use std::time::{Duration, Instant};

use domain::ModerationStatus::{self, Blocked, Pass, Review};

use super::*;

fn verdict(html: &str) -> Verdict {
    scan(&[ScannedFile { path: "index.html", bytes: html.as_bytes() }])
}

fn assert_all(expected: ModerationStatus, pages: &[(&str, &str)]) {
    for (name, html) in pages {
        let verdict = verdict(html);
        assert_eq!(verdict.status, expected, "{name}: {:?}", verdict.findings);
    }
}

#[test]
fn pages_that_ask_for_a_seed_phrase_are_blocked() {
    assert_all(
        Blocked,
        &[
            (
                "a label for a field",
                "<form><label for=s>Seed phrase</label><p>x</p><textarea id=s></textarea></form>",
            ),
            ("a label around a field", "<form><label>Your recovery phrase: <input></label></form>"),
            ("a placeholder", "<form><input placeholder='Enter your 12-word seed phrase'></form>"),
            ("an aria-label", "<input aria-label='Secret Recovery Phrase'>"),
            (
                "an element that aria-labelledby names",
                "<b id=x>Mnemonic</b><p>Wallet</p><hr><input aria-labelledby='x y'>",
            ),
            ("a name in camel case", "<form><input name=seedPhrase></form>"),
            ("an id with underscores", "<form><textarea id=recovery_phrase></textarea></form>"),
            ("the text before the field", "<p>Please enter your seed phrase:</p><input>"),
            ("the text before it in the same line", "Hello. Your seed phrase: <input type=text>"),
            ("the text behind it", "<form><input> seed phrase</form>"),
            ("the cell before it", "<table><tr><td>Seed phrase</td><td><input></td></tr></table>"),
            (
                "the heading of its form",
                "<form><h2>Import seed phrase</h2><p>Twelve words</p><textarea></textarea></form>",
            ),
            ("a password field", "<form><label>Seed phrase <input type=password></label></form>"),
            ("a phrase that tags split", "<label>Seed <b>phr</b>ase <input></label>"),
            ("a phrase over two lines in capitals", "<label>SEED\n  PHRASE<input></label>"),
            ("a phrase in entities", "<label>&#83;eed&nbsp;phr&#x61;se<input></label>"),
            ("an editable element", "<p>Your secret phrase</p><div contenteditable></div>"),
            ("markup that never closes", "<form><label>Seed phrase<textarea>"),
            ("markup in the wrong place", "<table><form><label>Seed phrase<input></label></table>"),
            (
                "a form in a declared shadow root",
                "<div><template shadowrootmode=open><input name=seed-phrase></template></div>",
            ),
            (
                "a field that unlocks when touched",
                "<input readonly onfocus='this.readOnly=0' placeholder='Seed phrase'>",
            ),
            ("an unknown input type", "<input type=seed placeholder='seed phrase'>"),
            ("a form after an SVG style", "<svg><style><p><input name=seed_phrase></p></svg>"),
            ("advice after the question", "<label>Seed phrase (do not add spaces) <input></label>"),
        ],
    );
}

#[test]
fn pages_that_ask_for_a_private_key_are_blocked() {
    assert_all(
        Blocked,
        &[
            ("a label", "<form><label>Private key <input type=password></label></form>"),
            ("a name", "<form><textarea name=private_key></textarea></form>"),
            ("a name in one word", "<form><input name=privatekey></form>"),
            ("a placeholder outside of any form", "<input placeholder='Paste your private key'>"),
        ],
    );
}

#[test]
fn pages_that_ask_for_a_card_with_its_cvv_are_blocked() {
    assert_all(
        Blocked,
        &[
            ("labels", "<form><label>Card number <input></label><label>CVV <input></label></form>"),
            ("autocomplete", "<form><input autocomplete=cc-number><input autocomplete='cc-csc'></form>"),
            ("names", "<form><input name=cardNumber type=tel><input name=cvc type=number></form>"),
            ("fields outside of forms", "<p>Credit card number</p><input><p>Security code</p><input>"),
            ("the form attribute", "<form id=f><input name=cardnumber></form><input name=cvv2 form=f>"),
        ],
    );
}

#[test]
fn pages_with_a_password_near_a_lure_are_reviewed() {
    assert_all(
        Review,
        &[
            ("a brand in a heading", "<h1>Sign in to PayPal</h1><form><input type=password></form>"),
            ("a brand in the title", "<title>Google Accounts</title><form><input type=password></form>"),
            ("a brand in an alternative text", "<img src=l.png alt='Microsoft'><input type=password>"),
            ("a brand in the possessive", "<p>Apple’s login</p><input type=PASSWORD>"),
            ("a bank", "<p>Your bank asks you to log in</p><input type=password>"),
            ("a wallet", "<p>Unlock wallet</p><input type=password>"),
            ("urgency", "<p>Please verify\n <i>your</i> account</p><input type=password>"),
            (
                "urgency on a button",
                "<form><input type=password><input type=submit value='Verify your account'></form>",
            ),
            ("a brand below the field", "<input type=password><footer>Coinbase</footer>"),
        ],
    );
}

#[test]
fn honest_pages_pass() {
    assert_all(
        Pass,
        &[
            ("an empty page", ""),
            ("plain text", "Hello"),
            (
                "an article about phishing",
                "<h1>Phishing</h1><p>They ask for your seed phrase, private key, card number and CVV, and pretend to be PayPal. Verify your sender.</p>",
            ),
            (
                "an article with a newsletter",
                "<p>Never type in your seed phrase.</p><form><input type=email placeholder=E-mail></form>",
            ),
            (
                "an article with a search box",
                "<h1>What is a seed phrase?</h1><input type=search><h1>Seed phrase</h1><input name=q>",
            ),
            (
                "a warning beside a field",
                "<p>Never share your seed phrase</p><input placeholder='Your name'>",
            ),
            (
                "a title above a comment field",
                "<title>Seed phrase</title><textarea placeholder=Comment></textarea>",
            ),
            (
                "long prose above a comment field",
                "<p>In the garden we had a long talk about birds and about what a seed phrase might mean to someone who grows flowers and not money</p><textarea></textarea>",
            ),
            ("an escaped sample", "<pre>&lt;input name=seed_phrase&gt;</pre><input name=comment>"),
            ("a sample in a textarea", "<textarea><input name=seed_phrase></textarea>"),
            ("a comment", "<!-- <input name=seed_phrase> --><p>Hi</p>"),
            ("a template", "<template><input name=seed_phrase></template>"),
            ("a script", "<script>s = '<input name=seed_phrase>'</script>"),
            ("a style", "<style>/* <input name=seed_phrase> */</style>"),
            ("a hidden field", "<form><input type=hidden name=seed_phrase></form>"),
            ("a box to tick", "<label><input type=checkbox> I have stored my seed phrase</label>"),
            ("a quiz", "<p>What keeps a wallet safe?</p><label><input type=radio> The seed phrase</label>"),
            ("a key generator", "<label>Private key <textarea readonly></textarea></label>"),
            ("a field that is out of use", "<input disabled name=private_key>"),
            ("a login", "<h1>Sign in</h1><form><input name=user><input type=password></form>"),
            ("a login of a fruit shop", "<h1>Pineapple grapples at Googleplex</h1><input type=password>"),
            ("a brand without a password", "<h1>PayPal</h1><form><input name=amount></form>"),
            ("a brand in a comment", "<!-- PayPal --><input type=password>"),
            ("a brand in a script", "<script>paypal()</script><input type=password>"),
            ("a card number alone", "<form><label>Card number <input></label></form>"),
            ("a code alone", "<form><label>Security code <input></label></form>"),
            (
                "a card and a code in different forms",
                "<form><input name=card_number></form><form><input name=cvv></form>",
            ),
            ("bird seed and a phrase book", "<label>Birdseed <input></label><label>Phrase <input></label>"),
            ("a public key", "<label>Public key <textarea></textarea></label>"),
        ],
    );
}

#[test]
fn a_page_is_told_by_its_content_and_not_by_its_name() {
    let html = b"\xef\xbb\xbf<form><input name=seed_phrase></form>";
    for path in ["a.txt", "img/logo.png", "deep/down/page", "x.svg", "app.js", "Größe.html"] {
        assert_eq!(scan(&[ScannedFile { path, bytes: html }]).status, Blocked, "{path}");
    }
    let code = b"render('<form><input name=seed_phrase></form>')";
    for path in ["app.js", "data.json", "style.css"] {
        assert_eq!(scan(&[ScannedFile { path, bytes: code }]).status, Pass, "{path}");
    }
    assert_eq!(scan(&[ScannedFile { path: "notes.txt", bytes: code }]).status, Blocked);
}

#[test]
fn bytes_that_are_not_utf8_are_read_all_the_same() {
    let html = b"<p>\xff\xfe caf\xe9</p><label>Seed phrase \xe9<input></label>\x00\xc3";
    assert_eq!(scan(&[ScannedFile { path: "index.html", bytes: html }]).status, Blocked);
}

#[test]
fn the_worst_file_decides_and_the_evidence_names_it() {
    let login = "<h1>My Bank</h1><form><input type=password name=pin></form>";
    let verdict = scan(&[
        ScannedFile { path: "index.html", bytes: login.as_bytes() },
        ScannedFile { path: "about.html", bytes: b"<p>Hello</p>" },
        ScannedFile {
            path: "w/restore.html",
            bytes: b"<form><textarea id=p name='seed phrase'></textarea></form>",
        },
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
fn pages_do_not_lend_each_other_their_words() {
    let verdict = scan(&[
        ScannedFile { path: "login.html", bytes: b"<input type=password>" },
        ScannedFile { path: "pay.html", bytes: b"<p>We take PayPal</p><input name=amount>" },
    ]);
    assert_eq!(verdict, Verdict { status: Pass, findings: vec![] });
}

#[test]
fn evidence_is_bounded() {
    let many = "<input name=private_key>".repeat(1000);
    assert_eq!(verdict(&many).findings.len(), FINDINGS_MAX);
}

/// Pages of about a megabyte that are built to take a reader's time or stack. The bound is wide, and far below what
/// any of them would take if its time grew with the square of its size.
#[test]
fn hostile_pages_take_neither_the_stack_nor_the_time() {
    let ask = "<input name=seed_phrase>";
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

#[test]
fn a_byte_order_mark_says_how_a_page_is_written() {
    let page = "<!doctype html><form><label>Seed phrase <input name=seed></label></form>";
    let little: Vec<u8> =
        [0xfeff].into_iter().chain(page.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = [0xfeff].into_iter().chain(page.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    let marked: Vec<u8> = [0xef, 0xbb, 0xbf].into_iter().chain(page.bytes()).collect();
    for bytes in [little, big, marked] {
        assert_eq!(scan(&[ScannedFile { path: "index.html", bytes: &bytes }]).status, Blocked);
    }
}
