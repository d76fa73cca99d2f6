//! Floods of text, for the normalization of characters and the search for requests.

use super::{Flood, file, page};

const END: &str = "<form><label>Enter your seed phrase <textarea name=seed></textarea></label></form>";
const LOGIN: &str = "<input type=password>";

pub fn floods() -> Vec<Flood> {
    vec![
        page("words", "<p>", "morning river house {n} ", END),
        page("one word", "<p>", "morningriverhouse", END),
        page("requests", "<p>", "Enter your seed phrase. ", END),
        page("requests without an end", "<p>", "enter your seed phrase ", END),
        page("one word of requests", "<p>", "seedphraseprivatekeycardnumbercvv", END),
        page("words joined by hyphens", "<p>", "card-number-cvv-", END),
        page("warnings", "<p>", "never don't do not nobody will ever ask ", END),
        page("questions", "<p>", "what is? how does? why! ", END),
        page("lures", LOGIN, "paypal google apple bank wallet verify your ", LOGIN),
        page("what is no lure", LOGIN, "pineapple river bank apple pie leather wallet ", LOGIN),
        page("letters that look alike", "<p>", "ѕееd рhrаsе раураl ", END),
        page("digits that look like letters", LOGIN, "s33d phr4s3 paypa1 g00gle rnicrosoft ", LOGIN),
        page("letters apart", "<p>", "s e e d  p h r a s e  ", END),
        page("letters with dots", "<p>", "s.e.e.d p-h-r-a-s-e ", END),
        page("one row of single letters", "<p>", "a b ", END),
        page("what has no width", "<p>", "s\u{200b}e\u{ad}e\u{2060}d\u{feff} ", END),
        page("nothing but what has no width", "<p>", "\u{200b}\u{ad}\u{202e}\u{e0061}", END),
        page("marks upon one letter", "<p>a", "\u{301}\u{316}\u{327}", END),
        page("signs that stand for many", "<p>", "\u{fdfa}", END),
        page("signs that stand for many, apart", "<p>", "\u{fdfa} \u{3300}\u{33ff} ", END),
        page("mathematical letters", "<p>", "𝐬𝐞𝐞𝐝 𝓹𝓱𝓻𝓪𝓼𝓮 ｐａｙｐａｌ ", END),
        page("Korean in pieces", "<p>", "\u{1112}\u{1161}\u{11ab}", END),
        page("Chinese and Japanese", "<p>", "请输入您的助记词秘密鍵を入力", END),
        page("Russian and Turkish", "<p>", "введите сид-фразу güvenlik kodu İıŞş ", END),
        page("German in one word", "<p>", "wiederherstellungsphrasenkreditkartennummer", END),
        page("numbers", "<p>", "1. 2) #3 12 24 ", END),
        page("signs", "<p>", ".?!:;,-()[]*", END),
        page("lines", "<pre>", "a\n", END),
        page("words in pieces", "<p>", "<b>se</b>ed <i>phr</i>ase ", END),
        page("a title", "<title>", "Enter your seed phrase ", "</title><input>"),
        page("headings", "", "<h1>Restore your wallet {n}</h1><input>", END),
        page("names of fields", "", "<input name=seedPhraseWordCardNumberCvv{n}>", END),
        page("one name of a field", "<input name=", "seedPhraseWord", ">"),
        file("a text alone", "notes.txt", "Enter your seed phrase: "),
    ]
}
