//! The table that is printed and stored in the document.

use std::fmt;

use anyhow::{Context, ensure};

use crate::figure::{Figure, Goal};

/// The measured rows, and the remarks below them.
#[derive(Default)]
pub struct Table {
    rows: Vec<Row>,
    remarks: Vec<String>,
}

/// One figure with its goal and its comparison.
#[derive(Clone)]
pub struct Row {
    what: String,
    measured: Figure,
    /// An alternative, and its figure in the same run.
    rival: Option<(&'static str, Figure)>,
    ratio: Option<f64>,
    goal: Option<Goal>,
    note: String,
}

/// The name of another build beside the measured one.
pub const OTHER_BUILD: &str = "the other build";

const COLUMNS: usize = 7;
const HEAD: [&str; COLUMNS] = ["what", "measured", "beside it", "ratio", "goal", "", "more"];
/// Columns with numbers are right-aligned.
const IS_NUMBER: [bool; COLUMNS] = [false, true, true, true, true, false, false];

impl Row {
    pub fn of(what: impl Into<String>, measured: impl Into<Figure>) -> Self {
        let (what, measured) = (what.into(), measured.into());
        Self { what, measured, rival: None, ratio: None, goal: None, note: String::new() }
    }

    pub fn goal(self, goal: Goal) -> Self {
        Self { goal: Some(goal), ..self }
    }

    pub fn goal_if(self, goal: Option<Goal>) -> Self {
        Self { goal, ..self }
    }

    /// Compares with the figure of another program in the same run.
    pub fn beside(self, name: &'static str, figure: impl Into<Figure>) -> Self {
        let figure = figure.into();
        let ratio = Some(self.measured.ratio_to(figure));
        Self { rival: Some((name, figure)), ratio, ..self }
    }

    /// As [`Row::beside`], if there is another figure.
    pub fn beside_any(self, name: &'static str, figure: Option<impl Into<Figure>>) -> Self {
        match figure {
            Some(figure) => self.beside(name, figure),
            None => self,
        }
    }

    /// A ratio that is not the quotient of the two figures.
    pub fn ratio(self, ratio: f64) -> Self {
        Self { ratio: Some(ratio), ..self }
    }

    pub fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    fn of_turns(pairs: &[[&Row; 2]]) -> anyhow::Result<Self> {
        let what = &pairs.first().context("there are no turns")?[0].what;
        ensure!(pairs.iter().flatten().all(|row| row.what == *what), "another row takes the place of {what}");
        let figures = |side: usize| pairs.iter().map(|pair| pair[side].measured).collect();
        let mut ratios: Vec<_> =
            pairs.iter().map(|[ours, theirs]| ours.measured.ratio_to(theirs.measured)).collect();
        ratios.sort_by(f64::total_cmp);
        let (least, middle, most) = (ratios[0], ratios[ratios.len() / 2], ratios[ratios.len() - 1]);
        let row = Self::of(what, Figure::median(figures(0)))
            .beside(OTHER_BUILD, Figure::median(figures(1)))
            .ratio(middle);
        // A ratio of two zeros is not a number.
        Ok(if middle.is_finite() { row.note(format!("turns {least:.2} to {most:.2}")) } else { row })
    }

