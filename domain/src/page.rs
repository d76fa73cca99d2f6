//! Pages of lists.
//!
//! A cursor names a position in the order of a list, not a row. It therefore stays valid while rows are added
//! and deleted, even when the row that it was made from is deleted.

use std::fmt;
use std::str::FromStr;

use crate::Slug;

/// The lists that are read in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    Artifacts,
    ArtifactsByChange,
    ArtifactsByName,
    ArtifactsByViews,
    Versions,
    Tokens,
    Members,
    Invites,
    Ledger,
    Audit,
}

/// A position in a list: after the row with this rank and id. Clients must treat it as opaque.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub list: List,
    /// What the list is ordered by: a time in milliseconds or a sequence number.
    pub rank: i64,
    /// Orders rows of the same rank: an id, or the slug in a list by name. Empty where ranks are unique.
    pub id: String,
}

/// Where a page begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PageStart {
    #[default]
    First,
    After(Cursor),
    /// The page that ends just before this position.
    Before(Cursor),
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub start: PageStart,
    pub rows_max: u32,
    /// Whether to count the whole list too.
    pub is_counted: bool,
}

/// The rows of a page, in the order of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paged<T> {
    pub rows: Vec<T>,
    /// Set if there are rows after these.
    pub next: Option<Cursor>,
    /// Set if there are rows before these.
    pub previous: Option<Cursor>,
    /// How many rows the whole list has, if the page asked for it.
    pub total: Option<u64>,
}

/// The text is not a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor")]
pub struct MalformedCursor;

impl List {
    const ALL: [List; 10] = [
        List::Artifacts,
        List::ArtifactsByChange,
        List::ArtifactsByName,
        List::ArtifactsByViews,
        List::Versions,
        List::Tokens,
        List::Members,
        List::Invites,
        List::Ledger,
        List::Audit,
    ];

    /// Begins the cursors of the list, so that a cursor of one list is not taken for one of another.
    fn letter(self) -> char {
        match self {
            List::Artifacts => 'a',
            List::ArtifactsByChange => 'u',
            List::ArtifactsByName => 'n',
            List::ArtifactsByViews => 'w',
            List::Versions => 'v',
            List::Tokens => 't',
            List::Members => 'm',
            List::Invites => 'i',
            List::Ledger => 'l',
            List::Audit => 'e',
        }
    }
}

impl Cursor {
    const RANK_DIGITS_MAX: usize = 18;
    const RANK_MAX: i64 = 10_i64.pow(Self::RANK_DIGITS_MAX as u32) - 1;
    pub const ID_LENGTH_MAX: usize = 26;

    /// What cursors of these lists look like, as a regular expression.
    pub fn pattern(lists: &[List]) -> String {
        let letters: String = lists.iter().map(|list| list.letter()).collect();
        let (digits, characters) = (Self::RANK_DIGITS_MAX, Self::ID_LENGTH_MAX);
        format!("^[{letters}][0-9]{{1,{digits}}}([.][0-9A-Za-z]{{1,{characters}}})?$")
    }

    pub fn new(list: List, rank: i64, id: impl Into<String>) -> Self {
        Self { list, rank, id: id.into() }
    }

    /// A row of a list whose ranks are unique.
    pub fn numbered(list: List, rank: i64) -> Self {
        Self::new(list, rank, "")
    }

    /// Before the first row of a list that is ordered from the highest rank to the lowest.
    pub fn of_the_beginning(list: List) -> Self {
        Self::numbered(list, Self::RANK_MAX)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.list.letter(), self.rank)?;
        if self.id.is_empty() { Ok(()) } else { write!(f, ".{}", self.id) }
    }
}

impl FromStr for Cursor {
    type Err = MalformedCursor;

    fn from_str(text: &str) -> Result<Self, MalformedCursor> {
        let mut characters = text.chars();
        let letter = characters.next().ok_or(MalformedCursor)?;
        let list = List::ALL.into_iter().find(|list| list.letter() == letter).ok_or(MalformedCursor)?;
        let (rank, id) = match characters.as_str().split_once('.') {
            Some((_, "")) => return Err(MalformedCursor),
            Some((rank, id)) => (rank, id),
            None => (characters.as_str(), ""),
        };
        let is_id = match list {
            List::ArtifactsByName => id.parse::<Slug>().is_ok(),
            _ => id.len() <= Self::ID_LENGTH_MAX && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        };
        let is_rank = rank.len() <= Self::RANK_DIGITS_MAX && rank.bytes().all(|byte| byte.is_ascii_digit());
        if !is_id || !is_rank {
            return Err(MalformedCursor);
        }
        Ok(Self { list, rank: rank.parse().map_err(|_| MalformedCursor)?, id: id.to_owned() })
    }
}

impl PageStart {
    pub fn cursor(&self) -> Option<&Cursor> {
        match self {
            PageStart::First => None,
            PageStart::After(cursor) | PageStart::Before(cursor) => Some(cursor),
        }
    }
}

impl Page {
    /// The most rows that a client may ask for at a time.
    pub const ROWS_MAX: u32 = 1_000;

    pub fn first(rows_max: u32) -> Self {
        Self::new(PageStart::First, rows_max)
    }

