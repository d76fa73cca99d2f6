//! Fuzzes the archive of a publish. See `judges::archives::judge` for the invariants.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    judges::archives::judge(input);
});
