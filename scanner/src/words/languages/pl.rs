//! Polish. Nouns and verbs bend, so most words are stems.

use super::super::Hint;
use super::super::Thing::*;
use super::super::lexicon::role;
use super::Language;

pub(super) const POLISH: Language = Language {
    things: &[
        (
            SeedPhrase,
            &[
                "fraz* seed|odzyskiwania|odzyskiwani*|zapasow*|początkow*|nasienn*|przywracania|bezpieczeństwa",
                "tajn* fraz* odzyskiwania|przywracania",
                "słow* odzyskiwania|seed",
                "12|24|dwanaście słów odzyskiwania|frazy|seed",
                "fraz* 12|24|z słów|12|24 słów?",
                "12|24 wyrazow* fraz*",
                "seed fraz*",
                "fraz* portfela",
            ],
        ),
        (
            MaybeSeedPhrase,
            &[
                "fraz*|słow* tajn*|mnemoniczn*",
                "tajn*|mnemoniczn* fraz*|słow*",
                "12|24|dwanaście słów|wyrazów",
                "12|24 lub 24|12 słów",
            ],
        ),
        (PrivateKey, &["klucz* prywatn*", "prywatn* klucz*"]),
        (MaybePrivateKey, &["tajn* klucz*", "klucz* tajn*|portfela", "plik keystore"]),
        (
            CardNumber,
            &["numer*|nr kart* kredytow*|płatnicz*|debetow*?", "kart* kredytow*|płatnicz*|debetow*"],
        ),
        (
            CardCode,
            &[
                "kod cvv|cvc|cvv2|zabezpieczając*|bezpieczeństwa|weryfikacyjny karty?",
                "kod kart*",
                "trzy|3 ostatnie? cyfr* na|z? odwrocie|odwrotu?",
                "kod z odwrotu|tyłu",
                "trzycyfrow*|3 cyfrow*|kod kod?",
            ],
        ),
        (CardExpiry, &["data|termin ważności|wygaśnięcia", "ważna do"]),
        (
            CardHolder,
            &[
                "posiadacz*|właściciel* karty",
                "imię i nazwisko na|posiadacza karcie|karty",
                "nazwisko na karcie",
            ],
        ),
        (Password, &["hasł*"]),
    ],
    no_things: &[
        // A PIN.
        "kod|numer pin",
        "klucz* publiczn*|api|obc*",
        "numer*|nr? kart* biblioteczn*|podarunkow*|lojalnościow*|członkowsk*|studenc*|pokładow*|stałego|sim|graficzn*",
        "w|do|z|maksymalnie 12|24 słowach|słów",
        "generator* haseł|hasła",
        "hasło dnia|reklamowe|krzyżówki",
    ],
    roles: &[
        (
            role::GIVE,
            &[
                "wpisz|wpisać|przepisz|przepisać|podaj|podać|wprowadź|wprowadzić|wklej|wkleić|wpisz|importuj|importować|zaimportuj|przywróć|przywrócić|odzyskaj|potwierdź|potwierdzić|zweryfikuj|zweryfikować|udostępnij|udostępnić|wyślij|wypełnij|uzupełnij|prześlij|użyj|zaloguj|odblokuj|połącz|zsynchronizuj|wprowadzenie|podanie|dodaj",
            ],
        ),
        (role::NOTHING, &["nie zapomnij|zapomnij|tylko|martw", "nie martw się"]),
        (role::NO, &["nie|nigdy|nikt|nikomu|żaden|żadna|żadne|bez|unikaj|ani|zamiast"]),
        (role::NO_LAST, &["nigdy|nikomu", "nie jest|są|będzie"]),
        (
            role::QUESTION,
            &[
                "dlaczego|jak|jaki|jaka|jakie|które|która|który|gdzie|kiedy|ile|czy|kto|czym",
                "co to|oznacza|jest|robić|się",
                "nie? masz|zapomniałeś|zgubiłeś|posiadasz już?",
                "po co",
            ],
        ),
        (
            role::OTHER,
            &[
                "oszust*|oszuści|haker*|atakując*|przestępc*|złodziej*|phishing*|fałszyw*|ofiar*|ktoś|ktokolwiek|wyłudza*",
                "prosi|proszą|poprosi|poproszą|prosić|prosimy|zapyta|zapytają|żąda|żądają|wymaga|pyta|poprosimy|proszony",
                "stron* które|która",
            ],
        ),
        (
            role::TALK,
            &[
                "poradnik*|przewodnik*|samouczek|artykuł*|porady|wskazówki|podstawy|wprowadzenie|słownik*|quiz|pytani*|dowiedz|zrozumieć|znaczenie|różnic*|historia|zapomnia*|zgubi*|utrata|utraty|przykład*|wyjaśnienie|wyjaśniamy|definicja|newsletter|bezpiecznie|ponieważ|że|dotycząc*",
                "o frazie|frazach|kluczach|kluczu|fraz*",
                "na temat",
            ],
        ),
        (
            role::KEEP,
            &[
                "przechow*|zapisz|zapisać|zapisał*|zapisuj*|chroń|chronić|zabezpiecz*|pokaż|pokazać|wyświetl|utwórz|utworzyć|wygeneruj|generuj|generować|wygenerowan*|pobierz|eksportuj|eksport|kopiuj|skopiuj|ukryj|usuń|zmień|zresetuj|otrzymaj|nowa|nowe|nowy|nową|wybierz|zapamiętaj|zaszyfrowan*|zawiera|trzymaj|zarządz*|zobacz",
            ],
        ),
        (role::TAIL, &["generator|bezpieczne|przechowywanie|zapomniana|wygenerowany|poradnik"]),
        (
            role::FILLER,
            &[
                "twój|twoja|twoją|twoje|swój|swoją|swoje|swojego|twojego|twojej|swojej|mój|moja|tutaj|tu|poniżej|poniższe|pole|wymagane|wymagana|opcjonalnie|słowo|słowa|słów|cyfr|cyfry|znaków|oddzielone|oddzielonych|spacją|spacjami|pełną|pełna|tajna|tajny|portfel|portfela|adresu|konto|konta|karta|karty|kolejności|poprawnej|numer|np|przykład|kredytowej|płatniczej|odwrocie",
            ],
        ),
        (role::LINK, &["z|ze|do|na|w|od|dla|za|po|pomocą|przez|przy|pomocy|pod"]),
        (role::AND, &["i|oraz|lub|albo|bądź"]),
        (role::IT, &["ją|go|je|tutaj|poniżej|tu"]),
        (role::SUBJECT, &["użytkownicy|oni|ty|klienci"]),
        (role::PLEASE, &["proszę|prosimy|musisz|należy|trzeba", "prosimy o"]),
        (role::INQUIRE, &["jaki|jaka|jakie jest|masz twój|twoja|twoje?"]),
        (role::IF, &["jeśli|jeżeli"]),
        (role::THREAT, &["zawieszone|zablokowane|usunięte|stracisz|zamknięte"]),
        (role::ONLY, &["tylko|wyłącznie|nigdy"]),
    ],
    hints: &[
        (Hint::Wallet, &["portfel|portfela|portfelu|kryptowalut*|krypto"]),
        (Hint::NumberedWord, &["słowo|słowa|wyraz"]),
        (Hint::Search, &["szukaj|wyszukaj|wyszukiwanie|wyszukiwarka|znajdź|filtruj"]),
        (
            Hint::OtherValue,
            &[
                "imię|nazwisko|użytkownika|komentarz|komentarze|wiadomość|telefon|telefonu|kwota|pytanie|odpowiedź|adres|ulica|miasto|kraj|firma|temat|data|urodzenia|ilość|opinia|nip|pesel|faktury|zamówienia|nick",
                "kod pocztowy|rabatowy|sms",
            ],
        ),
        (
            Hint::SignIn,
            &[
                "zaloguj|logowanie|dalej|kontynuuj|odblokuj|wyślij|następny|zweryfikuj|potwierdź|przywróć|połącz|zatwierdź",
            ],
        ),
        (Hint::MakesPasswords, &["generuj|wygeneruj|generator|losowe|siła|długość"]),
        (
            Hint::OtherCard,
            &[
                "kart* biblioteczn*|podarunkow*|lojalnościow*|członkowsk*|studenc*|pokładow*|sim",
                "legitymacj*|bibliotek*",
            ],
        ),
        (
            Hint::Talk,
            &[
                "co to",
                "dlaczego|jak|poradnik|artykuł|przewodnik|słownik|opublikowano|komentarze|czytania",
                "najczęściej zadawane pytania",
                "czym jest",
            ],
        ),
        (Hint::Quiz, &["egzamin|krzyżówka|ćwiczenie|ćwiczenia|test|zagadka", "prawda czy fałsz"]),
    ],
    lures: &[
        ("bank", &["banku|bankowość|bankowe|bankowy|bankowym|pko|ing", "pekao", "mbank"]),
        ("wallet", &["portfel|portfela kryptowalut|cyfrowy", "połącz|odblokuj|przywróć swój|twój? portfel"]),
        (
            "verify your",
            &[
                "zweryfikuj|potwierdź|zaktualizuj swoje|swój|swoją|twoje|dane|konto? konto|tożsamość|dane|dostęp|informacje|płatności",
                "zweryfikuj swoje|swój|swoją|twoje|twój|konto|tożsamość",
            ],
        ),
        (
            "account suspended",
            &[
                "konto|dostęp zostało|zostanie|jest|został tymczasowo? zawieszone|zablokowane|ograniczone|zablokowany|ograniczony|zamknięte",
                "nietypowa|podejrzana|nietypową|podejrzaną aktywność",
                "odblokuj|reaktywuj konto",
            ],
        ),
    ],
    possible_lures: &[],
    no_lures: &[
        "bank krwi|żywności|danych|zdjęć|nasion|pomysłów|genów|czasu|pytań",
        "przelew|przelewem|przelewu bankowy|bankowym|bankowego",
        "zaloguj|kontynuuj się? przez|z|za google|apple|microsoft|facebook",
        "przez|z|za pomocą? google|apple|microsoft|paypal",
        "potwierdź swój|swoje|adres? e|email|mail|wiek|adres",
        "skórzany portfel",
    ],
};
