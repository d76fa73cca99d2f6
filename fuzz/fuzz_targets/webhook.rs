//! A call of the card processor: see `judges::webhook::judge` for what must hold of it.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    judges::webhook::judge(input);
});
