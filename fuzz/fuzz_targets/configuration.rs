//! A settings file and an environment: see `judges::configuration::judge` for what must hold of it.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    judges::configuration::judge(input);
});
