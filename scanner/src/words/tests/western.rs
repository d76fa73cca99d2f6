//! Requests in Western languages.

use super::super::Thing::*;
use super::*;

#[test]
fn german() {
    assert_asked(&[
        (SeedPhrase, "Seed-Phrase"),
        (SeedPhrase, "Deine Seedphrase"),
        (SeedPhrase, "Wiederherstellungsphrase (12 oder 24 Wörter)"),
        (SeedPhrase, "Ihre geheime Wiederherstellungsphrase"),
        (SeedPhrase, "12-Wort-Phrase"),
        (PrivateKey, "Privater Schlüssel"),
        (PrivateKey, "Private Key"),
        (CardNumber, "Kreditkartennummer"),
        (CardNumber, "Kartennummer *"),
        (CardCode, "Prüfnummer"),
        (CardCode, "Kartenprüfnummer (CVV)"),
        (CardCode, "Sicherheitscode"),
        (CardExpiry, "Gültig bis"),
        (CardHolder, "Karteninhaber"),
        (Password, "Passwort"),
    ]);
    assert_requested(&[
        (SeedPhrase, "Gib deine Seed-Phrase ein"),
        (SeedPhrase, "Bitte geben Sie Ihre Wiederherstellungsphrase ein"),
        (SeedPhrase, "Seed-Phrase eingeben"),
        (SeedPhrase, "Wallet mit Wiederherstellungsphrase importieren"),
        (SeedPhrase, "Geben Sie hier Ihre 12 Wörter der Seed Phrase ein"),
        (SeedPhrase, "Tragen Sie Ihre Seedphrase in das Feld ein, damit Sie nicht gesperrt werden"),
        (PrivateKey, "Privaten Schluessel eingeben"),
        (PrivateKey, "Füge deinen privaten Schlüssel ein"),
        (CardNumber, "Bitte Kartennummer eingeben"),
        (Password, "Passwort eingeben"),
    ]);
    assert_talk(&[
        (SeedPhrase, "Was ist eine Seed-Phrase?"),
        (SeedPhrase, "Gib deine Seed-Phrase niemals ein"),
        (SeedPhrase, "Geben Sie Ihre Wiederherstellungsphrase niemals weiter"),
        (SeedPhrase, "Teile deine Seedphrase mit niemandem"),
        (SeedPhrase, "Wir fragen nie nach deiner Seed-Phrase"),
        (SeedPhrase, "Betrüger wollen deine Seed-Phrase"),
        (SeedPhrase, "Niemand von uns wird nach Ihrer Wiederherstellungsphrase fragen"),
        (SeedPhrase, "Wie bewahre ich meine Seed-Phrase auf?"),
        (SeedPhrase, "Seed-Phrase sicher aufbewahren"),
        (SeedPhrase, "Ratgeber: Die Seedphrase einfach erklärt"),
        (SeedPhrase, "Notiere deine Seed-Phrase auf Papier"),
        (SeedPhrase, "Seed-Phrase vergessen?"),
        (PrivateKey, "Der private Schlüssel verlässt nie dein Gerät"),
        (PrivateKey, "Privaten Schlüssel erzeugen"),
        (PrivateKey, "Unterschied zwischen öffentlichem und privatem Schlüssel"),
        (CardCode, "Wo finde ich die Prüfnummer?"),
        (CardNumber, "Senden Sie Ihre Kartennummer nie per E-Mail"),
        (Password, "Passwort vergessen?"),
    ]);
}

