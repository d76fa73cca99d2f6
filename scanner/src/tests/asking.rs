//! Pages that ask for something, in every way that browsers support.

use super::Status::{Blocked, Review};

use super::assert_all;

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
            (
                "a label in pieces that aria-labelledby puts together",
                "<i id=a>Seed</i> <b>and then the</b> <i id=b>phrase</i><hr><input aria-labelledby='a b'>",
            ),
            ("a name in camel case", "<form><input name=seedPhrase></form>"),
            ("an id with underscores", "<form><textarea id=recovery_phrase></textarea></form>"),
            ("the text before the field", "<p>Please enter your seed phrase:</p><input>"),
            ("the text before it in the same line", "Hello. Your seed phrase: <input type=text>"),
            ("the text behind it", "<form><input> seed phrase</form>"),
            (
                "the text behind it, each in a box of their own",
                "<h2>Restore</h2><div><input name=a><span>E-mail</span></div><div><input name=b><span>Seed phrase</span></div>",
            ),
            ("the cell before it", "<table><tr><td>Seed phrase</td><td><input></td></tr></table>"),
            (
                "the heading of its form",
                "<form><h2>Import seed phrase</h2><p>Twelve words</p><textarea></textarea></form>",
            ),
            ("a password field", "<form><label>Seed phrase <input type=password></label></form>"),
            ("a phrase that tags split", "<label>Seed <b>phr</b>ase <input></label>"),
            ("a phrase over two lines in capitals", "<label>SEED\n  PHRASE<input></label>"),
            ("a phrase in entities", "<label>&#83;eed&nbsp;phr&#x61;se<input></label>"),
            ("an editable element", "<p>Your recovery phrase</p><div contenteditable></div>"),
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
            (
                "labels that float behind their fields",
                "<h2>Pay</h2><div><input name=n><i>Name on card</i></div><div><input name=a><i>Card number</i></div><div><input name=b><i>CVV</i></div>",
            ),
            (
                "labels at the heads of columns",
                "<table><tr><th>Card number<th>Expiry<th>CVV<tr><td><input name=a><td><input name=b><td><input name=c></table>",
            ),
            ("labels", "<form><label>Card number <input></label><label>CVV <input></label></form>"),
            ("autocomplete", "<form><input autocomplete=cc-number><input autocomplete='cc-csc'></form>"),
            ("names", "<form><input name=cardNumber type=tel><input name=cvc type=number></form>"),
            ("fields outside of forms", "<p>Credit card number</p><input><p>Security code</p><input>"),
            ("two steps", "<form><input name=card_number></form><form><input name=cvv></form>"),
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

const BOX: &str = "<input autocomplete=off>";

#[test]
fn seed_phrase_requested_word_by_word_is_found() {
    let boxes = BOX.repeat(12);
    let numbered: String = (1..=24).map(|number| format!("<label>{number}. <input></label>")).collect();
    let steps: String = (0..3)
        .map(|step| {
            format!(
                "<div class=s id=s{step} style='display:none'>{}<button>Next</button></div>",
                BOX.repeat(4)
            )
        })
        .collect();
    assert_all(
        Blocked,
        &[
            ("twelve bare boxes", &format!("<h2>Recovery phrase</h2><p>One word a box</p>{boxes}")),
            ("twenty-four numbers", &format!("<title>Restore your wallet</title>{numbered}")),
            (
                "boxes over three steps",
                &format!(
                    "<h1>Restore your crypto wallet</h1>{steps}<p>Check each word of your recovery phrase.</p><script>document.getElementById('s0').style.display='block'</script>"
                ),
            ),
        ],
    );
}

#[test]
fn fields_hidden_until_a_script_shows_them_are_detected() {
    let step = "<div id=two style='display:none'><p>Enter your seed phrase</p><textarea></textarea></div>";
    let template = "<template id=t><label>Seed phrase<textarea></textarea></label></template>";
    assert_all(
        Blocked,
        &[
            (
                "a second step",
                &format!("{step}<script>document.getElementById('two').hidden = false</script>"),
            ),
            (
                "a template in use",
                &format!("{template}<script>document.body.append(t.content.cloneNode(true))</script>"),
            ),
            (
                "a handler in an attribute",
                &format!("{step}<button onclick=\"two.style.display='block'\">Next</button>"),
            ),
        ],
    );
}

