//! Fuzzes a small unit that is repeated. See `judges::scanned::judge_flood` for the invariants.

#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|input: &[u8]| -> Corpus {
    // An input without structure is not kept, because mutations of noise never yield a site.
    if judges::scanned::judge_flood(input) { Corpus::Keep } else { Corpus::Reject }
});
