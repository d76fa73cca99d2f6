//! Requests to the edge: `edge::hostile` says what must hold, because only the edge knows what it found.

use std::sync::LazyLock;

use edge::hostile::Prey;

static PREY: LazyLock<Prey> = LazyLock::new(|| Prey::new().expect("files of the site"));

pub fn judge(input: &[u8]) -> bool {
    PREY.check(input)
}
