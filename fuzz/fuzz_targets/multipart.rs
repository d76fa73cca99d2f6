//! The form of a publish: see `judges::multipart::judge` for what must hold of it.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    judges::multipart::judge(input);
});
