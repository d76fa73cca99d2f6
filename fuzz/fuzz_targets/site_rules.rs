//! Fuzzes the rules of a site. See `judges::site_rules::judge` for the invariants.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    judges::site_rules::judge(input);
});
