//! A request to the edge: see `judges::path_resolver::judge` for what must hold of it.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    judges::path_resolver::judge(input);
});
