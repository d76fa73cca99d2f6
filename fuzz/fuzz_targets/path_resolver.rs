//! Fuzzes a request to the edge. See `judges::path_resolver::judge` for the invariants.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    judges::path_resolver::judge(input);
});
