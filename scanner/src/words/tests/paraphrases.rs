//! Things by paraphrases, and requests with further clauses.

use super::super::Thing::*;
use super::super::{Hint, lures};
use super::*;

#[test]
fn card_numbers_are_detected_by_their_description() {
    assert_asked(&[
        (CardNumber, "Long number on the front of your card"),
        (CardNumber, "Long number across the front of your card"),
        (CardNumber, "Long number on the front of the card"),
        (CardNumber, "16-digit number"),
        (CardNumber, "The 16 digits"),
        (CardNumber, "The number embossed on the card"),
        (CardNumber, "Enter the 16 numbers from the front"),
        (CardNumber, "16-stellige Nummer auf der Vorderseite"),
        (CardNumber, "Die lange Nummer auf Ihrer Karte"),
        (CardNumber, "Les 16 chiffres au recto de votre carte"),
        (CardNumber, "Numéro à 16 chiffres"),
        (CardNumber, "Los 16 dígitos de la parte delantera"),
        (CardNumber, "Número de 16 dígitos"),
        (CardNumber, "Os 16 dígitos da frente do cartão"),
        (CardNumber, "Numero di 16 cifre"),
        (CardNumber, "Le 16 cifre sul fronte della carta"),
        (CardNumber, "De 16 cijfers op de voorkant"),
        (CardNumber, "16-cyfrowy numer z przodu karty"),
        (CardNumber, "16 цифр на лицевой стороне"),
        (CardNumber, "Kartınızın ön yüzündeki 16 haneli numara"),
        (CardNumber, "カード表面の16桁"),
        (CardNumber, "卡正面的16位数字"),
    ]);
    assert_none(&[
        (CardNumber, "16-digit voucher code"),
        (CardNumber, "Long number, short number"),
        (CardNumber, "Long division"),
    ]);
}

#[test]
fn card_codes_are_detected_by_their_description() {
    assert_asked(&[
        (CardCode, "Last three digits on the signature strip"),
        (CardCode, "Three numbers by the signature"),
        (CardCode, "Code from the back of the card"),
        (CardCode, "The 3 digits on the reverse"),
        (CardCode, "Verification digits"),
        (CardCode, "Die letzten drei Ziffern auf der Rückseite"),
        (CardCode, "Code von der Kartenrückseite"),
        (CardCode, "3 Zahlen im Unterschriftsfeld"),
        (CardCode, "Les trois derniers chiffres au dos de la carte"),
        (CardCode, "Trois chiffres près de la signature"),
        (CardCode, "Los tres últimos números del reverso"),
        (CardCode, "Tres dígitos junto a la firma"),
        (CardCode, "Os três números atrás do cartão"),
        (CardCode, "Três dígitos no verso"),
        (CardCode, "Tre cifre accanto alla firma"),
        (CardCode, "Codice dietro la carta"),
        (CardCode, "De drie cijfers naast de handtekening"),
        (CardCode, "Trzy cyfry na pasku podpisu"),
        (CardCode, "Три цифры на обороте"),
        (CardCode, "Последние 3 цифры возле подписи"),
        (CardCode, "İmza bandındaki üç rakam"),
        (CardCode, "署名欄の3桁"),
        (CardCode, "签名栏的后3位"),
        (CardCode, "背面的三位数字"),
    ]);
}

