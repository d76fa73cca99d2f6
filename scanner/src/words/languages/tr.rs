//! Turkish. Verbs stand last and carry the negation in themselves; the dotless ı is folded to i.

use super::super::Hint;
use super::super::Thing::*;
use super::super::lexicon::role;
use super::Language;

pub(super) const TURKISH: Language = Language {
    things: &[
        (
            SeedPhrase,
            &[
                "kurtarma|geri|yedekleme|tohum|gizli|anımsatıcı|mnemonic|seed kurtarma|yükleme|yukleme? ifade*|kelime*|sözcü*|cümle*|kelimeler*",
                "gizli kurtarma|yedek ifade*|cümle*|kelime*",
                "12|24 kelimelik|kelime|sözcüklük kurtarma|gizli|tohum|seed? ifade*|cümle*|kelimeler*",
                "seed ifade*|kelime*|cümle*",
            ],
        ),
        (MaybeSeedPhrase, &["12|24|oniki kelime*|sözcük*", "12|24 veya 24|12 kelime*", "gizli kelime*"]),
        (PrivateKey, &["özel|ozel|gizli anahtar*", "private anahtar*"]),
        (MaybePrivateKey, &["cüzdan anahtar*", "keystore dosya*"]),
        (
            CardNumber,
            &[
                "kart|kredi|banka kartı|kart? numara*|no|nosu|numaranız*",
                "kredi|banka|debit kart*",
                "kartınızın numara*",
            ],
        ),
        (
            CardCode,
            &[
                "güvenlik|guvenlik|doğrulama kod*|numara*",
                "kart güvenlik|doğrulama kod*|numara*",
                "cvv|cvc|cvv2 kod*|numara*",
                "3|üç haneli|rakam güvenlik? kod*",
                "son|arka|kartın 3|üç hane*|rakam*",
            ],
        ),
        (CardExpiry, &["son kullanma|kullanım tarih*", "geçerlilik tarih*", "skt", "ay yıl"]),
        (CardHolder, &["kart sahib*|üzerindeki isim|ad?", "kart sahibinin ad*"]),
        (Password, &["şifre*|parola*|sifre*"]),
    ],
    no_things: &[
        // A PIN.
        "pin kod*",
        "kart şifre*",
        "genel|açık|api anahtar*",
        "kütüphane|hediye|sadakat|öğrenci|üye|kimlik|üyelik|sim|hafıza|ekran kart* numara*|no?",
        "en|toplam 12|24 kelime*",
        "posta kod*",
        "şifre oluşturucu|üretici*",
    ],
    roles: &[
        (
            role::GIVE,
            &[
                "gir|girin|giriniz|yaz|yazın|yazınız|yapıştır|yapıştırın|doğrula|doğrulayın|girerek|kullanarak",
            ],
        ),
        (
            role::GIVE_LAST,
            &[
                "gir|girin|giriniz|girmeniz|girmelisiniz|girmek|yazın|yazınız|yaz|yapıştır|yapıştırın|yapıştırınız|doğrula|doğrulayın|doğrulayınız|onayla|onaylayın|aktar|aktarın|kurtarın|yükle|yükleyin|paylaş|paylaşın|gönder|gönderin|sağlayın|belirtin|kullanın|girerek|kullanarak|gerekli|doldurun|bağla|girişi|ekleyin|verin|girmelisin",
            ],
        ),
        (role::NOTHING, &["unutmayın|unutma|endişelenmeyin|merak etmeyin|kaçırmayın"]),
        (role::NO, &["asla|hiç|hiçbir|kimse|kimseyle|kimseye|sakın|olmadan"]),
        (
            role::NO_LAST,
            &[
                "girmeyin*|girme|paylaşmayın*|paylaşma|vermeyin*|verme|yazmayın*|yazma|yapıştırmayın*|istemez*|istemeyiz|istemeyeceğiz|istemeyecek*|sormaz*|sormayız|sormayacak*|saklamaz*|saklamıyoruz|saklamayız|göndermeyin*|söylemeyin*|kimse*|asla|değil|yok|etmez*|kaydetmez*|kaydetmiyoruz|paylaşmamalı*|girmemeli*|iletmeyin",
            ],
        ),
        (
            role::QUESTION,
            &[
                "nedir|neden|nasıl|hangi|kaç|nerede|kim|kime|niçin|niye|neler",
                "ne demek|işe|zaman|yapmalı",
                "mı|mi|mu|mü|mıdır|midir|misiniz|musunuz|mısınız",
            ],
        ),
        (
            role::OTHER,
            &[
                "dolandırıcı*|saldırgan*|hırsız*|sahte|kimlik|avı|oltalama|kurban*|biri|birisi|bilgisayar korsan*|hacker*|phishing",
                "ister|isterler|isteyen|istiyor|isterse|isteyecek|sorar|soran|sorarsa|soruyor|talep",
            ],
        ),
        (
            role::TALK,
            &[
                "hakkında|rehber*|kılavuz*|makale*|ipucu|ipuçları|temeller*|giriş|sözlük|quiz|soru|sorular|öğren|öğrenin|anla|anlam*|fark*|tarih|tarihçe*|unuttum|unuttunuz|unutulan|kaybetti*|kayıp|kaybeder*|örnek*|açıkla*|tanım*|bülten*|önem*|güvenli|nedir|ile ilgili|denir",
            ],
        ),
        (
            role::KEEP,
            &[
                "sakla|saklayın|saklayınız|saklamak|koru|koruyun|korumak|korumanın|yedekle|yedekleyin|kaydet|kaydedin|kaydettim|göster|gösterin|görüntüle|oluştur|oluşturun|oluşturma|üret|üretin|indir|indirin|kopyala|kopyalayın|gizle|sil|değiştir|sıfırla|yeni|seç|ezberle|şifrele*|içerir|saklama|saklanır|not|dışa|al|edin",
            ],
        ),
        (
            role::TAIL,
            &[
                "oluşturucu*|üretici*|nedir|saklama|güvenliği|rehberi|yönetimi|unuttum|oluştur|göster|kopyala|paylaş|paylaşma|yönetici*|kriptografi",
            ],
        ),
        (
            role::FILLER,
            &[
                "lütfen|cüzdan|cüzdanınızın|cüzdanın|buraya|burada|aşağıya|aşağıdaki|zorunlu|isteğe|bağlı|kelime|kelimelik|kelimeler|hane|haneli|rakam|boşluk|boşlukla|arasında|ayrılmış|tam|hesap|hesabınızın|kart|kartınızın|sizin|senin|bir|alan|alanı|sırayla|doğru|örn|örneğin|metamask|alana|arkasındaki|kutuya",
            ],
        ),
        (role::LINK, &["ile|için|den|dan|da|de|a|e|ı|i|ın|in"]),
        (role::AND, &["ve|veya|ya"]),
        (role::IT, &["buraya|aşağıya|onu"]),
        (role::SUBJECT, &["kullanıcılar|insanlar|onlar"]),
        (role::PLEASE, &["lütfen"]),
        (role::INQUIRE, &["nedir"]),
        (role::THREAT, &["askıya|kapatılacak|silinecek|engellenecek"]),
    ],
    hints: &[
        (Hint::Wallet, &["cüzdan*|kripto*|blokzincir|bitcoin*"]),
        (Hint::NumberedWord, &["kelime|sözcük"]),
        (Hint::Search, &["ara|arama|bul|filtrele"]),
        (
            Hint::OtherValue,
            &[
                "ad|adı|adınız|soyad|soyadı|soyadınız|isim|isminiz|yorum|yorumunuz|mesaj|mesajınız|telefon|tutar|miktar|soru|sorunuz|cevap|cevabınız|yanıt|adres|adresiniz|şehir|ülke|şirket|konu|tarih|posta|eposta|il|ilçe|tckn",
                "kullanıcı adı",
                "posta kodu",
                "sms kodu",
                "e posta",
            ],
        ),
        (Hint::SignIn, &["giriş|oturum|devam|gönder|ileri|doğrula|onayla|kilidi|bağlan|bağla|kurtar"]),
        (Hint::MakesPasswords, &["oluşturucu|üretici|rastgele|güçlü|uzunluk|üret"]),
        (
            Hint::OtherCard,
            &["kütüphane|hediye|sadakat|öğrenci|üye|kimlik|üyelik|sim|hafıza|şehir|kent|ulaşım|otobüs kart*"],
        ),
        (Hint::Talk, &["nedir|neden|nasıl|rehber|makale|ipuçları|yorumlar|sözlük", "sık sorulan sorular"]),
        (Hint::Quiz, &["sınav|test|bulmaca|alıştırma", "doğru mu yanlış mı"]),
    ],
    lures: &[
        (
            "bank",
            &[
                "bankamız*|bankanız*|bankaları*|bankasın*",
                "internet|mobil şube*",
                "banka|bankası|bankanız|bankacılık|bankacılığı|bankanızın|bankasi|akbank|denizbank|enpara|teb",
            ],
        ),
        (
            "wallet",
            &["kripto|dijital cüzdan*", "cüzdanınızı|cüzdanını|cüzdan bağla*|doğrula*|kilidini|geri|kurtar*"],
        ),
        (
            "verify your",
            &[
                "hesabınızı|kimliğinizi|bilgilerinizi|hesabını|kimliğini doğrula|doğrulayın|doğrulayınız|onaylayın|güncelleyin",
            ],
        ),
        (
            "account suspended",
            &[
                "hesabınız|hesabin geçici|askıya|kısıtlandı|engellendi|donduruldu|bloke alındı|olarak?",
                "olağandışı|şüpheli etkinlik|hareket|giriş|işlem",
            ],
        ),
    ],
    possible_lures: &[],
    no_lures: &[
        "kan|gıda|veri|soru|sperm|tohum|süt|fikir bankası|bankasın*",
        "banka kartı|havalesi|transferi|kartı|kartıyla",
        "deri|erkek|kadın cüzdan|cüzdanı",
        "google|apple|microsoft ile giriş|devam|oturum|kaydol",
        "cevabınızı doğrula|doğrulayın",
    ],
};
