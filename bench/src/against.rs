//! Compares the program with another build of it. Each part runs with the two builds in alternation, and
//! every row has the figures of both. A slow minute of the machine therefore affects both.

use std::path::Path;

use crate::table::Table;
use crate::{Bench, Part};

/// In each turn both builds run the part, and they alternate in being first.
const TURNS: usize = 3;

pub async fn measure(bench: &Bench, other: &Path, part: Part, table: &mut Table) -> anyhow::Result<()> {
    if let Some(remark) = remark(part) {
        table.remark(remark.to_owned());
    }
    match part {
        Part::Ledger | Part::Queue => return Ok(()),
        // Its two servers alternate with each publish already.
        Part::Races => return crate::measure(bench, part, table).await,
        _ => {}
    }
    let programs = [bench.arguments.program.as_path(), other];
    let mut turns = Vec::new();
    for turn in 0..TURNS {
        let mut tables = [Table::default(), Table::default()];
        for index in 0..programs.len() {
            let index = (index + turn) % programs.len();
            crate::measure(&bench.with_program(programs[index])?, part, &mut tables[index]).await?;
        }
        turns.push(tables);
    }
    table.append(&Table::of_turns(&turns)?);
    Ok(())
}

/// The remark about a part that is not compared as a whole, because it does not run the program.
fn remark(part: Part) -> Option<&'static str> {
    match part {
        Part::Ledger => {
            Some("The part `ledger` calls our crates and not a program, so it has no other build.")
        }
        Part::Queue => Some("The part `queue` calls our crates and not a program, so it has no other build."),
        Part::Scan => Some("The part `scan` calls the scanner directly, except for the delay of verdicts."),
        _ => None,
    }
}
