//! Fuzzes a webhook call of the card processor. See `judges::webhook::judge` for the invariants.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    judges::webhook::judge(input);
});
