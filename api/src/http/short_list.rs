//! Pages of lists that are in memory as a whole.

use crate::http::paging::Limit;

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

/// Cuts a page from a list that hardly ever changes. Its cursor is the number of rows before the page.
pub fn cut_at<T>(limit: &Limit, rows: Vec<T>, before: Option<u32>) -> (Vec<T>, Option<String>) {
    let before = before.map_or(0, |before| before as usize);
    let (page, next) = cut(limit, rows.into_iter().skip(before), |_| String::new());
    let next = next.map(|_| before.saturating_add(page.len()).to_string());
    (page, next)
}
