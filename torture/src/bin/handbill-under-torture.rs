//! The program under torture: the same `main` as `handbill`, built with this package so that it is found next
//! to it.

use std::process::ExitCode;

fn main() -> ExitCode {
    handbill::main()
}
