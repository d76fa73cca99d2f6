//! The program that the tests start: the same `main` as `handbill`, built with this package so that its path
//! is known.

use std::process::ExitCode;

fn main() -> ExitCode {
    handbill::main()
}
