//! Where a thing is to be entered, and the texts of fields and buttons for other things.

use super::super::lures;
use super::Hint::*;
use super::Thing::*;
use super::*;

#[test]
fn secret_to_be_entered_elsewhere_is_only_a_mention() {
    assert_each(
        "mentioned",
        &[
            (SeedPhrase, "Enter your seed phrase in the app"),
            (SeedPhrase, "Enter your seed phrase in the wallet app."),
            (SeedPhrase, "Enter your seed phrase on your device"),
            (SeedPhrase, "Enter your seed phrase into the hardware wallet"),
            (SeedPhrase, "Enter your seed phrase in new Ledger"),
            (PrivateKey, "Put your private key in .env"),
            (PrivateKey, "Import your private key with --key"),
            (SeedPhrase, "Type your seed phrase in your terminal"),
            (SeedPhrase, "Enter your seed phrase in the extension settings"),
            (SeedPhrase, "Geben Sie Ihre Seed-Phrase in der App ein"),
            (SeedPhrase, "Saisissez votre phrase de récupération dans l'application"),
            (SeedPhrase, "Introduce tu frase semilla en la aplicación"),
            (SeedPhrase, "Digite sua frase semente no aplicativo"),
            (SeedPhrase, "Voer je herstelzin in de app in"),
            (SeedPhrase, "Введите сид-фразу в приложении"),
            (SeedPhrase, "在设备上输入助记词"),
        ],
        |sense| sense == Some(Sense::Mentioned),
    );
    assert_requested(&[
        (SeedPhrase, "Open the app, tap Restore and enter your seed phrase."),
        (SeedPhrase, "Enter your seed phrase in this app"),
        (SeedPhrase, "Enter your seed phrase in the app below"),
        (SeedPhrase, "Enter your seed phrase in the box"),
        (SeedPhrase, "Enter your seed phrase to restore your wallet on your device"),
        (SeedPhrase, "Enter the seed phrase of your device"),
        (SeedPhrase, "Geben Sie unten Ihre Seed-Phrase in der App ein"),
    ]);
}

#[test]
fn secret_denied_elsewhere_but_wanted_here_is_a_request() {
    assert_requested(&[
        (SeedPhrase, "Never enter your seed phrase elsewhere. Enter it only here:"),
        (SeedPhrase, "Do not share your seed phrase with anyone but us. Type it below."),
        (SeedPhrase, "Never share your seed phrase with others. Paste it in the field below."),
    ]);
    assert_talk(&[
        (SeedPhrase, "Never share your seed phrase. Enter your name below."),
        (SeedPhrase, "Never share your seed phrase. Do not type it here."),
        (SeedPhrase, "Never share your seed phrase. Keep it safe."),
        (SeedPhrase, "Never share your seed phrase. Enter it only on your device."),
    ]);
}

#[test]
fn labels_may_name_the_owner_of_the_secret() {
    assert_named(&[
        (PrivateKey, "Private key of the holder"),
        (SeedPhrase, "Seed phrase of the owner"),
        (PrivateKey, "Private key (.pem or wallet.dat)"),
    ]);
    assert_talk(&[(SeedPhrase, "Seed phrase holder")]);
}

#[test]
fn short_names_of_cards_keys_and_phrases_are_detected() {
    assert_asked(&[
        (CardNumber, "Card #"),
        (CardNumber, "Card #:"),
        (CardNumber, "Card No"),
        (CardNumber, "Card nr"),
        (CardNumber, "Your card details"),
        (CardNumber, "Card details"),
        (CardCode, "CVN"),
        (CardCode, "CID"),
        (CardNumber, "信用卡号"),
        (CardCode, "信用卡验证码"),
        (CardCode, "信用卡号和验证码"),
        (MaybePrivateKey, "Upload your keystore file"),
        (PrivateKey, "Paste your xprv / WIF"),
        (SeedPhrase, "Paste the twelve words from your backup card"),
        (SeedPhrase, "Enter the words you wrote on paper when you set up your Ledger"),
        (SeedPhrase, "Recovery card"),
    ]);
    assert_none(&[(CardNumber, "Gift card details"), (CardCode, "验证码")]);
}