#[test]
fn requests_are_found_wherever_visitors_read_them() {
    assert_all(
        Blocked,
        &[
            (
                "in a chat",
                "<div>Hello! How can I help?</div><div>Please type your recovery phrase here.</div><form><input placeholder='Write a message'></form>",
            ),
            (
                "around an example",
                "<p>Enter your seed phrase</p><textarea placeholder='apple river stone …'></textarea>",
            ),
            (
                "in generated text",
                "<style>.a::before{content:'Seed phrase'}</style><p class=a></p><textarea></textarea>",
            ),
            ("in a picture's text", "<img src=a.png alt='Enter your seed phrase'><textarea></textarea>"),
            ("over the end of a line", "<p>Enter your seed<br>phrase</p><input>"),
            (
                "in a box that only its name makes a search box",
                "<form><label>Seed phrase <input name=q></label></form>",
            ),
            ("in a field for telephone numbers", "<p>Enter your seed phrase</p><input type=tel>"),
            (
                "in a script of no known kind",
                "<script type='text/template' id=a><label>Seed phrase<input></label></script><script>b.innerHTML = document.getElementById('a').innerHTML</script>",
            ),
            (
                "in a script from a data address",
                "<script src='data:text/javascript,document.write(%22<input name=seed_phrase>%22)'></script>",
            ),
            (
                "in letters set one by one",
                "<div>S</div><div>e</div><div>e</div><div>d</div><p>Seed phrase</p><input>",
            ),
            ("read from its end", "<label><bdo dir=rtl>esarhp deeS</bdo><input></label>"),
            (
                "turned by a style",
                "<style>i{unicode-bidi:bidi-override;direction:rtl}</style><label><i>esarhp deeS</i><input></label>",
            ),
            ("turned by a sign", "<label>\u{202e}esarhp deeS\u{202c}<input></label>"),
            (
                "between hidden letters",
                "<label>Se<span hidden>x</span>ed phr<i style='font-size:0'>y</i>ase<input></label>",
            ),
            (
                "for readers of the screen only",
                "<style>.s{position:absolute;left:-9999px}</style><label for=a class=s>Seed phrase</label><input id=a>",
            ),
            (
                "in a drawing",
                "<svg><foreignObject><body xmlns='http://www.w3.org/1999/xhtml'><label>Seed phrase<input></label></body></foreignObject></svg>",
            ),
            ("with a code in one field", "<input placeholder='Card number, expiry, CVV'>"),
            ("by the look of the number", "<input placeholder='1234 5678 9012 3456'><input placeholder=CVC>"),
            ("beside fields for numbers", "<p>Card number</p><input type=tel><p>CVV</p><input type=number>"),
        ],
    );
}

#[test]
fn password_fields_are_detected_by_appearance() {
    assert_all(
        Review,
        &[
            ("dots by style", "<h1>PayPal</h1><input style='-webkit-text-security:disc'>"),
            (
                "dots by class",
                "<style>.p{-webkit-text-security:square}</style><h1>PayPal</h1><input class=p>",
            ),
            ("what a manager fills in", "<h1>PayPal</h1><input autocomplete=current-password>"),
            (
                "keys drawn on the page",
                "<h1>My Bank</h1><input type=password readonly><button>1</button><button>2</button>",
            ),
            ("a login in the navigation", "<nav><b>Your bank account</b><input type=password></nav>"),
            ("a name in the imprint", "<input type=password><footer>© 2026 Microsoft</footer>"),
        ],
    );
}

#[test]
fn placeholders_set_by_scripts_count_as_requests() {
    assert_all(
        Blocked,
        &[
            (
                "a short placeholder",
                "<input id=x><script>document.getElementById('x').placeholder = 'Seed phrase'</script>",
            ),
            (
                "a placeholder that is set as an attribute",
                "<input id=x><script>x.setAttribute('placeholder', 'Private key')</script>",
            ),
            (
                "placeholders of a card and its code",
                "<input id=n><input id=c><script>n.placeholder = 'Card number'; c.placeholder = 'CVV'</script>",
            ),
            ("a prompt", "<script>const s = prompt('Enter your seed phrase')</script>"),
            ("a prompt that only names it", "<script>send(window.prompt('Recovery phrase'))</script>"),
        ],
    );
}

#[test]
fn mark_after_a_word_hides_nothing() {
    let marks = [
        "¹",
        "²",
        "₁",
        "™",
        "℠",
        "®",
        "①",
        "⑴",
        "❶",
        "ª",
        "1",
        "TM",
        "ᵃ",
        "†",
        "<sup>1</sup>",
        "<sup>[2]</sup>",
    ];
    let more = [
        "<sup>TM</sup>",
        "<sub>3</sub>",
        "<sup>a</sup>",
        "<sup><a href=#n>12</a></sup>",
        "&trade;",
        "&sup1;",
    ];
    for mark in marks.into_iter().chain(more) {
        let phrase = format!("<form>Seed phrase{mark}<input></form>");
        let key = format!("<form><label>Private key{mark} <input></label></form>");
        let card = format!("<form>Card number{mark} <input> CVV{mark}<input></form>");
        assert_all(Blocked, &[(&phrase, &phrase), (&key, &key), (&card, &card)]);
        let brand = format!("<h1>PayPal{mark}</h1><input type=password>");
        let bank = format!("<p>Bank{mark} login</p><input type=password>");
        assert_all(Review, &[(&brand, &brand), (&bank, &bank)]);
    }
}

