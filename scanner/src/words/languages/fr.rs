//! French.

use super::super::Hint;
use super::super::Thing::*;
use super::super::lexicon::role;
use super::Language;

pub(super) const FRENCH: Language = Language {
    things: &[
        (
            SeedPhrase,
            &[
                "phrase|phrases secrète|secrètes? de|d récupération|recuperation|recup|sauvegarde|restauration",
                "phrase|phrases seed|graine|semence",
                "phrase|phrases de graine|semence|seed|départ",
                "phrase de|à 12|24|douze mots",
                "12|24|douze mots de|d récupération|sauvegarde|votre|la phrase?",
                "mots de|d récupération|sauvegarde",
                "seed|recovery phrase",
                "graine|seed de récupération",
            ],
        ),
        (
            MaybeSeedPhrase,
            &[
                "phrase|phrases mnémonique|mnémoniques|secrète|secrètes|mnémotechnique|mnémotechniques",
                "12|24|douze mots",
                "12|24 ou 24|12 mots",
                "mots secrets|mnémoniques",
            ],
        ),
        (PrivateKey, &["clé|clés|clef|clefs privée|privées|privee|privees"]),
        (MaybePrivateKey, &["clé|clef secrète|de portefeuille", "fichier keystore"]),
        (
            CardNumber,
            &[
                "numéro|numéros|numero|n|no|nº|num|chiffres de|d la|votre|ma|cette? carte|cb bancaire|bleue|crédit?",
                "numéro|numero carte bancaire?|crédit?",
                "carte de crédit|débit|paiement",
                "carte bancaire|bleue",
                "numéro cb",
            ],
        ),
        (
            CardCode,
            &[
                "cryptogramme visuel?",
                "code|codes de|d sécurité|vérification cvv|carte?",
                "code cvv|cvc|cvv2",
                "code de sécurité de la|votre carte",
                "3|trois derniers? chiffres au|derniers verso|dos|au verso|dos?",
                "code au dos|verso",
                "numéro de vérification",
            ],
        ),
        (
            CardExpiry,
            &["date d expiration|validité", "date de validité|fin", "expire|expiration", "mm aa|aaaa"],
        ),
        (
            CardHolder,
            &[
                "titulaire de? la? carte?",
                "nom sur|du|de la? carte|titulaire|porteur",
                "nom figurant sur la carte",
            ],
        ),
        (Password, &["mot|mots de passe", "mdp"]),
    ],
    no_things: &[
        // A PIN.
        "code pin|confidentiel|secret",
        "clé|clef publique|api|usb",
        "carte|numéro de? carte? de|d bibliothèque|fidélité|étudiant|membre|identité|cadeau|vitale|visite|lecteur|adhérent|abonné|embarquement|séjour",
        "numéro de la? carte de|d bibliothèque|fidélité|étudiant|membre|identité|cadeau|vitale|lecteur|adhérent|séjour",
        "en|dans|à 12|24 mots",
        "numéro de sécurité sociale",
        "code de sécurité image|captcha|reçu|envoyé|affiché|ci|de|l|par|dans image|sms|email|dessus|dessous?",
        "phrase du|d jour|accroche|exemple",
    ],
    roles: &[
        (
            role::GIVE,
            &[
                "entrez|entrer|entre|saisissez|saisir|saisie|tapez|taper|indiquez|indiquer|renseignez|renseigner|collez|coller|fournissez|fournir|insérez|insérer|importez|importer|restaurez|restaurer|récupérez|récupérer|confirmez|confirmer|vérifiez|vérifier|validez|valider|écrivez|inscrivez|communiquez|envoyez|envoyer|donnez|donner|partagez|partager|soumettez|introduisez|introduire|connectez|déverrouillez|synchronisez|remplissez|utilisez|rentrez|connexion|connecter|ajoutez",
            ],
        ),
        (
            role::NOTHING,
            &[
                "n oubliez|oublie|hésitez pas",
                "ne pas|plus? oublier",
                "pas|rien de? grave|panique",
                "entre nous|les|deux",
                "sans attendre|tarder|délai",
            ],
        ),
        (
            role::NO,
            &[
                "ne|jamais|aucun|aucune|sans|évitez|personne|ni",
                "n entrez|oubliez|avez|indiquez|communiquez|envoyez|utilisez|a|importez|est",
                "plutôt que",
            ],
        ),
        (role::NO_LAST, &["jamais|aucun", "pas|n est", "à personne"]),
        (
            role::QUESTION,
            &[
                "pourquoi|comment|combien|quelle|quel|quelles|quels|quand|quoi",
                "qui a|peut|doit|est|connaît",
                "qu est ce",
                "avez|as|possédez|connaissez vous|tu",
                "vous avez",
                "que faire|signifie|se",
                "c est quoi",
            ],
        ),
        (
            role::OTHER,
            &[
                "arnaqueur*|escroc*|pirate*|fraudeur*|attaquant*|hameçonnage|phishing|voleur*|faux|fausse|victime*|arnaque*|quelqu|quiconque",
                "demande|demandent|demandera|demanderont|demandait|réclame|réclament|demandant|demander|demandons|demanderons",
                "un|des|ces|ce|les site|sites qui",
            ],
        ),
        (
            role::TALK,
            &[
                "concernant|guide|guides|tutoriel|tutoriels|article|articles|conseils|bases|introduction|glossaire|quiz|question|questions|apprendre|comprendre|signification|différence|histoire|oublié|oubliée|perdu|perdue|perte|exemple|exemples|expliqué|expliquée|définition|newsletter|propos|parce|importance",
                "tout savoir",
                "au sujet",
                "sur les|la|le phrases|clés|phrase|clé?",
                "infolettre",
                "en toute sécurité",
            ],
        ),
        (
            role::KEEP,
            &[
                "gardez|garder|conservez|conserver|conservation|stockez|stocker|stockage|sauvegardez|sauvegarder|protégez|protéger|notez|noter|affichez|afficher|révéler|montrer|créez|créer|générez|générer|généré|générée|téléchargez|télécharger|exportez|exporter|copiez|copier|cacher|supprimer|changer|modifier|réinitialiser|recevoir|recevez|obtenir|nouvelle|nouveau|choisir|retenir|mémoriser|contient|chiffrée|chiffrer|chiffrez|noté|sauvegardé|gérer|voir",
            ],
        ),
        (role::TAIL, &["expliqué|expliquée|oublié|oubliée|perdu|perdue|générateur|sécurisée|générée"]),
        (
            role::FILLER,
            &[
                "votre|vos|ma|mon|mes|ta|ton|tes|la|le|les|l|une|un|des|ci|dessous|ici|champ|obligatoire|requis|requise|optionnel|facultatif|mot|mots|chiffres|caractères|séparés|espace|espaces|complète|secrète|secret|portefeuille|compte|carte|bancaire|exacte|ordre|suivant|suivante|numéro|verso|dos|crédit|actuel|actuelle|ex|exemple|bonne|identifiant",
                "par exemple",
                "doit|est contenir|obligatoire|requis|requise",
            ],
        ),
        (role::LINK, &["de|du|d|des|pour|avec|dans|par|en|à|au|aux|sur|via|depuis|grâce|aide"]),
        (role::AND, &["et|ou"]),
        (role::IT, &["la|le|les|ici|ci"]),
        (role::SUBJECT, &["vous|ils|elles|utilisateurs|nous|elle"]),
        (role::NOTHING, &["vous devez|pouvez|allez", "si vous|tu", "veuillez"]),
        (role::PLEASE, &["veuillez|svp|merci", "s il vous|te plaît", "vous devez", "merci de"]),
        (role::INQUIRE, &["quelle|quel est votre|ta|ton"]),
        (role::IF, &["si"]),
        (role::THREAT, &["suspendu|bloqué|supprimé|désactivé|perdrez|fermé|résilié"]),
        (role::ONLY, &["uniquement|seulement|jamais"]),
    ],
    hints: &[
        (
            Hint::Wallet,
            &[
                "portefeuille crypto|numérique|électronique|bitcoin|ethereum?",
                "cryptomonnaie|cryptomonnaies|cryptos",
            ],
        ),
        (Hint::NumberedWord, &["mot|mots"]),
        (Hint::Search, &["recherche|rechercher|chercher|trouver|filtrer"]),
        (
            Hint::OtherValue,
            &[
                "courriel|mél|nom|prénom|pseudo|commentaire|commentaires|téléphone|montant|réponse|adresse|rue|ville|pays|société|sujet|objet|naissance|date|quantité|avis|identifiant|utilisateur|mail",
                "code postal|promo|sms|reçu",
                "adresse e|mail",
                "numéro de téléphone|commande|client|facture",
            ],
        ),
        (
            Hint::SignIn,
            &[
                "connexion|connecter|continuer|déverrouiller|valider|envoyer|suivant|vérifier|confirmer|connectez|soumettre|accéder|restaurer|identifier",
                "se|vous connecter|identifier",
            ],
        ),
        (
            Hint::MakesPasswords,
            &["générer|générateur|robustesse|aléatoire|longueur|caractères", "force du mot"],
        ),
        (
            Hint::OtherCard,
            &[
                "carte de|d bibliothèque|fidélité|étudiant|membre|identité|visite|lecteur|adhérent|séjour|abonné",
                "carte cadeau|vitale|sim|étudiante|postale",
                "bibliothèque|adhérent",
            ],
        ),
        (
            Hint::Talk,
            &[
                "qu est ce",
                "c est quoi",
                "comment|pourquoi|guide|tutoriel|article|explication|lexique|publié|commentaires|lire",
                "foire aux questions",
                "tout savoir",
            ],
        ),
        (Hint::Quiz, &["quiz|examen|exercice|exercices|devinette", "mots croisés|mêlés", "vrai ou faux"]),
    ],
    lures: &[
        (
            "bank",
            &[
                "banque|banques|bancaire|bancaires|boursorama|bnp|lcl",
                "crédit agricole|mutuel|lyonnais",
                "société générale",
                "la banque postale",
                "caisse d épargne",
            ],
        ),
        (
            "wallet",
            &[
                "portefeuille numérique|crypto|électronique|bitcoin|ethereum",
                "connectez|connecter|déverrouillez|restaurez|déverrouiller votre|le portefeuille",
            ],
        ),
        (
            "verify your",
            &[
                "vérifiez|confirmez|validez|actualisez votre|vos compte|identité|informations|données|coordonnées|accès|paiement",
                "vérifiez|vérifier votre|vos",
                "vérification de votre|vos compte|identité",
            ],
        ),
        (
            "account suspended",
            &[
                "compte|accès a|est|sera été? temporairement? suspendu|bloqué|limité|restreint|désactivé|verrouillé|fermé",
                "activité|connexion|activités inhabituelle|inhabituelles|suspecte|suspectes",
                "réactivez|débloquez|réactiver|débloquer votre compte",
            ],
        ),
    ],
    possible_lures: &[],
    no_lures: &[
        "banque|banques de|d|du sang|données|images|alimentaire|photos|graines|semences|spermes|sons|accueil|lait|temps|organes|questions",
        "banque alimentaire",
        "banc|bancs",
        "carte|cartes|virement|virements|chèque|chèques|coordonnées bancaire|bancaires",
        "par carte bancaire",
        "se|vous connecter|continuer|connexion|inscrire|inscription|connecter avec google|apple|microsoft|paypal",
        "avec|par|via google|apple|microsoft|paypal",
    ],
};