#[test]
fn french() {
    assert_asked(&[
        (SeedPhrase, "Phrase de récupération"),
        (SeedPhrase, "Votre phrase secrète de récupération"),
        (MaybeSeedPhrase, "Phrase mnémonique (12 ou 24 mots)"),
        (SeedPhrase, "Phrase de récupération de votre portefeuille"),
        (PrivateKey, "Clé privée"),
        (CardNumber, "Numéro de carte"),
        (CardNumber, "N° de carte bancaire"),
        (CardCode, "Cryptogramme visuel"),
        (CardCode, "Code de sécurité (CVV)"),
        (CardExpiry, "Date d'expiration"),
        (CardHolder, "Titulaire de la carte"),
        (Password, "Mot de passe"),
        (SeedPhrase, "Entrez votre phrase de récupération"),
        (MaybeSeedPhrase, "Veuillez saisir votre phrase secrète ci-dessous"),
        (PrivateKey, "Collez votre clé privée ici"),
        (SeedPhrase, "Restaurer avec la phrase de récupération"),
        (CardNumber, "Saisissez le numéro de votre carte"),
        (MaybeSeedPhrase, "Ne la partagez jamais. Entrez votre phrase secrète :"),
    ]);
    assert_talk(&[
        (SeedPhrase, "Qu'est-ce qu'une phrase de récupération ?"),
        (SeedPhrase, "Ne partagez jamais votre phrase de récupération"),
        (SeedPhrase, "N'entrez jamais votre phrase secrète sur un site"),
        (SeedPhrase, "Nous ne vous demanderons jamais votre phrase de récupération"),
        (SeedPhrase, "Personne ne doit vous demander votre phrase secrète"),
        (SeedPhrase, "Les escrocs veulent votre phrase de récupération"),
        (SeedPhrase, "Comment conserver sa phrase de récupération"),
        (SeedPhrase, "Notez votre phrase de récupération sur papier"),
        (SeedPhrase, "Phrase de récupération oubliée ?"),
        (SeedPhrase, "Si un site vous demande votre phrase secrète, fuyez"),
        (SeedPhrase, "Guide de la phrase de récupération"),
        (PrivateKey, "Votre clé privée ne quitte jamais votre appareil"),
        (PrivateKey, "Générer une clé privée"),
        (PrivateKey, "Qu'est-ce que la clé privée"),
        (CardCode, "Où trouver le cryptogramme ?"),
        (CardNumber, "Ne communiquez pas votre numéro de carte"),
        (Password, "Mot de passe oublié ?"),
    ]);
}

#[test]
fn spanish() {
    assert_asked(&[
        (SeedPhrase, "Frase semilla"),
        (SeedPhrase, "Frase de recuperación"),
        (SeedPhrase, "Tu frase secreta de recuperación (12 palabras)"),
        (SeedPhrase, "Frase de recuperación de tu billetera"),
        (PrivateKey, "Clave privada"),
        (CardNumber, "Número de tarjeta"),
        (CardNumber, "Número de la tarjeta de crédito"),
        (CardCode, "Código de seguridad"),
        (CardCode, "Código CVV"),
        (CardExpiry, "Fecha de vencimiento"),
        (CardHolder, "Titular de la tarjeta"),
        (Password, "Contraseña"),
        (SeedPhrase, "Introduce tu frase semilla"),
        (SeedPhrase, "Ingrese su frase de recuperación a continuación"),
        (PrivateKey, "Pega tu clave privada aquí"),
        (SeedPhrase, "Por favor, escriba su frase semilla"),
        (SeedPhrase, "Restaurar con frase de recuperación"),
        (CardCode, "Ingresa el código de seguridad de tu tarjeta"),
    ]);
    assert_talk(&[
        (SeedPhrase, "¿Qué es una frase semilla?"),
        (SeedPhrase, "Nunca compartas tu frase semilla"),
        (SeedPhrase, "No introduzcas tu frase de recuperación en ninguna web"),
        (SeedPhrase, "Nunca te pediremos tu frase semilla"),
        (SeedPhrase, "Los estafadores quieren tu frase semilla"),
        (SeedPhrase, "Si alguien te pide tu frase de recuperación, desconfía"),
        (SeedPhrase, "Cómo guardar tu frase semilla"),
        (SeedPhrase, "Anota tu frase de recuperación en papel"),
        (SeedPhrase, "¿Olvidaste tu frase semilla?"),
        (SeedPhrase, "Guía sobre la frase semilla"),
        (PrivateKey, "Generar clave privada"),
        (PrivateKey, "Tu clave privada nunca sale de tu dispositivo"),
        (PrivateKey, "¿Por qué es importante la clave privada?"),
        (CardCode, "¿Dónde está el código de seguridad?"),
        (CardNumber, "No envíes tu número de tarjeta por correo"),
        (Password, "¿Olvidaste tu contraseña?"),
    ]);
}

