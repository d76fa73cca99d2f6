//! What `scripts/test` installs for some tests.

use std::path::PathBuf;

/// The program or folder that this variable names.
pub fn installed(variable: &str) -> PathBuf {
    let path = std::env::var_os(variable);
    path.unwrap_or_else(|| panic!("{variable} is not set: run the tests by scripts/test")).into()
}
