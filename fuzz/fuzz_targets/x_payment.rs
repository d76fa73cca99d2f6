//! Fuzzes a payment header and a balance. See `judges::x_payment::judge` for the invariants.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    judges::x_payment::judge(input);
});
