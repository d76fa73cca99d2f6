//! Ambiguous nouns, reported speech, and the words around a thing.

use super::super::{lures, possible_lures};
use super::Hint::*;
use super::Thing::*;
use super::*;

fn each(texts: &[&str], is_right: impl Fn(&Text) -> bool) {
    let wrong: Vec<String> = texts
        .iter()
        .map(|text| (text, Text::of(text)))
        .filter(|(_, read)| !is_right(read))
        .map(|(text, read)| format!("{text}: {:?}, maybe {:?}", lures(&read), possible_lures(&read)))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_bank_an_apple_or_a_wallet_in_passing_is_only_a_possible_lure() {
    each(
        &[
            "The bank is soft after rain",
            "Best lure from the bank?",
            "Planting a bank",
            "Mälarbanken",
            "Die neue Nordhafenbank",
            "Sign in to Meadow Bank Nursery",
            "Banco plegable",
            "Ihre Bank ist unterwegs",
            "Is there a bank near the harbour?",
            "I lost my wallet",
            "De bank wordt donderdag bezorgd",
            "Há um banco perto do porto?",
            "Банку закрыть крышкой",
            "This wallet holds six cards",
            "Cüzdan ve kemer",
            "革のウォレット",
            "Pick the apple by hand",
        ],
        |text| lures(text).is_empty() && !possible_lures(text).is_empty(),
    );
}

#[test]
fn institutions_are_detected_by_name_and_by_their_accounts() {
    each(
        &[
            "First National Bank",
            "Banco Serrano",
            "Commerzbank",
            "Bank of Ireland",
            "Welcome to Serrano Bank",
            "Your bank account",
            "Online banking",
            "Bank login",
            "Bank",
            "My bank",
            "Wallet",
            "Apple",
            "Apple ID",
            "Your Apple account",
            "Sign in to Apple",
            "Connect your wallet",
            "Unlock your wallet to continue",
            "Your wallet balance",
            "Votre banque vous protège",
            "La tua banca",
            "Banca en línea",
            "Internet banking",
            "Melden Sie sich bei Ihrer Bank an: Onlinebanking",
            "Ваш банк",
            "您的钱包",
            "ウォレットを接続",
        ],
        |text| !lures(text).is_empty(),
    );
}

#[test]
fn unrelated_contexts_are_recognized_in_many_languages() {
    each(
        &[
            "Fishing from the river bank",
            "Apple cider and apple pie",
            "Leather goods",
            "Gartenbank aus Eiche",
            "Pommes du verger",
            "Banco de pesas",
            "Maçãs do pomar",
            "Panchina da giardino",
            "Tuinbank en kussens",
            "Skórzane torebki",
            "Яблоки из нашего сада",
            "Deri çanta",
            "革製品の店",
            "真皮手提包",
            "Food bank volunteers",
        ],
        |text| text.has(Elsewhere),
    );
    each(
        &[
            "Sign in to your account",
            "Ihre Bank",
            "Connect your wallet",
            "请验证您的账户",
            "Mode sombre",
            "Rio de Janeiro",
        ],
        |text| !text.has(Elsewhere),
    );
}

#[test]
fn requests_in_quotation_marks_are_reported_speech() {
    assert_talk(&[
        (SeedPhrase, "凡是网页上写着“请输入助记词”的，都请立刻关闭。"),
        (SeedPhrase, "A page that says “Please enter your seed phrase” wants your money."),
        (SeedPhrase, "Seiten, auf denen „Bitte geben Sie Ihre Seed-Phrase ein“ steht, sind gefährlich."),
        (SeedPhrase, "Si une page affiche « Saisissez votre phrase de récupération », fermez cet onglet."),
        (PrivateKey, "Se un sito scrive \"inserisci la tua chiave privata\" chiudi la pagina."),
        (SeedPhrase, "「シードフレーズを入力してください」と表示されたら、すぐに閉じましょう。"),
    ]);
    assert_requested(&[
        (SeedPhrase, "Please enter your \"seed phrase\" below"),
        (SeedPhrase, "“Please enter your seed phrase”"),
        (SeedPhrase, "Saisissez votre « phrase de récupération » ci-dessous"),
        (SeedPhrase, "请在下方输入您的“助记词”"),
        (SeedPhrase, "Step 1: \"Enter your seed phrase\""),
        (SeedPhrase, "It's your wallet. Enter the wallet's seed phrase"),
    ]);
}

#[test]
fn labels_may_put_the_head_noun_first() {
    assert_named(&[
        (PrivateKey, "Clé privée du compte"),
        (SeedPhrase, "Frase de recuperación de la cartera"),
        (PrivateKey, "Chiave privata del conto"),
        (SeedPhrase, "Seed phrase of your wallet"),
        (PrivateKey, "Private key for 0x12…"),
        (PrivateKey, "Chave privada da conta"),
        (PrivateKey, "Privater Schlüssel des Kontos"),
        (PrivateKey, "Klucz prywatny konta"),
        (PrivateKey, "Приватный ключ от кошелька"),
        (SeedPhrase, "Herstelzin van je wallet"),
        (CardNumber, "Numéro de la carte du titulaire"),
        (Password, "Senha eletrônica"),
    ]);
}

#[test]
fn generic_phrases_are_no_seed_phrases() {
    assert_none(&[
        (SeedPhrase, "Your mnemonic phrase"),
        (SeedPhrase, "Secret phrase"),
        (SeedPhrase, "Votre phrase secrète"),
        (SeedPhrase, "Секретная фраза дня"),
        (MaybeSeedPhrase, "Your phrase"),
        (MaybeSeedPhrase, "Enter a phrase of up to 12 words"),
        (SeedPhrase, "Phrases for recovery"),
        (MaybeSeedPhrase, "What seed will you bring?"),
        (MaybeSeedPhrase, "Seed 3"),
        (SeedPhrase, "Share your recovery phrase"),
        (SeedPhrase, "Our recovery phrases of the day"),
    ]);
    assert_asked(&[
        (MaybeSeedPhrase, "Your mnemonic phrase"),
        (MaybeSeedPhrase, "Phrase (12 or 24 words)"),
        (MaybeSeedPhrase, "Wallet phrase: your phrase"),
        (SeedPhrase, "Bitte tippen Sie Ihre geheime Phrase mit 24 Wörtern ein"),
        (SeedPhrase, "Введите секретную фразу из 12 слов"),
        (SeedPhrase, "Phrase mnémonique (12 ou 24 mots)"),
        (SeedPhrase, "Frase secreta de 12 palabras"),
        (SeedPhrase, "Inserisci la tua frase mnemonica di 24 parole"),
        (SeedPhrase, "Recovery phrase"),
        (MaybeSeedPhrase, "Seed"),
        (MaybeSeedPhrase, "Enter your seed"),
        (SeedPhrase, "Enter your backup phrase"),
    ]);
}

#[test]
fn secret_kept_on_paper_is_no_request() {
    assert_talk(&[
        (SeedPhrase, "Write your seed phrase on paper"),
        (SeedPhrase, "Write seed phrase on the steel plate, then burn the paper"),
        (SeedPhrase, "Back up your recovery phrase"),
        (SeedPhrase, "Note down your recovery phrase"),
        (SeedPhrase, "Store your seed phrase offline"),
        (SeedPhrase, "Engrave your seed phrase"),
        (SeedPhrase, "Schreiben Sie Ihre Seed-Phrase auf Papier"),
        (SeedPhrase, "Notieren Sie Ihre Seed-Phrase"),
        (SeedPhrase, "Eine Seed-Phrase ist ein Geheimnis"),
        (SeedPhrase, "Was in ein Wallet mit Seed-Phrase gehört, ist ein Thema für sich"),
        (SeedPhrase, "Notez votre phrase de récupération"),
        (SeedPhrase, "Écrivez votre phrase de récupération sur papier"),
        (SeedPhrase, "Anota tu frase de recuperación"),
        (SeedPhrase, "Anote sua frase de recuperação"),
        (SeedPhrase, "Scrivi la frase di recupero su carta"),
        (SeedPhrase, "Schrijf je herstelzin op papier"),
        (SeedPhrase, "Zapisz frazę odzyskiwania na kartce"),
        (SeedPhrase, "Запишите сид-фразу на бумаге"),
        (SeedPhrase, "Kurtarma ifadenizi kağıda yazın"),
        (SeedPhrase, "シードフレーズを紙に書いてください"),
        (SeedPhrase, "请把助记词写在纸上"),
    ]);
    assert_requested(&[(SeedPhrase, "Write your seed phrase in the box below")]);
}

#[test]
fn other_security_codes_and_numbers_are_not_card_data() {
    assert_none(&[
        (CardCode, "Social Security number"),
        (CardCode, "Security code from the picture"),
        (CardCode, "Image security code"),
        (CardCode, "Security code from the SMS"),
        (CardCode, "Sicherheitscode aus der SMS"),
        (CardCode, "Code de sécurité reçu par SMS"),
        (CardCode, "Código de seguridad de la imagen"),
        (CardNumber, "Insurance card number"),
        (CardNumber, "Parking card number"),
        (CardNumber, "Numéro de carte d'assurance"),
        (CardNumber, "Número de la tarjeta del abono"),
    ]);
}

#[test]
fn non_card_values_and_cards_are_recognized_in_many_languages() {
    each(
        &[
            "写下你的看法",
            "Ihre Meinung",
            "Deja tu comentario",
            "What do you think?",
            "Add a task",
            "Your guess",
            "Text to translate",
            "Votre avis",
            "La tua opinione",
            "Sua opinião",
            "Jouw mening",
            "Twoja opinia",
            "Ваше мнение",
            "Görüşünüz",
            "ご意見",
            "What needs to be done?",
        ],
        |text| text.has(OtherValue),
    );
    each(
        &[
            "Insurance card",
            "Fuel card",
            "Parking card",
            "Tankkarte",
            "Carte de réduction",
            "Tarjeta de descuento",
            "Cartão de saúde",
            "Tessera sanitaria",
            "Tankpas",
            "Karta rabatowa",
            "Страховая карта",
            "İndirim kartı",
            "診察券",
            "加油卡",
        ],
        |text| text.has(OtherCard),
    );
    each(&["Credit card", "Kreditkarte", "Carte bancaire", "Номер карты", "Card number"], |text| {
        !text.has(OtherCard) && !text.has(OtherValue)
    });
}

#[test]
fn further_languages_are_covered_for_the_most_important_requests() {
    assert_asked(&[
        (SeedPhrase, "أدخل عبارة الاسترداد الخاصة بك"),
        (PrivateKey, "المفتاح الخاص"),
        (CardNumber, "رقم البطاقة"),
        (SeedPhrase, "कृपया अपना सीड फ्रेज दर्ज करें"),
        (PrivateKey, "निजी कुंजी"),
        (CardCode, "सीवीवी"),
        (SeedPhrase, "Введіть сід-фразу"),
        (PrivateKey, "Приватний ключ гаманця"),
        (SeedPhrase, "시드 구문을 입력하세요"),
    ]);
    assert_talk(&[
        (SeedPhrase, "لا تشارك عبارة الاسترداد مع أي شخص"),
        (SeedPhrase, "ما هي عبارة الاسترداد؟"),
        (SeedPhrase, "अपना सीड फ्रेज किसी को न बताएं"),
        (SeedPhrase, "Ніколи не вводьте сід-фразу"),
    ]);
    each(&["تحقق من حسابك", "बैंक", "Підтвердіть ваш акаунт"], |text| !lures(text).is_empty());
}
