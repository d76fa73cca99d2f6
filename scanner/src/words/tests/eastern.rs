//! Requests in Eastern languages.

use super::super::Thing::*;
use super::*;

#[test]
fn russian() {
    assert_asked(&[
        (SeedPhrase, "Сид-фраза"),
        (SeedPhrase, "Секретная фраза восстановления"),
        (SeedPhrase, "Ваша сид-фраза (12 или 24 слова)"),
        (MaybeSeedPhrase, "Мнемоническая фраза"),
        (PrivateKey, "Приватный ключ"),
        (PrivateKey, "Закрытый ключ"),
        (CardNumber, "Номер карты"),
        (CardNumber, "Номер банковской карты"),
        (CardCode, "CVV-код"),
        (CardCode, "Код безопасности"),
        (CardExpiry, "Срок действия"),
        (CardHolder, "Владелец карты"),
        (Password, "Пароль"),
        (SeedPhrase, "Введите вашу сид-фразу"),
        (SeedPhrase, "Пожалуйста, введите фразу восстановления ниже"),
        (PrivateKey, "Вставьте приватный ключ"),
        (SeedPhrase, "Восстановить кошелёк с помощью сид-фразы"),
        (CardCode, "Введите трёхзначный код на обороте карты"),
    ]);
    assert_talk(&[
        (SeedPhrase, "Что такое сид-фраза?"),
        (SeedPhrase, "Никогда не вводите сид-фразу на сайтах"),
        (SeedPhrase, "Никому не сообщайте вашу фразу восстановления"),
        (SeedPhrase, "Мы никогда не попросим вашу сид-фразу"),
        (SeedPhrase, "Мошенники хотят вашу сид-фразу"),
        (SeedPhrase, "Если сайт просит сид-фразу, уходите"),
        (SeedPhrase, "Как хранить сид-фразу"),
        (SeedPhrase, "Запишите сид-фразу на бумаге"),
        (SeedPhrase, "Забыли сид-фразу?"),
        (SeedPhrase, "Статья о сид-фразах"),
        (SeedPhrase, "Сид-фраза — это набор из 12 слов"),
        (PrivateKey, "Сгенерировать приватный ключ"),
        (PrivateKey, "Приватный ключ никогда не покидает устройство"),
        (PrivateKey, "Чем отличается публичный ключ от приватного ключа"),
        (CardCode, "Где находится CVV-код?"),
        (CardNumber, "Не отправляйте номер карты по почте"),
        (Password, "Забыли пароль?"),
    ]);
    assert_none(&[
        (SeedPhrase, "Поиск по сайту"),
        (CardNumber, "Номер читательского билета"),
        (PrivateKey, "Ключевые слова"),
    ]);
}

#[test]
fn turkish() {
    assert_asked(&[
        (SeedPhrase, "Kurtarma ifadesi"),
        (SeedPhrase, "Gizli kurtarma ifadeniz"),
        (SeedPhrase, "12 kelimelik kurtarma ifadesi"),
        (SeedPhrase, "Kurtarma kelimeleri"),
        (PrivateKey, "Özel anahtar"),
        (CardNumber, "Kart numarası"),
        (CardNumber, "Kredi kartı numarası"),
        (CardCode, "Güvenlik kodu"),
        (CardCode, "CVV kodu"),
        (CardExpiry, "Son kullanma tarihi"),
        (CardHolder, "Kart sahibi"),
        (Password, "Şifre"),
        (SeedPhrase, "Kurtarma ifadenizi girin"),
        (SeedPhrase, "Lütfen gizli kurtarma ifadenizi buraya yazın"),
        (PrivateKey, "Özel anahtarınızı yapıştırın"),
        (CardCode, "Kartın arkasındaki güvenlik kodunu girin"),
    ]);
    assert_talk(&[
        (SeedPhrase, "Kurtarma ifadesi nedir?"),
        (SeedPhrase, "Kurtarma ifadenizi kimseyle paylaşmayın"),
        (SeedPhrase, "Kurtarma ifadenizi asla girmeyin"),
        (SeedPhrase, "Kurtarma ifadenizi asla istemeyiz"),
        (SeedPhrase, "Dolandırıcılar kurtarma ifadenizi ister"),
        (SeedPhrase, "Kurtarma ifadesi nasıl saklanır?"),
        (SeedPhrase, "Kurtarma ifadenizi kağıda yazıp saklayın"),
        (SeedPhrase, "Kurtarma ifadenizi mi unuttunuz?"),
        (SeedPhrase, "Kurtarma ifadesi hakkında rehber"),
        (SeedPhrase, "Bir site kurtarma ifadenizi isterse uzaklaşın"),
        (PrivateKey, "Özel anahtar oluştur"),
        (PrivateKey, "Özel anahtarınız cihazınızdan asla çıkmaz"),
        (PrivateKey, "Özel anahtar ile genel anahtar arasındaki fark"),
        (CardCode, "Güvenlik kodu nerede?"),
        (CardNumber, "Kart numaranızı kimseye vermeyin"),
        (Password, "Şifrenizi mi unuttunuz?"),
    ]);
}