#[test]
fn enclosed_and_non_latin_letters_are_read() {
    assert_asked(&[
        (SeedPhrase, "🅢🅔🅔🅓 🅟🅗🅡🅐🅢🅔"),
        (SeedPhrase, "🆂🅴🅴🅳 🅿🅷🆁🅰🆂🅴"),
        (SeedPhrase, "🇸🇪🇪🇩 🇵🇭🇷🇦🇸🇪"),
        (SeedPhrase, "🇸\u{200b}🇪\u{200b}🇪\u{200b}🇩 phrase"),
        (SeedPhrase, "ᏚᎬᎬᎠ phrase"),
        (SeedPhrase, "ꮪꭼꭼꭰ phrase"),
    ]);
    assert!(Text::of("🇩🇪").is_empty());
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn messages_and_buttons_are_no_secrets() {
    let has = |texts: &[&str], hint: Hint, is_wanted: bool| {
        let wrong: Vec<&&str> = texts.iter().filter(|text| Text::of(text).has(hint) != is_wanted).collect();
        assert!(wrong.is_empty(), "{hint:?} {is_wanted}: {wrong:?}");
    };
    let messages = [
        "Message",
        "Write a message",
        "Type a message…",
        "Reply",
        "Chat",
        "Ask us anything",
        "Type here to chat",
        "Nachricht schreiben",
        "Écrivez un message",
        "Escribe un mensaje",
        "Digite uma mensagem",
        "Scrivi un messaggio",
        "Typ een bericht",
        "Napisz wiadomość",
        "Введите сообщение",
        "Mesaj yazın",
        "メッセージを入力",
        "输入消息",
    ];
    has(&messages, Message, true);
    has(&messages, OtherValue, true);
    let buttons = [
        "Post",
        "Post reply",
        "Add",
        "+ Add task",
        "Send feedback",
        "Comment",
        "Publish",
        "Subscribe",
        "Filter",
        "Define",
        "Explain",
        "Was this helpful?",
        "Hinzufügen",
        "Publier",
        "Añadir",
        "Adicionar",
        "Aggiungi",
        "Toevoegen",
        "Dodaj",
        "Добавить",
        "Ekle",
        "追加",
        "添加",
    ];
    has(&buttons, OtherValue, true);
    has(
        &["Add your seed phrase", "Enter your seed phrase", "Filter, then enter the words"],
        OtherValue,
        false,
    );
    has(&["Enter your seed phrase"], Message, false);
    has(&["Define: seed phrase", "Explain the private key"], Talk, true);
    has(&["Define: seed phrase", "Vocabulary of the week"], Quiz, true);
    assert_talk(&[(SeedPhrase, "Define: seed phrase"), (PrivateKey, "Explain the private key")]);
}

#[test]
fn people_places_and_purposes_are_no_lures() {
    let read = |text: &&str| !lures(&Text::of(text)).is_empty();
    let wrong: Vec<&str> = [
        "Mr. Banks",
        "Ask Mr. Banks about the garden",
        "Red Bank High School",
        "Detroit Land Bank",
        "ex-Microsoft engineer",
        "Independent Apple repair",
        "You will get a mail to verify your address",
        "Google Docs lets several people write",
        "A bright outlook for the year",
    ]
    .into_iter()
    .filter(read)
    .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let missing: Vec<&str> = [
        "Outlook",
        "Sign in to Outlook",
        "Outlook mail",
        "Google Docs",
        "Verify your address",
        "Use this link to verify your account",
        "Sign in at Microsoft",
        "Dear Microsoft user",
        "Verify your email",
    ]
    .into_iter()
    .filter(|text| !read(text))
    .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