    fn cells(&self) -> [String; COLUMNS] {
        let rival = self.rival.map(|(name, figure)| format!("{name} {figure}"));
        let is_met = self.goal.and_then(|goal| goal.is_met(self.measured, self.ratio));
        let verdict = match is_met {
            Some(true) => "met",
            Some(false) => "**missed**",
            None => "",
        };
        [
            self.what.clone(),
            self.measured.to_string(),
            rival.unwrap_or_default(),
            self.ratio
                .filter(|ratio| ratio.is_finite())
                .map(|ratio| format!("{ratio:.2} ×"))
                .unwrap_or_default(),
            self.goal.map(|goal| goal.beside(self.measured)).unwrap_or_default(),
            verdict.to_owned(),
            self.note.clone(),
        ]
    }
}

impl Table {
    pub fn add(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// A sentence below the table.
    pub fn remark(&mut self, sentence: String) {
        self.remarks.push(sentence);
    }

    /// Combines the alternating runs of two builds into one table. A row has the median figure of each build,
    /// and the median of the ratios. Goals are for a single build and do not apply.
    pub fn of_turns(turns: &[[Table; 2]]) -> anyhow::Result<Self> {
        let rows = turns.first().map_or(0, |[ours, _]| ours.rows.len());
        let mut table = Self::default();
        for index in 0..rows {
            let pairs: Vec<[&Row; 2]> = turns
                .iter()
                .map(|[ours, theirs]| Some([ours.rows.get(index)?, theirs.rows.get(index)?]))
                .collect::<Option<_>>()
                .context("the builds have different rows")?;
            table.add(Row::of_turns(&pairs)?);
        }
        Ok(table)
    }

    /// Appends the rows and remarks of another table.
    pub fn append(&mut self, other: &Table) {
        self.rows.extend_from_slice(&other.rows);
        self.remarks.extend_from_slice(&other.remarks);
    }
}

impl fmt::Display for Table {
    /// A Markdown table, so that the printed form can be stored.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = HEAD.map(str::to_owned);
        let lines: Vec<_> = std::iter::once(head).chain(self.rows.iter().map(Row::cells)).collect();
        let width =
            |column: usize| lines.iter().map(|cells| cells[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; COLUMNS] = std::array::from_fn(|column| width(column).max("-:".len()));
        for (number, cells) in lines.iter().enumerate() {
            write_line(f, cells, widths)?;
            if number == 0 {
                write_rule(f, widths)?;
            }
        }
        self.remarks.iter().try_for_each(|remark| write!(f, "\n{remark}\n"))
    }
}

fn write_line(f: &mut fmt::Formatter<'_>, cells: &[String], widths: [usize; COLUMNS]) -> fmt::Result {
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
        if IS_NUMBER[column] { write!(f, "| {cell:>width$} ")? } else { write!(f, "| {cell:width$} ")? }
    }
    writeln!(f, "|")
}

/// The line below the head, with the alignment of each column.
fn write_rule(f: &mut fmt::Formatter<'_>, widths: [usize; COLUMNS]) -> fmt::Result {
    for (width, is_number) in widths.into_iter().zip(IS_NUMBER) {
        let end = if is_number { ":" } else { "-" };
        write!(f, "| {}{end} ", "-".repeat(width - 1))?;
    }
    writeln!(f, "|")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::default();
        table.add(Row::of("a short one", Duration::from_millis(1)).goal(Goal::AtMost(6.0)));
        table.add(Row::of("one that is longer", Duration::from_millis(10)).note("3 × the floor"));
        let text = table.to_string();
        let lengths: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
        assert_eq!(lengths, vec![lengths[0]; 4]);
        assert!(
            text.contains("| a short one        |  1.00 ms |           |       | ≤ 6 ms | met |"),
            "{text}"
        );
        table.remark("It follows.".to_owned());
        assert_eq!(table.to_string(), format!("{text}\nIt follows.\n"));
    }

    #[test]
    fn turns_of_two_builds_become_one_table_of_medians() {
        let turn = |ours, theirs| {
            [ours, theirs].map(|ms| {
                let mut table = Table::default();
                table.add(Row::of("publish", Duration::from_millis(ms)).goal(Goal::AtMost(6.0)).note("p99"));
                table
            })
        };
        let table = Table::of_turns(&[turn(9, 10), turn(1, 2), turn(6, 4)]).unwrap();
        assert_eq!(
            table.rows[0].cells()[1..],
            ["6.00 ms", "the other build 4.00 ms", "0.90 ×", "", "", "turns 0.50 to 1.50"].map(str::to_owned)
        );
        let mut other = turn(1, 1);
        other[1].rows[0].what = "start".to_owned();
        assert!(Table::of_turns(&[other]).is_err());
    }

    #[test]
    fn comparison_row_shows_the_ratio_and_is_checked_against_its_limit() {
        let [fast, slow] = [2, 20].map(Duration::from_millis);
        let row = Row::of("publish", fast).beside("boatramp", slow).goal(Goal::RatioAtMost(0.2));
        assert_eq!(
            row.cells()[1..6],
            ["2.00 ms", "boatramp 20.00 ms", "0.10 ×", "≤ 0.2 ×", "met"].map(str::to_owned)
        );
        let alone =
            Row::of("publish", fast).beside_any("boatramp", None::<Duration>).goal(Goal::RatioAtMost(0.2));
        assert_eq!(alone.cells()[2..6], ["", "", "≤ 0.2 ×", ""].map(str::to_owned));
    }
}
