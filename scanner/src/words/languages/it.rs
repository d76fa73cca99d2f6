//! Italian.

use super::super::Hint;
use super::super::Thing::*;
use super::super::lexicon::role;
use super::Language;

pub(super) const ITALIAN: Language = Language {
    things: &[
        (
            SeedPhrase,
            &[
                "frase|frasi segreta|segrete? di recupero|ripristino|backup|sicurezza segreta?",
                "frase|frasi seme|seed",
                "frase di|da|con 12|24|dodici parole",
                "parole seed|seme",
                "parole di recupero|ripristino|backup",
                "12|24|dodici parole di|del|segrete|della recupero|ripristino|tuo|wallet?",
                "seme|seed di recupero",
            ],
        ),
        (
            MaybeSeedPhrase,
            &[
                "frase|frasi|parole mnemonica|segreta|mnemoniche|segrete",
                "12|24|dodici parole",
                "12|24 o 24|12 parole",
            ],
        ),
        (PrivateKey, &["chiave|chiavi privata|private"]),
        (MaybePrivateKey, &["chiave segreta", "file keystore"]),
        (
            CardNumber,
            &[
                "numero|numeri|n della|di|della|tua carta|carte di? credito|debito?",
                "numero carta",
                "carta|carte di|prepagata credito|debito|pagamento?",
            ],
        ),
        (
            CardCode,
            &[
                "codice di? sicurezza|verifica|cvv|cvc della? carta?",
                "codice cvv|cvc|cvv2",
                "3|tre ultime? cifre sul|del|dietro retro?",
                "ultime 3|tre cifre",
                "codice sul retro",
            ],
        ),
        (CardExpiry, &["data|mese di scadenza", "scadenza", "valida fino"]),
        (CardHolder, &["titolare|intestatario della? carta?", "nome sulla|del|della carta|titolare"]),
        (Password, &["parola d ordine", "chiave di accesso"]),
    ],
    no_things: &[
        // A PIN.
        "codice pin|segreto",
        "chiave pubblica|api|esterna",
        "carta|tessera|numero della? carta|tessera? della|di|d|del biblioteca|regalo|fedeltà|socio|studente|identità|imbarco|visita|lettore|sanitaria",
        "numero della? carta|tessera della|di|d biblioteca|regalo|fedeltà|socio|studente|identità|sanitaria",
        "carta sim|grafica|regalo|fedeltà",
        "in|massimo|fino 12|24 parole",
        "frase del giorno",
        "codice di sicurezza dell|nell|via|che immagine|sms|email|captcha|lettere",
    ],
    roles: &[
        (
            role::GIVE,
            &[
                "inserisci|inserire|inserisca|inserite|digita|digitare|digiti|incolla|incollare|incolli|scrivi|scrivere|scriva|fornisci|fornire|fornisca|importa|importare|ripristina|ripristinare|recupera|recuperare|conferma|confermare|confermi|verifica|verificare|verifichi|convalida|invia|inviare|condividi|condividere|immetti|immettere|indica|indicare|compila|usa|accedi|collega|sblocca|sincronizza|comunica|introduci|aggiungi",
            ],
        ),
        (
            role::NOTHING,
            &["non dimenticare|dimenticarti|esitare|solo di?", "non ti|si preoccupare|preoccupi"],
        ),
        (role::NO, &["non|mai|nessuno|nessun|nessuna|senza|evita|evitare|né", "invece di"]),
        (role::NO_LAST, &["mai", "con|a nessuno", "non viene|è|sarà"]),
        (
            role::QUESTION,
            &[
                "perché|quale|quali|quanto|quante|quanti|dove|quando",
                "come|chi si|posso|faccio|funziona|fare|conservare|proteggere|recuperare|ripristinare|trovare|scegliere|creare|chiede|ha|è",
                "come",
                "che cos|cosa è|e?",
                "cos è",
                "cosa è|sono|significa|fare|succede",
                "hai|ha|dimenticato|perso|possiedi già? una|la|un|perso|dimenticato",
            ],
        ),
        (
            role::OTHER,
            &[
                "truffator*|hacker*|aggressor*|criminali|ladr*|phishing|falso|falsa|falsi|falsificat*|vittim*|qualcuno|chiunque|truff*|malintenzionat*",
                "chiede|chiedono|chieda|chiedano|chiederà|chiederanno|chiedere|chiederti|chiederemo|chiediamo|richiede|richiedono|richiederà|richiederemo|pretende|chiedendo",
                "un|i|quei sito|siti che",
            ],
        ),
        (
            role::TALK,
            &[
                "riguardo|guida|guide|tutorial|articolo|articoli|consigli|introduzione|glossario|domanda|domande|impara|imparare|capire|significato|differenza|storia|dimenticato|dimenticata|perso|persa|perdere|perdita|esempi|spiegata|spiegato|definizione|importanza|chiamata|circa",
                "tutto quello|ciò",
                "sulla|sulle|sulla frase|chiave|chiavi|frasi",
                "in modo sicuro",
            ],
        ),
        (
            role::KEEP,
            &[
                "conserva|conservare|conservala|custodisci|custodire|salva|salvare|salvato|salviamo|proteggi|proteggere|annota|annotare|annotato|mostra|mostrare|rivela|visualizza|vedi|crea|creare|genera|generare|generata|scarica|scaricare|esporta|esportare|copia|copiare|nascondi|elimina|cambia|cambiare|reimposta|ricevi|ricevere|ottieni|nuova|nuovo|scegli|memorizza|memorizziamo|cifra|cifrata|contiene|tieni|tenere|gestire",
            ],
        ),
        (role::TAIL, &["spiegata|dimenticata|persa|generata|sicura"]),
        (
            role::FILLER,
            &[
                "tua|tuo|tue|tuoi|sua|suo|vostra|la|il|lo|le|i|gli|l|una|un|qui|sotto|seguente|seguito|campo|obbligatorio|obbligatoria|opzionale|facoltativo|parola|parole|cifre|caratteri|separate|spazio|spazi|completa|segreta|segreto|portafoglio|conto|carta|credito|debito|esatto|ordine|numero|retro|attuale|es|esempio|corretta|valida",
                "ad|per esempio",
                "è obbligatorio|obbligatoria|richiesta|richiesto",
            ],
        ),
        (
            role::LINK,
            &[
                "di|del|della|dei|delle|dello|dell|per|con|in|nel|nella|da|dal|dalla|a|al|alla|sul|sulla|tramite|usando|utilizzando",
            ],
        ),
        (role::AND, &["e|ed|o|od|oppure"]),
        (role::IT, &["la|lo|le|li|qui|sotto", "inseriscila|incollala|digitala|scrivila|inserirla"]),
        (role::SUBJECT, &["loro|utenti|noi|lei|io"]),
        (role::PLEASE, &["per favore|cortesia", "si prega", "devi|deve", "è necessario"]),
        (role::INQUIRE, &["qual|quale è|e? la tua|sua"]),
        (role::IF, &["se"]),
        (role::THREAT, &["sospeso|bloccato|eliminato|perderai|chiuso|disattivato"]),
        (role::ONLY, &["solo|soltanto|mai|esclusivamente"]),
    ],
    hints: &[
        (
            Hint::Wallet,
            &["criptovaluta|criptovalute|cripto", "portafoglio digitale|crypto|elettronico|bitcoin"],
        ),
        (Hint::NumberedWord, &["parola|parole"]),
        (Hint::Search, &["cerca|cercare|ricerca|trova|filtra"]),
        (
            Hint::OtherValue,
            &[
                "nome|cognome|utente|commento|commenti|messaggio|telefono|cellulare|importo|domanda|risposta|indirizzo|via|città|paese|azienda|oggetto|nascita|data|quantità|recensione|cap|fattura|provincia",
                "codice postale|fiscale|promozionale|sms|sconto",
                "posta elettronica",
            ],
        ),
        (
            Hint::SignIn,
            &[
                "accedi|accedere|accesso|entra|continua|prosegui|sblocca|invia|avanti|verifica|conferma|ripristina|recupera|convalida|collega",
            ],
        ),
        (Hint::MakesPasswords, &["genera|generatore|casuale|lunghezza|robustezza", "password sicura"]),
        (
            Hint::OtherCard,
            &[
                "carta|tessera di|della|d|del biblioteca|regalo|fedeltà|socio|studente|identità|imbarco|visita|lettore",
                "carta|tessera sim|grafica|regalo|fedeltà|sanitaria",
                "tessera|biblioteca",
            ],
        ),
        (
            Hint::Talk,
            &[
                "cos|cosa è|e|sono",
                "che cos",
                "perché|guida|tutorial|articolo|spiegato|glossario|pubblicato|commenti|consigli|leggi|come",
                "domande frequenti",
            ],
        ),
        (Hint::Quiz, &["cruciverba|esame|esercizio|esercizi|indovinello", "vero o falso"]),
    ],
    lures: &[
        (
            "bank",
            &[
                "banca|banche|banking|bancario|bancaria|bancoposta|postepay|poste|unicredit",
                "intesa sanpaolo",
                "poste italiane",
            ],
        ),
        (
            "wallet",
            &[
                "portafoglio digitale|elettronico|crypto",
                "collega|sblocca|ripristina il|tuo tuo? portafoglio",
            ],
        ),
        (
            "verify your",
            &[
                "verifica|conferma|convalida|aggiorna il|la|i|le? tuo|tua|tuoi|tue|suo|sua|suoi conto|account|identità|dati|informazioni|accesso|pagamento",
                "verifica|verifichi|verificare il|la|i|le tuo|tua|tuoi|tue|suo|sua|suoi",
            ],
        ),
        (
            "account suspended",
            &[
                "conto|account|accesso è|sarà|e stato? temporaneamente? sospeso|bloccato|limitato|disattivato|chiuso",
                "attività|accesso insolita|insolito|sospetta|sospetto|inusuale",
                "riattiva|sblocca il tuo account|conto",
            ],
        ),
    ],
    possible_lures: &[],
    no_lures: &[
        "banca del|dei|dati|delle sangue|seme|tempo|dati|ore|immagini?",
        "banca|banche dati",
        "banco di|da scuola|prova|lavoro",
        "bonifico|bonifici bancario|bancari",
        "accedi|continua|registrati con google|apple|microsoft|paypal",
        "con|tramite|via google|apple|microsoft|paypal",
        "portafoglio in|di pelle|cuoio|azioni|titoli",
    ],
};