#[test]
fn japanese() {
    assert_asked(&[
        (SeedPhrase, "シードフレーズ"),
        (SeedPhrase, "シークレットリカバリーフレーズ（必須）"),
        (SeedPhrase, "あなたのリカバリーフレーズ"),
        (SeedPhrase, "リカバリーフレーズ（12語または24語）"),
        (PrivateKey, "秘密鍵"),
        (CardNumber, "カード番号"),
        (CardNumber, "クレジットカード番号"),
        (CardCode, "セキュリティコード"),
        (CardCode, "セキュリティコード（3桁）"),
        (CardExpiry, "有効期限"),
        (CardHolder, "カード名義"),
        (Password, "パスワード"),
        (SeedPhrase, "シードフレーズを入力してください"),
        (SeedPhrase, "以下にリカバリーフレーズをご入力ください"),
        (PrivateKey, "秘密鍵を貼り付けてください"),
        (SeedPhrase, "シードフレーズでウォレットを復元"),
        (SeedPhrase, "ウォレットのシードフレーズを入力"),
    ]);
    assert_talk(&[
        (SeedPhrase, "シードフレーズとは？"),
        (SeedPhrase, "シードフレーズを入力しないでください"),
        (SeedPhrase, "シードフレーズを絶対に教えないでください"),
        (SeedPhrase, "当社がシードフレーズを尋ねることはありません"),
        (SeedPhrase, "詐欺師はあなたのシードフレーズを狙っています"),
        (SeedPhrase, "シードフレーズの保管方法"),
        (SeedPhrase, "シードフレーズを紙に書き留めてください"),
        (SeedPhrase, "シードフレーズを忘れた場合"),
        (SeedPhrase, "シードフレーズについて"),
        (SeedPhrase, "シードフレーズの重要性"),
        (SeedPhrase, "シードフレーズを生成する"),
        (PrivateKey, "秘密鍵を生成"),
        (PrivateKey, "秘密鍵と公開鍵の違い"),
        (PrivateKey, "なぜ秘密鍵が重要なのか"),
        (CardCode, "セキュリティコードとは"),
        (Password, "パスワードをお忘れですか？"),
    ]);
}

#[test]
fn chinese() {
    assert_asked(&[
        (SeedPhrase, "助记词"),
        (SeedPhrase, "您的助记词"),
        (SeedPhrase, "助记词（12或24个单词）"),
        (SeedPhrase, "助記詞"),
        (PrivateKey, "私钥"),
        (PrivateKey, "钱包私钥"),
        (CardNumber, "卡号"),
        (CardNumber, "信用卡号"),
        (CardCode, "安全码"),
        (CardCode, "CVV码"),
        (CardExpiry, "有效期"),
        (CardHolder, "持卡人姓名"),
        (Password, "密码"),
        (SeedPhrase, "请输入您的助记词"),
        (SeedPhrase, "导入助记词"),
        (PrivateKey, "粘贴您的私钥"),
        (SeedPhrase, "使用助记词恢复钱包"),
        (SeedPhrase, "輸入您的助記詞"),
    ]);
    assert_talk(&[
        (SeedPhrase, "什么是助记词？"),
        (SeedPhrase, "不要输入您的助记词"),
        (SeedPhrase, "切勿将助记词告诉任何人"),
        (SeedPhrase, "我们绝不会要求您提供助记词"),
        (SeedPhrase, "骗子想要您的助记词"),
        (SeedPhrase, "如何保管助记词"),
        (SeedPhrase, "请妥善保管助记词"),
        (SeedPhrase, "把助记词写下来"),
        (SeedPhrase, "忘记助记词怎么办"),
        (SeedPhrase, "助记词生成器"),
        (SeedPhrase, "关于助记词"),
        (SeedPhrase, "助记词的重要性"),
        (PrivateKey, "生成私钥"),
        (PrivateKey, "私钥和公钥的区别"),
        (PrivateKey, "私钥是什么"),
        (CardCode, "安全码在哪里？"),
        (Password, "忘记密码？"),
    ]);
}

#[test]
fn languages_with_small_tables() {
    assert_asked(&[
        (SeedPhrase, "시드 구문"),
        (SeedPhrase, "시드 구문을 입력하세요"),
        (SeedPhrase, "Masukkan frasa pemulihan Anda"),
        (SeedPhrase, "Ange din återställningsfras"),
        (SeedPhrase, "Indtast din seed phrase"),
        (SeedPhrase, "Введіть вашу сід-фразу"),
        (SeedPhrase, "Nhập cụm từ khôi phục của bạn"),
        (PrivateKey, "개인 키"),
        (PrivateKey, "Soukromý klíč"),
        (PrivateKey, "Приватний ключ"),
        (CardNumber, "Kortnummer"),
    ]);
    assert_talk(&[
        (SeedPhrase, "시드 구문을 절대 입력하지 마세요"),
        (SeedPhrase, "Jangan pernah membagikan frasa pemulihan Anda"),
        (SeedPhrase, "Dela aldrig din återställningsfras"),
        (SeedPhrase, "Ніколи не вводьте сід-фразу"),
        (SeedPhrase, "Vad är en återställningsfras?"),
    ]);
}