    pub fn after(cursor: Cursor, rows_max: u32) -> Self {
        Self::new(PageStart::After(cursor), rows_max)
    }

    /// The whole list, for lists that are known to be short.
    pub fn whole() -> Self {
        Self::first(u32::MAX)
    }

    pub fn new(start: PageStart, rows_max: u32) -> Self {
        Self { start, rows_max, is_counted: false }
    }

    /// The same page, with the number of rows of the whole list.
    #[must_use]
    pub fn counted(self) -> Self {
        Self { is_counted: true, ..self }
    }

    /// Whether the page is read against the order of the list.
    pub fn is_backward(&self) -> bool {
        matches!(self.start, PageStart::Before(_))
    }

    /// How many rows to read. One row more than the page has shows that the list continues.
    pub fn rows_to_read(&self) -> u64 {
        u64::from(self.rows_max) + 1
    }

    /// Makes the page of the rows that were read for it, given in the order in which they were read.
    pub fn of<T>(&self, mut rows: Vec<T>, cursor: impl Fn(&T) -> Cursor) -> Paged<T> {
        let goes_on = rows.len() as u64 > u64::from(self.rows_max);
        rows.truncate(usize::try_from(self.rows_max).unwrap_or(usize::MAX));
        if self.is_backward() {
            rows.reverse();
        }
        let (has_next, has_previous) = match self.start {
            PageStart::First => (goes_on, false),
            PageStart::After(_) => (goes_on, true),
            PageStart::Before(_) => (true, goes_on),
        };
        let next = rows.last().filter(|_| has_next).map(&cursor);
        let previous = rows.first().filter(|_| has_previous).map(&cursor);
        Paged { rows, next, previous, total: None }
    }
}

impl<T> Paged<T> {
    /// No rows, with nothing before or after.
    pub fn empty() -> Self {
        Self { rows: Vec::new(), next: None, previous: None, total: None }
    }

    pub fn map<U>(self, change: impl FnMut(T) -> U) -> Paged<U> {
        let Self { rows, next, previous, total } = self;
        Paged { rows: rows.into_iter().map(change).collect(), next, previous, total }
    }

    pub fn try_map<U, E>(self, change: impl FnMut(T) -> Result<U, E>) -> Result<Paged<U>, E> {
        let Self { rows, next, previous, total } = self;
        let rows = rows.into_iter().map(change).collect::<Result<_, E>>()?;
        Ok(Paged { rows, next, previous, total })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_anything_else_is_refused() {
        let cursors = [
            Cursor::new(List::Artifacts, 1_790_000_000_000, "01KC4GZJ2Q8W5T7RXN3VB6M9DE"),
            Cursor::numbered(List::Versions, 17),
            Cursor::of_the_beginning(List::Tokens),
            Cursor::numbered(List::Ledger, 0),
            Cursor::new(List::ArtifactsByName, 0, "my-page"),
        ];
        for cursor in cursors {
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        for text in [
            "",
            "a",
            "a.",
            "a1.",
            "x1",
            "17",
            "a1.no-id",
            "a+1",
            "a-1",
            "a1000000000000000000",
            "é1",
            "a1.1.1",
            "n0",
            "n0.My page",
        ] {
            assert_eq!(text.parse::<Cursor>(), Err(MalformedCursor), "{text}");
        }
        assert!(format!("a1.{}", "0".repeat(27)).parse::<Cursor>().is_err());
    }

    #[test]
    fn every_list_has_a_unique_cursor_letter() {
        assert_eq!(
            Cursor::pattern(&[List::Members, List::Tokens]),
            "^[mt][0-9]{1,18}([.][0-9A-Za-z]{1,26})?$"
        );
        for (place, list) in List::ALL.into_iter().enumerate() {
            assert!(List::ALL[..place].iter().all(|other| other.letter() != list.letter()));
        }
    }

    #[test]
    fn page_knows_whether_there_are_next_and_previous_pages() {
        let cursor = |row: &i64| Cursor::numbered(List::Versions, *row);
        let names = |page: Page, rows: &[i64]| {
            let paged = page.of(rows.to_vec(), cursor);
            let rank = |cursor: Option<Cursor>| cursor.map(|cursor| cursor.rank);
            (paged.rows, rank(paged.previous), rank(paged.next))
        };
        // The list is 9, 8, … 1.
        assert_eq!(names(Page::first(2), &[9, 8, 7]), (vec![9, 8], None, Some(8)));
        assert_eq!(names(Page::first(2), &[9, 8]), (vec![9, 8], None, None));
        let after = |rank| Page::after(Cursor::numbered(List::Versions, rank), 2);
        assert_eq!(names(after(8), &[7, 6, 5]), (vec![7, 6], Some(7), Some(6)));
        assert_eq!(names(after(3), &[2, 1]), (vec![2, 1], Some(2), None));
        assert_eq!(names(after(1), &[]), (vec![], None, None));
        let before = |rank| Page::new(PageStart::Before(Cursor::numbered(List::Versions, rank)), 2);
        assert_eq!(names(before(5), &[6, 7, 8]), (vec![7, 6], Some(7), Some(6)));
        assert_eq!(names(before(7), &[8, 9]), (vec![9, 8], None, Some(8)));
        assert_eq!(names(Page::whole(), &[9, 8]), (vec![9, 8], None, None));
    }
}
