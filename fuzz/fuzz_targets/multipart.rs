//! Fuzzes the form of a publish. See `judges::multipart::judge` for the invariants.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    judges::multipart::judge(input);
});
