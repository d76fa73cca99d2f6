//! Fuzzes a settings file and an environment. See `judges::configuration::judge` for the invariants.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    judges::configuration::judge(input);
});