#[test]
fn seed_phrases_are_detected_by_how_the_user_got_them() {
    assert_asked(&[
        (SeedPhrase, "The 12 words you wrote down when you set up the wallet"),
        (SeedPhrase, "The 24 words you wrote down when you set up your device"),
        (SeedPhrase, "Enter the 12 words you wrote down when you set up the app"),
        (MaybeSeedPhrase, "Your secret words"),
        (MaybeSeedPhrase, "The twelve words you wrote down"),
        (SeedPhrase, "Recovery sheet words"),
        (SeedPhrase, "Words on your recovery card"),
        (SeedPhrase, "Type the words of your backup"),
        (SeedPhrase, "Wörter Ihrer Sicherung"),
        (MaybeSeedPhrase, "Die 12 Wörter, die Sie bei der Einrichtung notiert haben"),
        (SeedPhrase, "Les 12 mots notés lors de la configuration"),
        (SeedPhrase, "Las 12 palabras que anotaste al crear la billetera"),
        (SeedPhrase, "As 12 palavras que você anotou ao criar a carteira"),
        (SeedPhrase, "Le 12 parole che hai annotato durante la configurazione"),
        (SeedPhrase, "De 12 woorden die je opschreef toen je de app instelde"),
        (SeedPhrase, "Слова из резервной копии"),
        (SeedPhrase, "Yedeğinizdeki kelimeler"),
        (SeedPhrase, "バックアップの単語"),
        (SeedPhrase, "请输入您抄下的12个单词"),
    ]);
}

#[test]
fn private_keys_are_detected_by_format_and_file_name() {
    assert_asked(&[
        (MaybePrivateKey, "The 64-character key"),
        (MaybePrivateKey, "Key that begins with 0x"),
        (MaybePrivateKey, "Key that starts with 5, K or L"),
        (MaybePrivateKey, "Hex key of your account"),
        (MaybePrivateKey, "Account key (hex)"),
        (PrivateKey, "Paste the contents of id_rsa"),
        (PrivateKey, "Contents of your .pem"),
        (PrivateKey, "Contents of your .ppk file"),
        (MaybePrivateKey, "64-stelliger Schlüssel"),
        (MaybePrivateKey, "Clé de 64 caractères"),
        (MaybePrivateKey, "Clave de 64 caracteres"),
        (MaybePrivateKey, "Chave hexadecimal"),
        (MaybePrivateKey, "Chiave di 64 caratteri"),
        (MaybePrivateKey, "Sleutel van 64 tekens"),
        (MaybePrivateKey, "Klucz szesnastkowy"),
        (MaybePrivateKey, "Ключ из 64 символов"),
        (MaybePrivateKey, "64 karakterli anahtar"),
        (MaybePrivateKey, "64文字のキー"),
        (MaybePrivateKey, "64位密钥"),
        (PrivateKey, "Inhalt Ihrer .pem-Datei"),
    ]);
    assert_none(&[
        (PrivateKey, "id_rsa.pub"),
        (PrivateKey, "Paste the contents of your PEM certificate"),
        (MaybePrivateKey, "Hex key set, 9 pieces"),
    ]);
}

#[test]
fn no_phrase_spans_a_separator() {
    assert_none(&[
        (SeedPhrase, "Any seed, phrase or Latin name is found"),
        (SeedPhrase, "Seed or phrase"),
        (SeedPhrase, "Seed / phrase / genus"),
        (SeedPhrase, "Seed: phrase"),
        (PrivateKey, "Stay private, key facts below"),
        (PrivateKey, "Privé, sleutel"),
        (CardNumber, "Card, number, colour"),
        (SeedPhrase, "种子、短语"),
    ]);
    assert_asked(&[
        (CardExpiry, "MM / YY"),
        (CardExpiry, "MM/JJ"),
        (SeedPhrase, "12/24 word phrase for the wallet seed phrase"),
        (SeedPhrase, "Recovery (seed) phrase"),
    ]);
}

