//! An offer to pay, and a balance: see `judges::x_payment::judge` for what must hold of it.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    judges::x_payment::judge(input);
});
