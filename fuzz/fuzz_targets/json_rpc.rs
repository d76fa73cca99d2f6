//! Fuzzes messages to the MCP endpoint. See `judges::json_rpc` for the invariants.

#![no_main]

use std::sync::{LazyLock, Mutex};

use judges::json_rpc::Judge;

static JUDGE: LazyLock<Mutex<Judge>> = LazyLock::new(Mutex::default);

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    JUDGE.lock().expect("nobody panics and goes on").judge(input);
});
