//! Pages of lists that are in memory as a whole.

use domain::Refusal;

use crate::http::paging::{AFTER, Limit};

/// Cuts a page from the rest of a list in memory. Returns it with the cursor of the next page, which
/// `cursor` makes of a row.
pub fn cut<T>(
    limit: &Limit,
    rows: impl IntoIterator<Item = T>,
    cursor: impl Fn(&T) -> String,
) -> (Vec<T>, Option<String>) {
    let rows_max = limit.rows_max.map_or(usize::MAX, |rows| rows as usize);
    let mut page: Vec<T> = rows.into_iter().take(rows_max.saturating_add(1)).collect();
    let has_more = page.len() > rows_max;
    page.truncate(rows_max);
    let next = page.last().filter(|_| has_more).map(cursor);
    (page, next)
}

/// The rows after the one with this cursor, which `cursor_of` makes of a row.
pub fn rows_after<T>(
    rows: Vec<T>,
    after: Option<&str>,
    cursor_of: impl Fn(&T) -> String,
) -> Result<Vec<T>, Refusal> {
    let Some(after) = after else { return Ok(rows) };
    let position = rows.iter().position(|row| cursor_of(row) == after);
    let position = position.ok_or_else(|| Refusal::invalid(AFTER, "is not a cursor of this list"))?;
    Ok(rows.into_iter().skip(position + 1).collect())
}
