//! Reading takes time linear in the length of a text.

use std::time::{Duration, Instant};

use super::*;

const SIZE_BYTES: usize = 2_000_000;
/// Far more than a slow machine needs without optimization. Quadratic time would take hours.
const TIME_MAX: Duration = Duration::from_secs(5);

#[test]
fn long_and_hostile_texts_are_read_in_bounded_time() {
    for unit in [
        "The quick brown fox jumps over the lazy dog and signs in to nothing at all. ",
        "do not enter your seed phrase ",
        "a ",
        "1 ",
        "paypa1 ",
        "シードフレーズを",
        "この文章は日本語で書かれています。ログインしてください。",
        "助",
        "請輸入您的助記詞",
        "s.e.e.d ",
        "l'",
        "$@!",
        "\"a' “b «",
        "никогда ",
        "google bank of the ",
        "e\u{301}",
        "enter it ",
        "rnicrosoft1 ",
        "Bank ",
        "GΜАІL1l ",
        "16 digits on the back of ",
        "ﷺ",
        "phrase¹ ",
        "1phrase1tm ",
        "aBcDeFgHiJkLmNoP ",
        "PayPalBankLogin ",
        "①⑴❶",
    ] {
        let raw = unit.repeat(SIZE_BYTES / unit.len());
        let began = Instant::now();
        assert!(lures(&Text::of(&raw)).len() <= 12);
        let took = began.elapsed();
        assert!(took < TIME_MAX, "{unit}: {took:?}");
    }
}