#[test]
fn portuguese() {
    assert_asked(&[
        (SeedPhrase, "Frase de recuperação"),
        (SeedPhrase, "Frase semente"),
        (SeedPhrase, "Sua frase secreta de recuperação"),
        (SeedPhrase, "Seed phrase (12 ou 24 palavras)"),
        (PrivateKey, "Chave privada"),
        (CardNumber, "Número do cartão"),
        (CardNumber, "Número do cartão de crédito"),
        (CardCode, "Código de segurança"),
        (CardCode, "CVV (3 dígitos no verso)"),
        (CardExpiry, "Validade"),
        (CardHolder, "Nome impresso no cartão"),
        (Password, "Senha"),
        (SeedPhrase, "Digite sua frase de recuperação"),
        (SeedPhrase, "Digite no campo abaixo a sua frase de recuperação"),
        (PrivateKey, "Cole sua chave privada aqui"),
        (SeedPhrase, "Por favor, insira a frase semente"),
        (SeedPhrase, "Restaurar carteira com frase de recuperação"),
    ]);
    assert_talk(&[
        (SeedPhrase, "O que é uma frase de recuperação?"),
        (SeedPhrase, "Nunca compartilhe sua frase de recuperação"),
        (SeedPhrase, "Não digite sua frase semente em sites"),
        (SeedPhrase, "Nunca pediremos sua frase de recuperação"),
        (SeedPhrase, "Golpistas querem sua frase de recuperação"),
        (SeedPhrase, "Se alguém pedir sua frase semente, desconfie"),
        (SeedPhrase, "Como guardar sua frase de recuperação"),
        (SeedPhrase, "Anote sua frase de recuperação em papel"),
        (SeedPhrase, "Esqueceu sua frase de recuperação?"),
        (SeedPhrase, "Guia sobre a frase semente"),
        (PrivateKey, "Gerar chave privada"),
        (PrivateKey, "Sua chave privada nunca sai do dispositivo"),
        (PrivateKey, "Qual é a diferença entre chave pública e chave privada?"),
        (CardCode, "Onde fica o código de segurança?"),
        (CardNumber, "Não envie o número do cartão por e-mail"),
        (Password, "Esqueci minha senha"),
    ]);
}

#[test]
fn italian() {
    assert_asked(&[
        (SeedPhrase, "Frase di recupero"),
        (SeedPhrase, "Frase seed"),
        (SeedPhrase, "La tua frase segreta di recupero (12 parole)"),
        (MaybeSeedPhrase, "Frase mnemonica"),
        (PrivateKey, "Chiave privata"),
        (CardNumber, "Numero di carta"),
        (CardNumber, "Numero della carta di credito"),
        (CardCode, "Codice di sicurezza"),
        (CardCode, "CVV / CVC"),
        (CardExpiry, "Data di scadenza"),
        (CardHolder, "Titolare della carta"),
        (Password, "La tua password"),
        (SeedPhrase, "Inserisci la tua frase di recupero"),
        (SeedPhrase, "Si prega di inserire la frase seed"),
        (PrivateKey, "Incolla qui la tua chiave privata"),
        (SeedPhrase, "Ripristina il portafoglio con la frase di recupero"),
        (SeedPhrase, "Non condividerla mai. Inserisci la frase seed:"),
    ]);
    assert_talk(&[
        (SeedPhrase, "Che cos'è una frase di recupero?"),
        (SeedPhrase, "Non condividere mai la tua frase di recupero"),
        (SeedPhrase, "Non inserire la frase seed su siti web"),
        (SeedPhrase, "Non ti chiederemo mai la frase di recupero"),
        (SeedPhrase, "I truffatori vogliono la tua frase di recupero"),
        (SeedPhrase, "Se qualcuno chiede la tua frase seed, è una truffa"),
        (SeedPhrase, "Come conservare la frase di recupero"),
        (SeedPhrase, "Annota la frase di recupero su carta"),
        (SeedPhrase, "Hai dimenticato la frase di recupero?"),
        (SeedPhrase, "Guida alla frase seed"),
        (PrivateKey, "Genera chiave privata"),
        (PrivateKey, "La tua chiave privata non lascia mai il dispositivo"),
        (PrivateKey, "Differenza tra chiave pubblica e chiave privata"),
        (CardCode, "Dove trovo il codice di sicurezza?"),
        (CardNumber, "Non inviare il numero di carta via e-mail"),
        (Password, "Password dimenticata?"),
    ]);
}

