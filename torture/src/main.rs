//! `scripts/torture` runs this. See that script and `docs/TORTURE.md`.

// Its output goes to the terminal.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use handbill_tests::Mode;
use tokio::signal::unix::{SignalKind, signal};
use torture::{Length, RunPlan, torture};

const ROUND: Duration = Duration::from_secs(25);
const SECONDS_PER_MINUTE: f64 = 60.0;
const MINUTES: f64 = 5.0;
const INTERRUPTED: u8 = 130;

/// Injects faults into Handbill and checks that it keeps its promises. Run it through `scripts/torture`.
#[derive(Parser)]
struct Arguments {
    /// The duration in each mode in minutes [default: 5].
    #[arg(long, conflicts_with_all = ["hours", "rounds"])]
    minutes: Option<f64>,
    /// The duration in each mode in hours.
    #[arg(long, conflicts_with = "rounds")]
    hours: Option<f64>,
    /// The number of rounds in each mode, in place of a duration.
    #[arg(long)]
    rounds: Option<u64>,
    /// The seed of all random choices. Without it each run has another one.
    #[arg(long)]
    seed: Option<u64>,
    #[arg(long, value_enum, default_value = "both")]
    mode: Modes,
    /// The program under test: a debug build, whose clock can be moved. Without it the one next to this
    /// program.
    #[arg(long)]
    program: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Modes {
    Embedded,
    Production,
    Both,
}

impl Arguments {
    fn length(&self) -> Length {
        let minutes = self.minutes.or(self.hours.map(|hours| hours * SECONDS_PER_MINUTE)).unwrap_or(MINUTES);
        match self.rounds {
            Some(rounds) => Length::Rounds(rounds),
            None => Length::For(Duration::from_secs_f64(minutes * SECONDS_PER_MINUTE)),
        }
    }

    fn modes(&self) -> &'static [Mode] {
        match self.mode {
            Modes::Embedded => &[Mode::Embedded],
            Modes::Production => &[Mode::Production],
            Modes::Both => &[Mode::Embedded, Mode::Production],
        }
    }

    /// The path exists as long as the process.
    fn program(&self) -> Option<&'static str> {
        let beside = || Some(std::env::current_exe().ok()?.with_file_name("handbill-under-torture"));
        let path = self.program.clone().or_else(beside)?;
        Some(Box::leak(path.to_string_lossy().into_owned().into_boxed_str()))
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let Some(program) = arguments.program() else {
        eprintln!("handbill-torture: no program to torture; name one by --program");
        return ExitCode::FAILURE;
    };
    let seed = arguments.seed.unwrap_or_else(draw_seed);
    let mut is_clean = true;
    for mode in arguments.modes() {
        let plan = RunPlan { mode: *mode, program, seed, length: arguments.length(), round: ROUND };
        // An interrupt also ends everything that was started.
        let report = tokio::select! {
            report = torture(plan) => report,
            signal = interrupted() => {
                eprintln!("interrupted by {signal}; again: --seed {seed}");
                return ExitCode::from(INTERRUPTED);
            }
        };
        println!("{report}");
        is_clean &= report.is_clean();
    }
    if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn interrupted() -> &'static str {
    let Ok(mut terminated) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => "SIGINT",
        _ = terminated.recv() => "SIGTERM",
    }
}

/// Short, so that it is easy to type.
fn draw_seed() -> u64 {
    const SEEDS: u128 = 1_000_000;
    let now = handbill_tests::system_time();
    u64::try_from(now.as_millis() % SEEDS).unwrap_or_default()
}
