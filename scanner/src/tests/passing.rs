//! Pages that only look like requests.

use super::Status::Pass;

use super::assert_all;

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
            ("a script that shows a sample", "<script>pre.textContent = '<input name=seed_phrase>'</script>"),
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
            ("bird seed and a phrase book", "<label>Birdseed <input></label><label>Phrase <input></label>"),
            ("a public key", "<label>Public key <textarea></textarea></label>"),
        ],
    );
}

#[test]
fn invisible_text_is_no_request() {
    let form = "<label>Seed phrase<input></label>";
    assert_all(
        Pass,
        &[
            ("hidden for good", &format!("<div hidden>{form}</div>")),
            ("hidden by style", &format!("<style>.x{{display:none}}</style><div class=x>{form}</div>")),
            ("in a template that nothing uses", &format!("<template>{form}</template>")),
            ("in markup without scripts", &format!("<noscript>{form}</noscript>")),
            ("a lure that is hidden", "<p style='display:none'>PayPal</p><input type=password>"),
            ("a lure of no size", "<p style='font-size:0'>PayPal</p><input type=password>"),
        ],
    );
}

#[test]
fn mentioned_secrets_are_no_request() {
    let story = "<p>People who lose their wallet's recovery phrase lose what is in it, and nobody can help them. Write it down on paper and keep the paper where you keep other things that matter.</p>".repeat(10);
    assert_all(
        Pass,
        &[
            (
                "an article with a comment form",
                &format!(
                    "<article><h1>What is a seed phrase?</h1>{story}</article><form><textarea name=comment></textarea><button>Post comment</button></form>"
                ),
            ),
            ("an answer to a question", "<label>What is a seed phrase?<textarea></textarea></label>"),
            (
                "documentation with a search box",
                "<p>Open the app, tap Restore and enter your seed phrase.</p><input placeholder='Search docs'>",
            ),
            (
                "documentation with a comment",
                "<p>Open the app, tap Restore and enter your seed phrase.</p><textarea placeholder='Leave a comment'></textarea>",
            ),
            (
                "documentation with a question",
                "<p>Tap Restore and enter your seed phrase.</p><p>Was this helpful?</p><textarea></textarea><button>Send feedback</button>",
            ),
            (
                "a quiz with choices",
                "<h2>A page asks for your seed phrase. What do you do?</h2><label><input type=radio name=a> Enter your seed phrase</label><label>Why?<textarea></textarea></label>",
            ),
            ("a search box", "<input type=search placeholder='Seed phrase, private key …'>"),
            (
                "a warning beside a field",
                "<p>We will never ask for your seed phrase.</p><label>Message<textarea></textarea></label>",
            ),
            (
                "a login beside an article",
                "<article><h2>How PayPal was founded</h2><p>It was a bank of sorts.</p></article><aside><h3>Members</h3><input type=password></aside>",
            ),
            (
                "a donation link",
                "<h1>Chess club</h1><input type=password><a href=https://paypal.com/x>Donate with PayPal</a>",
            ),
            (
                "a generator",
                "<h1>Password generator</h1><p>For your bank, Google, PayPal.</p><input type=password><button>Generate</button><button>Copy</button>",
            ),
            ("twelve months", &format!("<h1>Budget</h1>{}", "<label>Sum<input></label>".repeat(12))),
            (
                "a library card",
                "<label>Library card number<input></label><label>Security code<input></label>",
            ),
            ("a gift card", "<label>Gift card number<input></label><label>PIN<input></label>"),
        ],
    );
}

#[test]
fn scripts_that_request_harmless_input_pass() {
    assert_all(
        Pass,
        &[
            ("a prompt for a name", "<script>const n = prompt('What is your name?')</script>"),
            ("an alert", "<input><script>alert('Seed phrase')</script>"),
            (
                "a prompt that warns",
                "<script>prompt('Never enter your seed phrase here. Your name:')</script>",
            ),
            (
                "a placeholder of a search",
                "<input id=q><script>q.placeholder = 'Search seed phrases'</script>",
            ),
            (
                "a placeholder that is only compared",
                "<script>if (e.placeholder === 'Seed phrase') go()</script>",
            ),
        ],
    );
}

#[test]
fn buttons_that_submit_nothing_are_no_request() {
    assert_all(
        Pass,
        &[
            ("copy", "<form><input><button>Copy seed phrase</button></form>"),
            ("show", "<form><input><button>Show private key</button></form>"),
            ("make", "<form><textarea></textarea><button>Generate seed phrase</button></form>"),
            ("back up", "<form><input><button>Back up your seed phrase</button></form>"),
            ("learn", "<form><input><button>Learn about seed phrases</button></form>"),
            ("no field", "<form><button>Verify seed phrase</button></form>"),
            ("a search", "<form><input type=search><button>Import seed phrase</button></form>"),
            ("a warning", "<form><input><button>Never send your seed phrase</button></form>"),
            ("a promise", "<form><input><button>I wrote down my seed phrase</button></form>"),
            (
                "a password for a key",
                "<form><input type=password placeholder=Passphrase><button>Unlock private key</button></form>",
            ),
            ("an address", "<form><input type=email><button>Send the seed phrase guide</button></form>"),
            (
                "another field",
                "<form><input placeholder='Your name'><button>Verify seed phrase</button></form>",
            ),
            (
                "a button of another part",
                "<input><h2>For wallets</h2><p>All you need.</p><button>Import seed phrase</button>",
            ),
        ],
    );
}

#[test]
fn names_that_merely_contain_a_lure_are_no_lures() {
    assert_all(
        Pass,
        &[
            ("a river", "<h1>RiverBank Rowing</h1><input type=password>"),
            ("a fruit", "<h1>PineApple Press</h1><input type=password>"),
            ("data", "<h1>DataBank</h1><input type=password>"),
            ("small letters", "<h1>snapple riverbank</h1><input type=password>"),
            (
                "an example of an address",
                "<form><input placeholder='you@gmail.com'><input type=password></form>",
            ),
            (
                "another login",
                "<input type=password><a href=/g title='Google'>G</a><button title='Apple'>A</button>",
            ),
            ("a sign of a shop", "<h1>Fernwood™ Outfitters¹</h1><input type=password>"),
            (
                "a drawing on a button",
                "<input type=password><button><svg><title>Google</title></svg>Continue with Google</button>",
            ),
            (
                "an address that is filled in",
                "<form><input type=email value='ada@gmail.com'><input type=password></form>",
            ),
            (
                "icons for later",
                "<svg><defs><symbol id=i><title>Google</title><path/></symbol></defs></svg><form><input type=password></form>",
            ),
            (
                "a button that opens another step",
                "<form><input placeholder='My savings'><button>Create</button><button>Import private key</button></form>",
            ),
            ("a hidden tip", "<div hidden><p title='PayPal'>x</p></div><input type=password>"),
        ],
    );
}
