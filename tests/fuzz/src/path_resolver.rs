//! Requests to the edge. `edge::hostile` checks them, because only the edge knows what it served.

use std::sync::LazyLock;

use edge::hostile::HostileTarget;

static PREY: LazyLock<HostileTarget> = LazyLock::new(|| HostileTarget::new().expect("files of the site"));

pub fn judge(input: &[u8]) -> bool {
    PREY.check(input)
}
