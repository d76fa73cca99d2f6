//! Whatever a request says, it finds what it names or nothing: see `edge::hostile`.

#![no_main]

use std::sync::LazyLock;

use edge::hostile::Prey;
use libfuzzer_sys::fuzz_target;

static PREY: LazyLock<Prey> = LazyLock::new(|| Prey::new().expect("files of the site"));

fuzz_target!(|request: &[u8]| {
    PREY.check(request);
});