#[test]
fn a_mark_may_stand_before_a_word_or_in_the_middle_of_a_name() {
    assert_all(
        Blocked,
        &[
            ("before the first word", "<form>¹Seed phrase<input></form>"),
            ("a step in a ring", "<form>②Private key<input></form>"),
            ("between the words", "<form>Seed¹ phrase²<input></form>"),
            ("a sign between the words", "<form>Seed<sup>™</sup> phrase<input></form>"),
            ("a letter of another kind that looks like a colon", "<form>Seed phraseː<input></form>"),
            ("behind a number", "<form>24-word¹ seed phrase<input></form>"),
            ("digits of full width", "<form>Your ２４ word seed phrase<input></form>"),
            ("a word in Cyrillic letters", "<form>Приватный ключ¹<input></form>"),
            ("a word without spaces", "<form>シードフレーズ¹<input></form>"),
            ("a number that is part of the label", "<form>Nº de tarjeta <input> CVV <input></form>"),
        ],
    );
}

#[test]
fn superscript_letters_are_read_as_letters() {
    assert_all(
        Blocked,
        &[
            ("above the line", "<form>ˢᵉᵉᵈ ᵖʰʳᵃˢᵉ<input></form>"),
            ("above the line by markup", "<form>S<sup>e</sup>ed phr<sup>a</sup>se<input></form>"),
            ("a letter that might be a sign", "<form>Seed ph<sup>r</sup>ase<input></form>"),
            ("below the line by markup", "<form>P<sub>r</sub>ivate key<input></form>"),
            ("in rings", "<form>ⓢⓔⓔⓓ ⓟⓗⓡⓐⓢⓔ<input></form>"),
            ("in brackets", "<form>⒮⒠⒠⒟ phrase<input></form>"),
        ],
    );
    assert_all(
        Review,
        &[
            ("a number of the brand", "<h1>MICROSOFT365</h1><input type=password>"),
            ("the same above the line", "<h1>MICROSOFT³⁶⁵</h1><input type=password>"),
            ("a digit that stands for a letter", "<h1>PayPa1</h1><input type=password>"),
            ("the same above the line", "<h1>PayPa¹</h1><input type=password>"),
            ("letters of another script behind it", "<h1>PayPal에 로그인</h1><input type=password>"),
        ],
    );
}

#[test]
fn button_text_names_what_is_submitted() {
    assert_all(
        Blocked,
        &[
            ("a submit button", "<form><input><input type=submit value='Send seed phrase'></form>"),
            ("a button", "<form><textarea></textarea><button>Verify seed phrase</button></form>"),
            ("a private key", "<form><input type=password><button>Import private key</button></form>"),
            ("outside of forms", "<div><textarea></textarea><button>Submit recovery phrase</button></div>"),
            ("German", "<form><textarea></textarea><button>Seed-Phrase bestätigen</button></form>"),
            (
                "an empty prompt",
                "<form><textarea placeholder='Enter here'></textarea><button>Restore from seed phrase</button></form>",
            ),
        ],
    );
}

#[test]
fn lures_are_found_in_element_labels() {
    assert_all(
        Review,
        &[
            ("the field before", "<form><input placeholder='Google account'><input type=password></form>"),
            ("a field without a form", "<input placeholder='PayPal ID'><input type=password>"),
            (
                "beside somebody's address",
                "<form><input placeholder='Google account (you@example.com)'><input type=password></form>",
            ),
            ("the name of a field", "<form><input aria-label='Apple ID'><input type=password></form>"),
            ("a tip", "<div title='PayPal'>Log in</div><form><input type=password></form>"),
            (
                "a name for readers of the screen",
                "<span role=img aria-label='Microsoft'></span><input type=password>",
            ),
            (
                "the title of a drawing",
                "<svg><title>PayPal</title><path d='M0 0'/></svg><form><input type=password></form>",
            ),
            ("words set apart by capitals", "<h1>PayPalLogin</h1><input type=password>"),
            ("a bank in capitals", "<h1>SecureBank</h1><input type=password>"),
            ("a wallet in capitals", "<title>MyWallet</title><input type=password>"),
            ("a number behind a brand", "<h1>Google1</h1><input type=password>"),
        ],
    );
}
