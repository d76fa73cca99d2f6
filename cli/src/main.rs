//! The program `handbill`. Nothing may be added here that is not in the library: the tests start the same `main` from
//! a program of their own.

use std::process::ExitCode;

fn main() -> ExitCode {
    handbill::main()
}
