//! The one table that is printed.

use std::fmt;

/// What was measured, a line each, and what follows from it.
#[derive(Default)]
pub struct Table {
    rows: Vec<Row>,
    remarks: Vec<String>,
}

struct Row {
    what: String,
    measured: String,
    goal: &'static str,
    note: String,
}

/// For figures that only stand beside others.
pub const NO_GOAL: &str = "";

impl Table {
    pub fn add(
        &mut self,
        what: impl Into<String>,
        measured: String,
        goal: &'static str,
        note: impl Into<String>,
    ) {
        self.rows.push(Row { what: what.into(), measured, goal, note: note.into() });
    }

    /// A sentence below the table.
    pub fn remark(&mut self, sentence: String) {
        self.remarks.push(sentence);
    }
}

impl fmt::Display for Table {
    /// As a Markdown table, so that it can be kept as it is printed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = Row {
            what: "what".to_owned(),
            measured: "measured".to_owned(),
            goal: "goal",
            note: "beside it".to_owned(),
        };
        let width = |cell: fn(&Row) -> &str| {
            self.rows.iter().chain([&head]).map(|row| cell(row).chars().count()).max().unwrap_or(0)
        };
        let widths = [
            width(|row| &row.what),
            width(|row| &row.measured),
            width(|row| row.goal),
            width(|row| &row.note),
        ];
        write_line(f, &head, widths)?;
        let [what, measured, goal, note] = widths.map(|width| "-".repeat(width));
        writeln!(f, "| {what} | {measured} | {goal} | {note} |")?;
        self.rows.iter().try_for_each(|row| write_line(f, row, widths))?;
        self.remarks.iter().try_for_each(|remark| write!(f, "\n{remark}\n"))
    }
}

fn write_line(f: &mut fmt::Formatter<'_>, row: &Row, widths: [usize; 4]) -> fmt::Result {
    let Row { what, measured, goal, note } = row;
    let [a, b, c, d] = widths;
    writeln!(f, "| {what:a$} | {measured:>b$} | {goal:>c$} | {note:d$} |")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::default();
        table.add("a short one", "1.0 ms".to_owned(), "≤ 6 ms", "");
        table.add("one that is longer", "10.0 ms".to_owned(), NO_GOAL, "3 × the floor");
        let text = table.to_string();
        let lengths: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
        assert_eq!(lengths, vec![lengths[0]; 4]);
        assert!(text.contains("| a short one        |   1.0 ms | ≤ 6 ms |               |"), "{text}");
        table.remark("It follows.".to_owned());
        assert_eq!(table.to_string(), format!("{text}\nIt follows.\n"));
    }
}
