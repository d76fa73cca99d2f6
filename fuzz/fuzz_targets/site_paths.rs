//! Fuzzes the file names of a publish. See `judges::site_paths::judge` for the invariants.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    judges::site_paths::judge(input);
});