#[test]
fn demand_stays_a_demand_with_any_following_text() {
    assert_requested(&[
        (SeedPhrase, "Bonus, for the prize: type your own seed phrase so that we can rate how strong it is"),
        (SeedPhrase, "Type your seed phrase and we will tell you how strong it is"),
        (SeedPhrase, "Enter your seed phrase to see what it is worth"),
        (SeedPhrase, "Enter your seed phrase so that you never lose it"),
        (SeedPhrase, "Enter your recovery phrase and we will never lock your account"),
        (SeedPhrase, "Gib deine Seed-Phrase ein damit wir sehen wie sicher sie ist"),
        (SeedPhrase, "Gib deine Seed-Phrase ein, damit sie nie verloren geht"),
        (SeedPhrase, "Saisissez votre phrase de récupération pour que nous ne la perdions jamais"),
        (SeedPhrase, "Escribe tu frase semilla para que no se pierda nunca"),
        (SeedPhrase, "Digite sua frase de recuperação para ver se não é fraca"),
        (SeedPhrase, "Inserisci la tua frase di recupero affinché non venga mai persa"),
        (SeedPhrase, "Voer je herstelzin in zodat je die nooit verliest"),
        (SeedPhrase, "Введите сид-фразу чтобы никогда её не потерять"),
    ]);
    assert_talk(&[
        (SeedPhrase, "Never type your seed phrase so that a site can rate it"),
        (SeedPhrase, "You open a page and you enter your seed phrase"),
        (SeedPhrase, "Write down your seed phrase so that you never lose it"),
    ]);
}

#[test]
fn a_mnemonic_phrase_that_is_demanded_is_certain() {
    assert_requested(&[
        (SeedPhrase, "Enter your mnemonic phrase"),
        (SeedPhrase, "Import your mnemonic phrase"),
        (SeedPhrase, "Geben Sie Ihre mnemonische Phrase ein"),
        (SeedPhrase, "Saisissez votre phrase mnémonique"),
        (SeedPhrase, "Introduce tu frase mnemónica"),
        (SeedPhrase, "Введите мнемоническую фразу"),
    ]);
    assert_none(&[
        (SeedPhrase, "Enter your mnemonic phrase for the planets"),
        (SeedPhrase, "Share your mnemonic phrase"),
        (SeedPhrase, "Quiz: type the mnemonic phrase"),
        (SeedPhrase, "Mnemonic phrase"),
        (SeedPhrase, "Treble clef: type your mnemonic phrase"),
    ]);
}

#[test]
fn lessons_and_games_are_quizzes() {
    for text in [
        "Spelling list of this week",
        "Vocabulary lesson 4",
        "Homework for class 3b",
        "Flash cards",
        "Crossword",
        "Word games",
        "Diktat der 4. Klasse",
        "Vokabeln lernen",
        "Dictée de la semaine",
        "Jeux de mots",
        "Dictado de ortografía",
        "Ditado da turma",
        "Dettato di italiano",
        "Woordpakket groep 5: dictee",
        "Dyktando",
        "Диктант для третьего класса",
        "Yazım ödevi",
        "英単語の宿題",
        "听写作业",
    ] {
        assert!(Text::of(text).has(Hint::Quiz), "{text}");
    }
    assert!(!Text::of("Enter your seed phrase to restore your wallet").has(Hint::Quiz));
}

#[test]
fn demands_to_verify_are_lures_and_confirmation_fields_are_not() {
    for text in [
        "Konto bestätigen",
        "Bestätigen Sie Ihre Daten",
        "Bestätigen Sie Ihren Zugang",
        "Confirme su identidad",
        "Confirme su cuenta",
        "Confirmez votre identité",
        "Confirmer votre compte",
        "Подтвердите вашу личность",
        "Confirme sua identidade",
        "Conferma la tua identità",
        "Bevestig uw identiteit",
        "Potwierdź swoje konto",
        "アカウントを確認",
        "验证您的账户",
        "Hesabınızı doğrulayın",
    ] {
        assert!(lures(&Text::of(text)).contains(&"verify your".to_owned()), "{text}");
    }
    for text in [
        "Confirm your password",
        "Confirm your e-mail address",
        "Bestätigen Sie Ihr Passwort",
        "Bestätigen Sie Ihre E-Mail-Adresse",
        "Confirme su contraseña",
        "Confirmez votre mot de passe",
        "Confirme sua senha",
        "Conferma la password",
        "Bevestig je wachtwoord",
        "Powtórz hasło",
        "Подтвердите ваш пароль",
        "パスワードを確認",
        "确认密码",
    ] {
        assert!(lures(&Text::of(text)).is_empty(), "{text}: {:?}", lures(&Text::of(text)));
    }
}
