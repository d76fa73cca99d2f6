//! The links between the pages of a long list. They are plain links, so they work without a script.

use domain::{Cursor, List, Page, PageStart, Paged, Refusal};
use poem::Request;
use serde::Deserialize;

use crate::html::figures::Count;
use crate::http::paging::cursor;

/// The number of rows on a page of a list.
const ROWS: u32 = 100;

/// Links from one page of a list to the others.
#[derive(Debug, PartialEq, Eq)]
pub struct Pager {
    /// Such as `100 of 1,205 pages`.
    pub text: String,
    pub first: Option<String>,
    pub previous: Option<String>,
    pub next: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PageQuery {
    after: Option<String>,
    before: Option<String>,
}

/// The page of a list that the query asks for, by `after` or `before`.
pub fn page_of(request: &Request, list: List) -> Result<Page, Refusal> {
    page_of_rows(request, list, ROWS)
}

/// The same, for a list with another number of rows on a page.
pub fn page_of_rows(request: &Request, list: List, rows: u32) -> Result<Page, Refusal> {
    let query: PageQuery = request.params().unwrap_or_default();
    let read = |field, text: String| cursor(field, &text, &[list]);
    let start = match (query.after, query.before) {
        (Some(after), _) => PageStart::After(read("after", after)?),
        (None, Some(before)) => PageStart::Before(read("before", before)?),
        (None, None) => PageStart::First,
    };
    Ok(Page::new(start, rows).counted())
}

impl Pager {
    /// `None` for a list that fits on one page. `path` is the list's path, which may have a query, and `noun`
    /// the name of its rows.
    pub fn of<T>(page: &Page, rows: &Paged<T>, path: &str, noun: &str) -> Option<Self> {
        let is_first = page.start == PageStart::First || rows.previous.is_none() && page.is_backward();
        if is_first && rows.next.is_none() {
            return None;
        }
        let joint = if path.contains('?') { '&' } else { '?' };
        let link = |name: &str, cursor: &Option<Cursor>| {
            cursor.as_ref().map(|cursor| format!("{path}{joint}{name}={cursor}"))
        };
        let (count, total) = (Count(rows.rows.len() as u64), Count(rows.total.unwrap_or_default()));
        Some(Self {
            text: format!("{count} of {total} {noun}"),
            first: (!is_first).then(|| path.to_owned()),
            previous: link("before", &rows.previous),
            next: link("after", &rows.next),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page_for(query: &str) -> Result<Page, Refusal> {
        page_of(&Request::builder().uri_str(format!("/dashboard/x?{query}")).finish(), List::Ledger)
    }

    fn pager(query: &str, rows: &[i64]) -> Option<Pager> {
        let page = page_for(query).unwrap();
        let paged = page.of(rows.to_vec(), |row| Cursor::numbered(List::Ledger, *row));
        Pager::of(&page, &Paged { total: Some(1_205), ..paged }, "/x", "entries")
    }

    fn first_cursor() -> Option<Cursor> {
        Some(Cursor::numbered(List::Ledger, 7))
    }

    #[test]
    fn single_page_list_has_no_pager_links() {
        assert_eq!(pager("", &[2, 1]), None);
        assert_eq!(pager("before=l1", &[2, 3]).unwrap().first, None);
    }

    #[test]
    fn long_list_has_next_and_previous_links() {
        let newest: Vec<i64> = (1_105..=1_205).rev().collect();
        let first = pager("", &newest).unwrap();
        assert_eq!(first.text, "100 of 1,205 entries");
        assert_eq!((first.previous, first.next), (None, Some("/x?after=l1106".to_owned())));
        let last = pager("after=l3", &[2, 1]).unwrap();
        assert_eq!((last.previous, last.next), (Some("/x?before=l2".to_owned()), None));
        assert_eq!(last.first, Some("/x".to_owned()));
        let searched = Pager::of(
            &page_for("").unwrap(),
            &Paged { next: first_cursor(), ..Paged::<i64>::empty() },
            "/x?q=a",
            "entries",
        );
        assert_eq!(searched.unwrap().next, Some("/x?q=a&after=l7".to_owned()));
        // Its rows have been deleted since.
        let none = pager("after=l1", &[]).unwrap();
        assert_eq!((none.first, none.previous), (Some("/x".to_owned()), None));
    }

    #[test]
    fn malformed_and_foreign_cursors_are_refused() {
        for bad in ["after=a1", "after=", "before=l", "before=17"] {
            assert!(page_for(bad).is_err(), "{bad}");
        }
    }
}
