//! German. Nouns are written as one word or with hyphens, so most patterns join their parts with a stem.

use super::super::Hint;
use super::super::Thing::*;
use super::super::lexicon::role;
use super::Language;

pub(super) const GERMAN: Language = Language {
    things: &[
        (
            SeedPhrase,
            &[
                "seed|recovery|wallet|backup phrase|phrasen|wörter|worte|satz",
                "seedwörter|seedworte|seedsatz|seedphrasen",
                "wiederherstellungsphrase*|wiederherstellungssatz*|wiederherstellungswört*|wiederherstellungswort*|sicherungsphrase*|walletphrase*",
                "wiederherstellungs|sicherungs|merk|backup phrase|phrasen|wörter|worte|satz|schlüsselwörter",
                "geheime|geheimen wiederherstellungsphrase*|wiederherstellungs|phrase|wörter|wörtern phrase?",
                "12|24 wort|wörter phrase|satz|seed",
                "mnemoniksatz|mnemonikphrase",
            ],
        ),
        (
            MaybeSeedPhrase,
            &[
                "12|24|zwölf|vierundzwanzig wörter|worte|wörtern|worten",
                "mnemonic|mnemonik|mnemonische|mnemonischer|mnemonischen|geheime|geheimen|geheimer phrase*|satz|code|schlüssel|wörter",
                "merkwörter|merksatz|seedwort|passphrase",
            ],
        ),
        (
            PrivateKey,
            &[
                "privat*|privater|private|privaten|privates schlüssel*|key|keys",
                "privatschlüssel*|privatekey|privkey",
            ],
        ),
        (MaybePrivateKey, &["geheim*|secret schlüssel*", "keystore datei"]),
        (
            CardNumber,
            &[
                "kartennummer*|kreditkartennummer*|kreditkartennr|kartennr|debitkartennummer*|bankkartennummer*|kreditkarten|kartenzahl",
                "karten|kreditkarten|karte|kreditkarte|debitkarte nummer|nr",
                "nummer der|ihrer|deiner karte|kreditkarte",
                "ec|giro|maestro kartennummer|karte",
            ],
        ),
        (
            CardCode,
            &[
                "prüfnummer|prüfziffer|prüfziffern|prüfzahl|kartenprüfnummer|kartenprüfziffer|kartenprüfzahl|kartenprüfcode|sicherheitscode|kartencode|kreditkartenprüfnummer|sicherheitsnummer|cvvcode|cvccode",
                "karten prüfnummer|prüfziffer|sicherheitscode",
                "3|drei|dreistellige|dreistelliger|3stellige|stellige stellige|stelliger? prüfnummer|code|sicherheitscode|zahl|nummer",
                "code auf|von der? rückseite",
            ],
        ),
        (
            CardExpiry,
            &[
                "ablaufdatum|verfallsdatum|gültigkeitsdatum|ablaufmonat|ablaufjahr",
                "gültig bis",
                "mm jj|jjjj",
            ],
        ),
        (
            CardHolder,
            &[
                "karteninhaber*|kreditkarteninhaber*|kontoinhaber",
                "name auf|des der? karte|karteninhabers",
                "inhaber der karte",
            ],
        ),
        (Password, &["passwort*|passwörter|kennwort*|zugangscode|kennung"]),
    ],
    no_things: &[
        // A PIN.
        "geheimzahl|pinnummer|pincode|kartenpin|onlinepin",
        "öffentlicher|öffentlichen|öffentliche schlüssel*",
        "bibliotheks|bücherei|kunden|geschenk|mitglieds|bonus|treue|geschenk|visiten|speise|eintritts|fahr|gesundheits|versicherten|versichertenkarte|ausweis karte|kartennummer|nummer|karten|nr",
        "vogelsaat|saatgut|grassamen",
        "sozialversicherungsnummer|krankenversicherungsnummer",
        "sicherheitscode aus|im|vom|per|von|aus|auf dem|der? bild|captcha|sms|email|e|grafik",
        "passwortgenerator|passwortmanager|passwortstärke",
        "in|maximal|höchstens|mindestens|bis 12|24 wörtern|worten|wörter",
    ],
    roles: &[
        (
            role::GIVE,
            &[
                "gib|geben|gebt|tippe|tippen|trage|tragen|füge|fügen|schreibe|schreiben|nenne|nennen|teile|teilen|sende|senden|schicke|schicken|bestätige|bestätigen|verifiziere|verifizieren|importiere|importieren|übermittle|übermitteln|hinterlege|hinterlegen|überprüfe|validiere|validieren|lade|stelle|verwende|verwenden|nutze|nutzen|stellen|kopiere|synchronisiere|synchronisieren|authentifiziere|melde|melden|entsperre|entsperren|eingabe|angabe",
                "eingabe|angabe der|des|ihrer|deiner|ihres|deines",
            ],
        ),
        (
            role::GIVE_LAST,
            &[
                "eingeben|eintippen|eintragen|einfügen|angeben|importieren|bestätigen|verifizieren|wiederherstellen|hochladen|übermitteln|mitteilen|nennen|senden|hineinkopieren|absenden|verwenden|nutzen|anmelden|einloggen|entsperren|eingabe|validieren|einzugeben|benötigt|erforderlich",
            ],
        ),
        (role::NOTHING, &["nicht nur|vergessen", "ohne umwege", "nicht mehr als", "kein problem"]),
        (
            role::NO,
            &[
                "nie|niemals|nicht|kein|keine|keinen|keiner|keinem|keinesfalls|niemand|niemandem|ohne|weder|noch|vermeide|vermeiden|statt",
            ],
        ),
        (
            role::NO_LAST,
            &["nie|niemals|nicht|niemandem|keinesfalls|keinem|niemand", "auf keinen fall", "mit niemandem"],
        ),
        (
            role::QUESTION,
            &[
                "warum|wieso|weshalb|wofür|wozu|wo|wie|welche|welcher|welches|wann|wer|woher|worin",
                "was ist|sind|bedeutet|passiert|macht|tun|heißt|kann|tue|wenn",
                "hast|haben|hat|kennen|kennst|möchten|möchtest|brauche|ist|sind|habe du|sie|ihr|ich|ein|eine|der|die|das",
                "schon|bereits eine|ein|einen",
            ],
        ),
        (
            role::OTHER,
            &[
                "betrüger*|angreifer*|kriminelle*|phishing*|hacker*|diebe|gauner|opfer|gefälscht*|fake|betrug|betrügerisch*|unbefugte*|jemand|fremde*",
                "fragt|fragen|fordert|fordern|verlangt|verlangen|bittet|verlangte|auffordert|auffordern|aufgefordert",
                "nach ihrer|deiner|der|ihrem|deinem",
                "eine|einer|diese|solche seite|seiten|website|webseite|mail|app",
            ],
        ),
        (
            role::TALK,
            &[
                "über|bezüglich|erklärt|erklärung|anleitung|ratgeber|leitfaden|tipps|artikel|grundlagen|einführung|glossar|quiz|frage|fragen|lernen|lerne|verstehen|bedeutung|unterschied|geschichte|vergessen|verloren|verlust|beispiel|beispiele|heißt|weil|dass|ob|newsletter|wissenswertes|sicherheit|definition|sichere|sicher",
            ],
        ),
        (
            role::KEEP,
            &[
                "bewahre|bewahren|aufbewahren|aufbewahrung|speichere|speichern|sichern|sichere|schütze|schützen|notiere|notieren|notiert|aufschreiben|aufgeschrieben|zeige|zeigen|anzeigen|erstelle|erstellen|erzeuge|erzeugen|erzeugt|generiere|generieren|generiert|exportieren|herunterladen|kopieren|löschen|verstecken|ändern|zurücksetzen|halte|halten|verwahre|verwahren|erhalte|erhalten|bekommen|merken|neue|neuen|neuer|neues|gespeichert|gesichert|verschlüsselt|besitzt|enthält|verwalten|geheim|schreibe|schreiben auf?",
            ],
        ),
        (
            role::TAIL,
            &[
                "generator*|erklärt|richtig|sicher|speicher|aufbewahrung|backup|sicherung|tipps|ratgeber|quiz|verwaltung|erstellen|erzeugen|prüfer|vergessen|verloren|anzeigen|verfahren|paar",
            ],
        ),
        (
            role::FILLER,
            &[
                "ihre|ihr|ihren|ihrem|ihrer|ihres|deine|dein|deinen|deinem|deiner|deines|meine|mein|die|der|das|den|dem|des|ein|eine|einen|einer|unten|hier|folgende|folgenden|feld|eingabefeld|textfeld|pflichtfeld|erforderlich|optional|wort|wörter|stellig|stellige|ziffern|zeichen|getrennt|leerzeichen|jeweils|vollständige|vollständigen|geheime|geheimen|geheimer|nummer|gültige|korrekt|reihenfolge|rückseite|karte|kreditkarte|kartenrückseite|geldbörse|konto|z|b|zum|beispielsweise|nur|bisherige|bestehende|aktuelle|alte",
                "ist erforderlich|pflicht",
            ],
        ),
        (role::LINK, &["von|vom|für|mit|aus|auf|in|im|zu|zum|zur|per|durch|via|unter|an|am|bei|ins|mittels"]),
        (role::AND, &["und|oder|bzw|sowie"]),
        (role::IT, &["sie|ihn|es|diese|hier|unten"]),
        (role::SUBJECT, &["du|ich|wir|er|man|nutzer|kunden|wer|benutzer"]),
        (
            role::GIVE,
            &[
                "geben|tragen|fügen|tippen|schreiben|senden|nennen|stellen|melden|bestätigen|verifizieren|importieren|verwenden|nutzen|laden sie",
            ],
        ),
        (role::NOTHING, &["müssen|sollten|können|dürfen sie"]),
        (role::PLEASE, &["bitte", "du musst", "sie müssen", "muss|müssen"]),
        (role::INQUIRE, &["wie|was lautet|ist ihre|ihr|deine|dein", "nennen sie|uns"]),
        (role::IF, &["wenn|falls"]),
        (role::THREAT, &["gesperrt|gelöscht|verlieren|eingeschränkt|deaktiviert|verfällt"]),
        (role::ONLY, &["nur|niemals|nie|nicht"]),
    ],
    hints: &[
        (Hint::Wallet, &["geldbörse|kryptowährung*|krypto|kryptowallet|kryptobörse"]),
        (Hint::NumberedWord, &["wort|wörter"]),
        (Hint::Search, &["suche|suchen|suchbegriff|finden|finde|filtern"]),
        (
            Hint::OtherValue,
            &[
                "mailadresse|emailadresse|vorname|nachname|benutzername|kommentar|kommentare|nachricht|telefon|telefonnummer|handynummer|mobilnummer|betrag|frage|antwort|anschrift|adresse|straße|hausnummer|plz|postleitzahl|ort|stadt|land|firma|betreff|geburtsdatum|datum|menge|bewertung|rückmeldung|gutschein|gutscheincode|rechnungsnummer|kundennummer|bestellnummer|anrede|begriff|bestätigungscode|einmalcode|tan|smscode|notiz",
            ],
        ),
        (
            Hint::SignIn,
            &[
                "anmelden|einloggen|weiter|fortfahren|entsperren|absenden|bestätigen|anmeldung|login|verifizieren|senden|wiederherstellen|verbinden|freischalten",
            ],
        ),
        (
            Hint::MakesPasswords,
            &[
                "erzeugen|generieren|passwortstärke|passwortlänge|zufällig*|stärke|passwortgenerator|kennwortgenerator|sonderzeichen",
            ],
        ),
        (
            Hint::OtherCard,
            &[
                "bibliotheksausweis*|büchereiausweis|kundenkarte*|geschenkkarte*|mitgliedskarte*|mitgliedsausweis|studentenausweis|gesundheitskarte|versichertenkarte|visitenkarte|speisekarte|bonuskarte|treuekarte|karteikarte*|bahncard|ausweis|ausweisnummer",
            ],
        ),
        (
            Hint::Talk,
            &[
                "was ist|sind|bedeutet",
                "warum|anleitung|ratgeber|artikel|erklärt|glossar|lesezeit|kommentare|veröffentlicht|leitfaden|grundlagen",
                "wie man|funktioniert|sie|du",
                "häufige fragen",
            ],
        ),
        (
            Hint::Quiz,
            &[
                "quiz|prüfung|rätsel|kreuzworträtsel|lückentext|übung|lernkarten|wissenstest",
                "richtig oder falsch",
            ],
        ),
    ],
    lures: &[
        (
            "bank",
            &[
                "bankkonto|onlinebanking|bankkunde*|bankdaten|sparkassen*|volksbanken|hausbank|bankzugang|bankkonten|bankkarte|bankverbindung|banklogin|bankgeschäfte|bankfiliale|sparbank|landesbank|privatbank|dkb|targobank|hypovereinsbank|norisbank|genossenschaftsbank|comdirect|ingdiba|direktbank",
            ],
        ),
        ("wallet", &["kryptowallet|krypto wallet|geldbörse", "kryptogeldbörse|kryptowallet|walletadresse"]),
        (
            "verify your",
            &[
                "verifizieren|bestätigen|verifiziere|bestätige|überprüfen|aktualisieren sie? ihr|ihre|ihren|dein|deine|deinen konto|identität|daten|angaben|zugang|zahlungsdaten",
                "verifiziere|verifizieren sie? ihr|ihre|ihren|dein|deine|deinen",
            ],
        ),
        (
            "account suspended",
            &[
                "konto|zugang|account wurde|ist|wird vorübergehend? gesperrt|eingeschränkt|deaktiviert|limitiert|geschlossen",
                "ihr|dein konto|zugang|account gesperrt|eingeschränkt|deaktiviert|geschlossen",
                "konto entsperren|reaktivieren|freischalten",
                "ungewöhnliche|verdächtige|ungewöhnlichen|verdächtigen aktivität|aktivitäten|anmeldung|anmeldeversuch",
            ],
        ),
    ],
    possible_lures: &[],
    no_lures: &[
        "bankverbindung|bankeinzug",
        "parkbank|sandbank|powerbank|ruhebank|rückbank|drehbank|hobelbank|schulbank|ersatzbank|samenbank|genbank|bildbank|ofenbank|werkbank|sitzbank|gartenbank|blutbank|datenbank|holzbank|eckbank|hantelbank",
        "bank im|am garten|park|see|fluss|ufer",
        "auf der|einer|die langen|lange? bank",
        "mit google|apple|microsoft|paypal anmelden|fortfahren|einloggen|bezahlen|spenden|zahlen|registrieren?",
        "per|via paypal|banküberweisung",
        "bestätigen|bestätige sie? ihre|deine eingabe|auswahl",
    ],
};