#[test]
fn dutch() {
    assert_asked(&[
        (SeedPhrase, "Herstelzin"),
        (SeedPhrase, "Je herstelzin (12 of 24 woorden)"),
        (SeedPhrase, "Geheime herstelzin"),
        (SeedPhrase, "Seed phrase van je wallet"),
        (PrivateKey, "Privésleutel"),
        (PrivateKey, "Private sleutel"),
        (CardNumber, "Kaartnummer"),
        (CardNumber, "Creditcardnummer"),
        (CardCode, "Beveiligingscode"),
        (CardCode, "CVC-code"),
        (CardExpiry, "Vervaldatum"),
        (CardHolder, "Naam op kaart"),
        (Password, "Wachtwoord"),
        (SeedPhrase, "Voer je herstelzin in"),
        (SeedPhrase, "Herstelzin invoeren"),
        (PrivateKey, "Plak hier je privésleutel"),
        (SeedPhrase, "Vul uw seed phrase in om verder te gaan"),
    ]);
    assert_talk(&[
        (SeedPhrase, "Wat is een herstelzin?"),
        (SeedPhrase, "Deel je herstelzin nooit"),
        (SeedPhrase, "Voer je herstelzin nooit in op een website"),
        (SeedPhrase, "Wij vragen nooit naar je herstelzin"),
        (SeedPhrase, "Oplichters willen je herstelzin"),
        (SeedPhrase, "Hoe bewaar je je herstelzin?"),
        (SeedPhrase, "Schrijf je herstelzin op papier"),
        (SeedPhrase, "Herstelzin vergeten?"),
        (SeedPhrase, "Alles over de herstelzin"),
        (PrivateKey, "Privésleutel genereren"),
        (PrivateKey, "Je privésleutel verlaat nooit je apparaat"),
        (PrivateKey, "Het verschil tussen publieke en private sleutel"),
        (CardCode, "Waar vind ik de beveiligingscode?"),
        (CardNumber, "Stuur je kaartnummer nooit per e-mail"),
        (Password, "Wachtwoord vergeten?"),
    ]);
}

#[test]
fn polish() {
    assert_asked(&[
        (SeedPhrase, "Fraza seed"),
        (SeedPhrase, "Fraza odzyskiwania (12 lub 24 słowa)"),
        (SeedPhrase, "Twoja tajna fraza odzyskiwania"),
        (MaybeSeedPhrase, "Fraza mnemoniczna"),
        (PrivateKey, "Klucz prywatny"),
        (CardNumber, "Numer karty"),
        (CardNumber, "Numer karty kredytowej"),
        (CardCode, "Kod CVV"),
        (CardCode, "Kod zabezpieczający"),
        (CardExpiry, "Data ważności"),
        (CardHolder, "Posiadacz karty"),
        (Password, "Hasło"),
        (SeedPhrase, "Wpisz swoją frazę odzyskiwania"),
        (SeedPhrase, "Proszę podać frazę seed"),
        (PrivateKey, "Wklej swój klucz prywatny"),
        (SeedPhrase, "Przywróć portfel za pomocą frazy odzyskiwania"),
    ]);
    assert_talk(&[
        (SeedPhrase, "Co to jest fraza seed?"),
        (SeedPhrase, "Nigdy nie podawaj frazy odzyskiwania"),
        (SeedPhrase, "Nie wpisuj swojej frazy seed na stronach"),
        (SeedPhrase, "Nigdy nie prosimy o frazę odzyskiwania"),
        (SeedPhrase, "Oszuści chcą twojej frazy odzyskiwania"),
        (SeedPhrase, "Jak przechowywać frazę odzyskiwania"),
        (SeedPhrase, "Zapisz frazę odzyskiwania na papierze"),
        (SeedPhrase, "Zapomniałeś frazy odzyskiwania?"),
        (SeedPhrase, "Poradnik: fraza seed"),
        (SeedPhrase, "Jeśli ktoś prosi o frazę seed, to oszustwo"),
        (PrivateKey, "Wygeneruj klucz prywatny"),
        (PrivateKey, "Twój klucz prywatny nigdy nie opuszcza urządzenia"),
        (PrivateKey, "Czym jest klucz prywatny?"),
        (CardCode, "Gdzie znajdę kod CVV?"),
        (CardNumber, "Nie wysyłaj numeru karty e-mailem"),
        (Password, "Nie pamiętasz hasła?"),
    ]);
}
