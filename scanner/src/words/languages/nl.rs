//! Dutch. Compounds are written together, as in German.

use super::super::Hint;
use super::super::Thing::*;
use super::super::lexicon::role;
use super::Language;

pub(super) const DUTCH: Language = Language {
    things: &[
        (
            SeedPhrase,
            &[
                "herstelzin*|herstelfrase*|herstelwoorden|herstelzinnen|seedzin|seedwoorden|backupzin|zaadzin",
                "geheime herstelzin|herstelfrase|herstel zin|frase?",
                "herstel|seed|backup zin|frase|woorden",
                "12|24|twaalf woorden|woord|woordige zin|frase|herstelzin|herstelfrase",
                "12|24|twaalf herstelwoorden",
                "zin van 12|24|twaalf woorden",
            ],
        ),
        (
            MaybeSeedPhrase,
            &[
                "geheime|mnemonische|geheugen zin|frase|woorden",
                "12|24|twaalf woorden",
                "12|24 of 24|12 woorden",
            ],
        ),
        (
            PrivateKey,
            &[
                "privésleutel*|privesleutel*|privsleutel",
                "privé|private|prive|persoonlijke sleutel|sleutels|key",
            ],
        ),
        (MaybePrivateKey, &["geheime sleutel", "keystore bestand"]),
        (
            CardNumber,
            &[
                "kaartnummer*|creditcardnummer*|kaartnr|pasnummer|bankkaartnummer|betaalkaartnummer|creditcards",
                "kaart|creditcard|credit|card nummer",
                "nummer van|op je|uw|de? kaart|creditcard",
            ],
        ),
        (
            CardCode,
            &[
                "beveiligingscode|veiligheidscode|verificatiecode|kaartcode|controlecode|cvccode|cvvcode van|op? de|je|uw? kaart?",
                "3|drie cijferige|cijfers|laatste op|cijfers|code|beveiligingscode|van de|achterkant|achterzijde?",
            ],
        ),
        (CardExpiry, &["vervaldatum|verloopdatum|geldigheidsdatum", "geldig tot", "verval datum"]),
        (CardHolder, &["kaarthouder*|pashouder", "naam op|van de? kaart|kaarthouder|creditcard|pas"]),
        (Password, &["wachtwoord*|toegangscode", "wacht woord"]),
    ],
    no_things: &[
        // A PIN.
        "pincode|pincodes",
        "publieke|openbare|api sleutel",
        "bibliotheek|klanten|leden|cadeau|studenten|bezoekers|zorg|ov kaart|pas|kaartnummer|pasnummer|nummer",
        "in|maximaal 12|24 woorden",
        "burgerservicenummer|bsn",
        "beveiligingscode|verificatiecode uit|in|van|per|via de|het? afbeelding|plaatje|sms|email|e|captcha",
        "wachtwoordgenerator|wachtwoordmanager|wachtwoordsterkte",
    ],
    roles: &[
        (
            role::GIVE,
            &[
                "voer|typ|vul|geef|plak|schrijf|importeer|herstel|bevestig|verifieer|valideer|deel|stuur|verstrek|upload|toets|gebruik|koppel|ontgrendel|synchroniseer|controleer|voeg|invoer|vermeld|noem",
            ],
        ),
        (
            role::GIVE_LAST,
            &[
                "invoeren|invullen|intypen|plakken|importeren|opgeven|bevestigen|verifiëren|ingeven|delen|sturen|gebruiken|herstellen|in|invoer|vereist|uploaden|nodig|inloggen|ontgrendelen",
            ],
        ),
        (role::NOTHING, &["vergeet niet", "niet vergeten|alleen", "geen probleem|zorgen|paniek"]),
        (role::NO, &["nooit|niet|geen|niemand|zonder|vermijd|noch|nimmer", "in plaats van"]),
        (role::NO_LAST, &["nooit|niet|nimmer", "met|aan niemand"]),
        (
            role::QUESTION,
            &[
                "waarom|hoe|welke|welk|waar|wanneer|hoeveel|waarvoor",
                "wat is|zijn|betekent|gebeurt|doe|moet",
                "wie",
                "heb|hebt|heeft|ben|bent|is|wilt|wil je|u|al|het|een",
            ],
        ),
        (
            role::OTHER,
            &[
                "oplichter*|crimineel|criminelen|aanvaller*|phishing|dief|dieven|fraudeur*|nep|neppe|vals|valse|slachtoffer*|iemand|gestolen",
                "vraagt|vragen|vroeg|verzoekt|eist",
                "naar je|uw|jouw",
                "een|deze|die site|sites|website|pagina die",
            ],
        ),
        (
            role::TALK,
            &[
                "gids|handleiding|tutorial|artikel|artikelen|tips|inleiding|woordenlijst|quiz|vraag|leren|leer|begrijpen|betekenis|verschil|geschiedenis|vergeten|kwijt|verloren|verlies|voorbeelden|uitgelegd|uitleg|definitie|nieuwsbrief|belang|omdat|dat|betreffende",
                "alles|meer over",
                "over seed|private|herstelzin|herstelzinnen|privésleutels|je|jouw|uw|de|een",
                "veilig",
            ],
        ),
        (
            role::KEEP,
            &[
                "bewaar|bewaren|opslaan|sla|bescherm|beschermen|noteer|noteren|opgeschreven|toon|tonen|laat|maak|maken|genereer|genereren|gegenereerd|gegenereerde|download|downloaden|exporteer|exporteren|kopieer|kopiëren|verberg|verwijder|wijzig|wijzigen|resetten|ontvang|ontvangen|nieuwe|nieuw|kies|kiezen|onthoud|onthouden|versleutel|versleuteld|bevat|houd|houden|beheren|beheer|bekijk",
                "schrijf op",
                "schrijf je|uw|de herstelzin|seed",
            ],
        ),
        (
            role::TAIL,
            &[
                "generator|uitgelegd|vergeten|kwijt|bewaren|beheer|opslaan|maken|tips|gids|quiz|genereren|bekijken|tonen",
            ],
        ),
        (
            role::FILLER,
            &[
                "je|jouw|uw|mijn|de|het|een|deze|hier|hieronder|onderstaande|volgende|veld|verplicht|optioneel|vereist|woord|woorden|cijfers|cijferige|tekens|gescheiden|spatie|spaties|door|volledige|geheime|portemonnee|rekening|kaart|creditcard|juiste|volgorde|nummer|achterkant|huidige|bijv|bijvoorbeeld|geldige|oude|alle",
                "is verplicht|vereist",
            ],
        ),
        (role::LINK, &["van|voor|met|uit|op|in|te|via|bij|tot|aan|onder"]),
        (role::AND, &["en|of"]),
        (role::IT, &["deze|hem|het|hier|hieronder|die"]),
        (role::SUBJECT, &["ze|zij|wij|gebruikers|klanten|ik|hij"]),
        (role::PLEASE, &["alsjeblieft|alstublieft|graag|aub|gelieve", "moet je|u", "je|u moet|dient"]),
        (role::INQUIRE, &["wat is je|uw|jouw"]),
        (role::IF, &["als|indien"]),
        (role::THREAT, &["geblokkeerd|opgeschort|verwijderd|verliest|gesloten|beperkt"]),
        (role::ONLY, &["alleen|uitsluitend|nooit|niet"]),
    ],
    hints: &[
        (Hint::Wallet, &["cryptovaluta|cryptomunt|cryptomunten", "digitale|crypto portemonnee"]),
        (Hint::NumberedWord, &["woord|woorden"]),
        (Hint::Search, &["zoek|zoeken|zoekterm|vind|filter"]),
        (
            Hint::OtherValue,
            &[
                "naam|voornaam|achternaam|gebruikersnaam|reactie|opmerking|opmerkingen|bericht|telefoon|telefoonnummer|mobiel|bedrag|vraag|antwoord|adres|straat|huisnummer|plaats|stad|land|bedrijf|onderwerp|geboortedatum|datum|aantal|beoordeling|emailadres|mailadres|kortingscode|klantnummer",
            ],
        ),
        (
            Hint::SignIn,
            &[
                "inloggen|aanmelden|doorgaan|verder|ontgrendelen|verzenden|versturen|volgende|verifiëren|bevestigen|herstellen|controleren|koppelen",
                "log in",
                "meld aan",
            ],
        ),
        (
            Hint::MakesPasswords,
            &["genereren|genereer|sterkte|willekeurig|willekeurige|wachtwoordgenerator|lengte"],
        ),
        (
            Hint::OtherCard,
            &[
                "bibliotheekpas|bibliotheekkaart|klantenkaart|ledenpas|lidkaart|cadeaukaart|cadeaubon|studentenkaart|collegekaart|visitekaartje|identiteitskaart|zorgpas|rijbewijs",
                "ov chipkaart",
            ],
        ),
        (
            Hint::Talk,
            &[
                "wat is|zijn|betekent",
                "waarom|hoe|gids|handleiding|artikel|uitleg|woordenlijst|gepubliceerd|reacties|leestijd",
                "veelgestelde vragen",
            ],
        ),
        (Hint::Quiz, &["toets|examen|kruiswoordpuzzel|puzzel|oefening|oefeningen", "waar of niet"]),
    ],
    lures: &[
        (
            "bank",
            &[
                "rabobank|ingbank|abnamro|bankrekening|bankieren|internetbankieren|snsbank|bunq|bankpas|bankieren|bankapp|bankgegevens|knab|triodos|asn",
                "mijn ing|rabobank|abn|bank",
                "bank inloggen|app",
                "abn amro",
            ],
        ),
        ("wallet", &["cryptowallet"]),
        (
            "verify your",
            &[
                "verifieer|bevestig|valideer|controleer|update je|uw|jouw account|identiteit|gegevens|rekening|betaalgegevens|toegang",
                "verifieer|verifiëren je|uw|jouw",
            ],
        ),
        (
            "account suspended",
            &[
                "account|rekening|toegang is|wordt|werd tijdelijk? geblokkeerd|opgeschort|beperkt|geschorst|gesloten",
                "uw|je|jouw rekening|account|toegang geblokkeerd|opgeschort|beperkt|geschorst|gesloten",
                "ongebruikelijke|verdachte activiteit|activiteiten|inlogpoging",
                "account ontgrendelen|heractiveren",
            ],
        ),
    ],
    possible_lures: &[],
    no_lures: &[
        "databank|bloedbank|voedselbank|zitbank|tuinbank|hoekbank|zandbank|werkbank|slaapbank|loungebank",
        "bank in het park",
        "bank op|in de woonkamer",
        "leren|houten|nieuwe bank",
        "inloggen|aanmelden|doorgaan|verder met google|apple|microsoft|paypal",
        "met|via google|apple|microsoft|paypal",
        "bevestig je|uw e|email|emailadres|antwoord",
    ],
};
