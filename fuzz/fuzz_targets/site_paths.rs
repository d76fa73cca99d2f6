//! Names of the files of a publish: see `judges::site_paths::judge` for what must hold of it.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    judges::site_paths::judge(input);
});
