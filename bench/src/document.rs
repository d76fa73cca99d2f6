//! The document that contains the tables. Each part's table is between two comments, and the run that
//! measured the part replaces it. The rest of the document stays unchanged.

use std::path::Path;

use anyhow::{Context, ensure};

use crate::table::Table;

/// A part's table, and the machine that it was measured on.
pub struct Section<'a> {
    pub part: &'a str,
    pub table: &'a Table,
    pub measured_on: &'a str,
}

pub fn keep(path: &Path, sections: &[Section]) -> anyhow::Result<()> {
    let mut text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    for section in sections {
        text = with_table(&text, section).with_context(|| format!("write a table to {}", path.display()))?;
    }
    std::fs::write(path, text).with_context(|| format!("write {}", path.display()))
}

fn with_table(text: &str, section: &Section) -> anyhow::Result<String> {
    let Section { part, table, measured_on } = section;
    let (begin, end) = (format!("<!-- scripts/bench {part} -->\n"), format!("<!-- end of {part} -->\n"));
    let (before, rest) = text.split_once(&begin).with_context(|| format!("it has no line {begin}"))?;
    let (old, after) = rest.split_once(&end).with_context(|| format!("it has no line {end}"))?;
    ensure!(!old.contains("<!-- scripts/bench "), "the table of {part} does not end before another begins");
    Ok(format!("{before}{begin}{measured_on}\n\n{table}\n{end}{after}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::table::Row;

    const TEXT: &str = "# Head\n<!-- scripts/bench start -->\nold\n<!-- end of start -->\nA word.\n\
        <!-- scripts/bench cli -->\nkept\n<!-- end of cli -->\n";

    #[test]
    fn only_the_tables_own_section_is_replaced() {
        let mut table = Table::default();
        table.add(Row::of("a start", Duration::from_millis(12)));
        let section = |part| Section { part, table: &table, measured_on: "22 November" };
        let text = with_table(TEXT, &section("start")).unwrap();
        assert!(text.starts_with("# Head\n<!-- scripts/bench start -->\n22 November\n\n| what"), "{text}");
        assert!(text.contains("| a start | 12.00 ms |") && !text.contains("old"), "{text}");
        assert!(text.ends_with("A word.\n<!-- scripts/bench cli -->\nkept\n<!-- end of cli -->\n"), "{text}");
        assert_eq!(with_table(&text, &section("start")).unwrap(), text);
        assert!(with_table(TEXT, &section("scan")).is_err());
    }
}
