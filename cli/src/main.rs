//! The program `handbill`. All of its code must be in the library, because the tests start the same `main`
//! from their own binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    handbill::main()
}
