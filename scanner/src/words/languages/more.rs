//! Languages of which only the commonest words stand here: Ukrainian, Korean, Indonesian, Vietnamese, Swedish, Danish, Norwegian,
//! Czech, Romanian. Enough for a plain label or request, and for the commonest warnings.

use super::super::Hint;
use super::super::Thing::*;
use super::super::lexicon::role;
use super::Language;

pub(super) const MORE: Language = Language {
    things: &[
        (
            SeedPhrase,
            &[
                "시드|복구|니모닉|비밀|백업 구문*|문구*|단어*",
                "니모닉*|시드구문*|복구구문*|시드문구*|복구문구*",
                "비밀 복구 구문*|문구*",
                "frasa|frase pemulihan|benih|rahasia|seed|cadangan rahasia?",
                "kata pemulihan|benih",
                "cụm từ khôi|bí|hạt|mật|ghi|sao phục|mật|giống|khôi|nhớ|lưu phục? bí? mật?",
                "återställningsfras*|återställningsord*|fröfras*|seedfras*|gendannelsesfras*|gendannelsessætning*|gjenopprettingsfras*|gjenopprettingsord*|seedord",
                "hemlig|hemmelig återställningsfras*|gendannelsessætning|gjenopprettingsfrase",
                "obnovovací|seed|mnemotechnick* fráz*|slova",
                "tajn* obnovovací|seed fráz*",
                "fraz* de recuperare|seed|mnemonică",
                "frază|fraza secretă|seed|mnemonică de? recuperare?",
                "фраз* відновлення",
                "сід фраз*",
                "секретн* фраз* відновлення?",
            ],
        ),
        (
            PrivateKey,
            &[
                "개인 키*",
                "개인키*|프라이빗키*",
                "프라이빗 키*",
                "kunci pribadi|privat|private",
                "khóa|khoá riêng|cá tư|nhân?",
                "privat|privata|private nyckel|nøgle|nøkkel|nyckeln|nøglen|nøkkelen",
                "privatnyckel|privatnøgle|privatnøkkel",
                "soukrom*|privátn* klíč*",
                "cheie|cheia privată",
                "приватн*|закрит* ключ*",
            ],
        ),
        (
            CardNumber,
            &[
                "카드 번호*",
                "카드번호*",
                "nomor kartu kredit|debit?",
                "số thẻ",
                "kortnummer*|kreditkortsnummer|kreditkortnummer",
                "číslo karty",
                "număr|numărul card|cardului|cardul",
                "номер картки|карти",
            ],
        ),
        (
            CardCode,
            &[
                "보안 코드*",
                "보안코드*|cvc번호",
                "kode keamanan|cvv",
                "mã bảo mật|cvv",
                "säkerhetskod|sikkerhedskode|sikkerhetskode|kontrolcifre|kontrollsiffror",
                "bezpečnostní|ověřovací kód",
                "cod|codul de securitate|cvv",
                "код безпеки|cvv",
            ],
        ),
        (
            CardExpiry,
            &[
                "만료일|유효기간",
                "tanggal kedaluwarsa|kadaluarsa",
                "ngày hết hạn",
                "utgångsdatum|udløbsdato|utløpsdato",
                "platnost do|karty",
                "data expirării",
                "термін дії",
            ],
        ),
        (
            Password,
            &[
                "비밀번호*|패스워드",
                "kata sandi",
                "sandi",
                "mật khẩu",
                "lösenord*|adgangskode*|passord*",
                "heslo",
                "parola|parolă",
            ],
        ),
    ],
    no_things: &["kunci publik|api", "공개 키*", "публічн* ключ*", "veřejn* klíč*"],
    roles: &[
        (
            role::GIVE,
            &[
                "masukkan|ketik|tempel|impor|pulihkan|isi|verifikasi|konfirmasi|nhập|dán|khôi|điền|ange|skriv|klistra|importera|återställ|bekräfta|fyll|indtast|indsæt|importer|gendan|bekræft|oppgi|tast|lim|gjenopprett|bekreft|zadejte|vložte|napište|importujte|obnovte|potvrďte|introduceți|introdu|scrieți|lipiți|importați|restaurați|confirmați|введіть|вставте|вкажіть|імпортуйте|відновіть|підтвердіть",
            ],
        ),
        (role::GIVE_LAST, &["입력*|붙여넣*|복원*|가져오기|인증*|확인하*"]),
        (
            role::NO,
            &[
                "jangan|tidak|tak|pernah|đừng|không|chưa|aldrig|inte|ingen|ikke|aldri|nikdy|nikomu|nezadávejte|nesdílejte|neposílejte|nu|niciodată|nimeni|nikt|ніколи|нікому|ніхто|절대|절대로|절대로",
            ],
        ),
        (role::NO_LAST, &["마세요|마십시오|않습니다|않*|aldrig|aldri|ikke|inte|말*", "với ai|bất"]),
        (
            role::QUESTION,
            &[
                "apa|bagaimana|mengapa|kenapa|dimana|berapa|vad|hur|varför|vilken|hvad|hvordan|hvorfor|hva|hvilken|jak|proč|kde|kolik|cum|unde|cât|무엇|왜|어떻게|어디",
                "là gì",
                "làm sao|thế",
                "ce este|sunt|înseamnă",
                "co je",
                "무엇인가요|란|이란",
                "de ce",
            ],
        ),
        (
            role::OTHER,
            &[
                "penipu|penjahat|peretas|meminta|lừa|hacker|bedragare|svindlere|svindlare|svindlerne|ber|beder|podvodníci|podvodník|escrocii|cere|cer|шахраї|просить|просять|사기꾼*|피싱*|요구*|요청*",
            ],
        ),
        (
            role::TALK,
            &[
                "panduan|tentang|artikel|lupa|hướng|quên|guide|om|glömt|artikkel|glemt|průvodce|zapomněli|článek|ghid|despre|uitat|стаття|забули|про|가이드|잊*|분실*|대해|이란|apaitu",
            ],
        ),
        (
            role::KEEP,
            &[
                "simpan|catat|buat|tampilkan|salin|unduh|lindungi|lưu|tạo|sao|hiển|spara|förvara|skapa|visa|kopiera|gem|opbevar|opret|vis|oppbevar|lagre|uložte|uschovejte|vytvořit|zobrazit|salvați|păstrați|generați|generează|зберігайте|запишіть|створити|згенерувати|보관*|저장*|생성*|만들*|보호*|백업*",
            ],
        ),
        (
            role::FILLER,
            &[
                "anda|kamu|di|sini|bawah|dompet|của|bạn|vào|đây|ví|din|ditt|dina|här|nedan|plånbok|dit|her|nedenfor|pung|lommebok|vaše|vaši|váš|svou|svůj|své|zde|níže|dumneavoastră|ta|tău|aici|jos|portofel|이|내|귀하의|지갑*|여기에|아래에|vašu|ваш|вашу|свою|нижче|тут|mã|fältet|feltet|sau|atau|hoặc|eller|nebo|або|또는",
            ],
        ),
        (role::PLEASE, &["silakan|harap|mohon|vui|xin|vänligen|venligst|vennligst|prosím|rog|прошу"]),
    ],
    hints: &[
        (
            Hint::Wallet,
            &[
                "dompet kripto|digital",
                "ví điện|tiền",
                "plånbok|lommebok|kryptovaluta|kryptoměna|peněženka|지갑*|암호화폐|гаманець|криптогаманець|criptomonede",
            ],
        ),
        (Hint::Search, &["cari|tìm|sök|søg|søk|hledat|caută|검색|пошук"]),
        (
            Hint::OtherValue,
            &[
                "nama|komentar|pesan|telepon|alamat|jawaban|namn|efternamn|meddelande|besked|navn|melding|adresse|adress|jméno|příjmení|zpráva|komentář|nume|mesaj|comentariu|telefon|이름|이메일|댓글|전화번호|주소|메시지|답변|ім'я|повідомлення|коментар|tên|email|địa|svar",
            ],
        ),
        (
            Hint::SignIn,
            &[
                "masuk|lanjutkan|kirim|đăng|tiếp|gửi|fortsätt|skicka|fortsæt|fortsett|přihlásit|pokračovat|odeslat|conectare|continuă|trimite|로그인|계속|확인|다음|увійти|продовжити",
                "logga|log|logg ind|inn|in",
            ],
        ),
    ],
    lures: &[
        (
            "bank",
            &[
                "은행*|bankid|nettbank|nettbanken|netbank|netbanken|internetbank|internetbanken|sparbanken|storbanken|приват24",
                "ngân hàng",
                "internetov* bankovnictví",
                "banca transilvania",
                "онлаин|інтернет банк*",
            ],
        ),
        ("wallet", &["dompet kripto|digital", "지갑 연결*|복구*|주소|잠금", "kryptoměnov* peněžen*"]),
        (
            "verify your",
            &[
                "verifikasi akun|identitas|anda",
                "xác minh tài|danh",
                "verifiera|bekräfta ditt|din|dina",
                "bekræft din|dit|dine",
                "bekreft din|ditt|dine",
                "ověřte svůj|svou|své|účet",
                "verificați|confirmați contul|identitatea|datele",
                "підтвердіть ваш|свій|вашу|акаунт",
            ],
        ),
    ],
    possible_lures: &[],
    no_lures: &[
        "blodbank|sandbank|datenbank|bank darah|sampah|soal",
        "bank darah|sampah|soal",
        // Benches, once their dots are gone.
        "främre|bakre|långa|gröna|röda|första|sista bank|banken",
        "plechov*|sklenen* banka|banku|banky",
    ],
};
