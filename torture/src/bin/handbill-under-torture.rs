//! The program that is tortured: the same `main` as `handbill`, built with this package so that it is found beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    handbill::main()
}
