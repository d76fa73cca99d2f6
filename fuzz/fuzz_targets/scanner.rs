//! A site of a few files that meet: see `judges::scanned::judge_site` for what must hold of it.

#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|input: &[u8]| -> Corpus {
    // What has no form is not built upon: from noise alone no site comes.
    if judges::scanned::judge_site(input) { Corpus::Keep } else { Corpus::Reject }
});
