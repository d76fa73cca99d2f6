//! Range requests: the parts of a representation that the visitor wants.

use std::ops::Range;

/// Requests for more parts get the whole file.
const PARTS_MAX: usize = 16;

#[derive(Debug, PartialEq)]
pub enum Wanted {
    Whole,
    One(Range<u64>),
    Several(Vec<Range<u64>>),
    Unsatisfiable,
}

/// Parses a `Range` header for a content of this size. An invalid header is ignored.
pub fn wanted(header: &str, size_bytes: u64) -> Wanted {
    let Some(parts) = parse(header) else { return Wanted::Whole };
    let mut parts: Vec<_> = parts.into_iter().filter_map(|part| part.within(size_bytes)).collect();
    let total_bytes: u64 = parts.iter().map(|part| part.end - part.start).sum();
    match parts.len() {
        0 => Wanted::Unsatisfiable,
        1 => Wanted::One(parts.swap_remove(0)),
        // Overlapping parts would turn a small file into a large response.
        _ if total_bytes > size_bytes => Wanted::Whole,
        _ => Wanted::Several(parts),
    }
}

enum Part {
    From { first: u64, last: Option<u64> },
    Last { length: u64 },
}

impl Part {
    fn within(&self, size_bytes: u64) -> Option<Range<u64>> {
        let range = match *self {
            Part::From { first, last } => {
                first..last.map_or(size_bytes, |last| last.saturating_add(1).min(size_bytes))
            }
            Part::Last { length } => size_bytes.saturating_sub(length)..size_bytes,
        };
        (!range.is_empty()).then_some(range)
    }
}

fn parse(header: &str) -> Option<Vec<Part>> {
    let (unit, list) = header.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let parts: Vec<_> = list.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() || parts.len() > PARTS_MAX {
        return None;
    }
    parts.into_iter().map(parse_part).collect()
}

fn parse_part(part: &str) -> Option<Part> {
    let (first, last) = part.split_once('-')?;
    let (first, last) = (first.trim(), last.trim());
    if first.is_empty() {
        return Some(Part::Last { length: number(last)? });
    }
    let first = number(first)?;
    let last = if last.is_empty() { None } else { Some(number(last)?) };
    last.is_none_or(|last| first <= last).then_some(Part::From { first, last })
}

/// Digits only, without signs or spaces. Numbers that overflow become the largest one.
fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_range_is_clamped_to_the_size() {
        for (header, expected) in [
            ("bytes=0-0", 0..1),
            ("bytes=0-99", 0..100),
            ("bytes=0-", 0..100),
            ("bytes=99-", 99..100),
            ("bytes=10-19", 10..20),
            ("bytes=90-1000", 90..100),
            ("bytes=-1", 99..100),
            ("bytes=-1000", 0..100),
            ("BYTES = 5-6", 5..7),
            ("bytes=0-99999999999999999999999", 0..100),
            ("bytes=1-2,200-300", 1..3),
        ] {
            assert_eq!(wanted(header, 100), Wanted::One(expected), "{header}");
        }
    }

    #[test]
    fn multiple_ranges_keep_the_requested_order() {
        assert_eq!(wanted("bytes=0-1, -2", 100), Wanted::Several(vec![0..2, 98..100]));
        assert_eq!(wanted("bytes=50-59,,0-9", 100), Wanted::Several(vec![50..60, 0..10]));
    }

    #[test]
    fn range_beyond_the_end_is_not_satisfiable() {
        for header in ["bytes=100-", "bytes=100-200", "bytes=-0", "bytes=100-,200-300"] {
            assert_eq!(wanted(header, 100), Wanted::Unsatisfiable, "{header}");
        }
        assert_eq!(wanted("bytes=0-", 0), Wanted::Unsatisfiable);
    }

    #[test]
    fn invalid_or_amplifying_ranges_get_the_whole_file() {
        let many = format!("bytes={}", vec!["0-0"; PARTS_MAX + 1].join(","));
        for header in [
            "",
            "bytes",
            "bytes=",
            "bytes=,",
            "bytes=a-b",
            "bytes=5-4",
            "bytes=-",
            "bytes=--1",
            "bytes=+1-2",
            "lines=0-1",
            "bytes=0-1;",
            "bytes=0-1,x",
            "bytes=0-99,0-99",
            many.as_str(),
        ] {
            assert_eq!(wanted(header, 100), Wanted::Whole, "{header}");
        }
    }
}
