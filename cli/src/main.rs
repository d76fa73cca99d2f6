use std::process::ExitCode;

fn main() -> ExitCode {
    handbill::main()
}
