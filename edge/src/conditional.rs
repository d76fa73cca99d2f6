//! Conditional requests: whether the visitor already has the current representation.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use domain::Time;
use poem::http::{HeaderMap, HeaderName, HeaderValue, header};

/// The validators of a representation.
pub struct Validators<'a> {
    /// Strong, with its quotes.
    pub etag: &'a str,
    pub modified_at: Time,
    pub now: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Send,
    NotModified,
    PreconditionFailed,
}

const CONDITIONS: [HeaderName; 4] =
    [header::IF_NONE_MATCH, header::IF_MODIFIED_SINCE, header::IF_MATCH, header::IF_UNMODIFIED_SINCE];

pub fn has_conditions(headers: &HeaderMap) -> bool {
    CONDITIONS.iter().any(|name| headers.contains_key(name))
}

/// Evaluates the conditions in the order of RFC 9110, section 13.2.2.
pub fn evaluate(headers: &HeaderMap, validators: &Validators<'_>) -> Verdict {
    if headers.contains_key(header::IF_MATCH) {
        if !names_tag(headers, header::IF_MATCH, validators.etag, strong) {
            return Verdict::PreconditionFailed;
        }
    } else if date_of(headers, header::IF_UNMODIFIED_SINCE)
        .is_some_and(|date| validators.modified_second() > date)
    {
        return Verdict::PreconditionFailed;
    }
    let is_held = if headers.contains_key(header::IF_NONE_MATCH) {
        names_tag(headers, header::IF_NONE_MATCH, validators.etag, weak)
    } else {
        // Each change of a site gets its own second, on every edge, so an exact match of the date identifies
        // one state. A later date proves nothing: a visitor may have been sent the earlier state's date just
        // before a change that is dated earlier than that visit. A visitor that was sent no date uses the
        // time of the response, which is before the second of that state and of every later one.
        has_begun(validators.modified_at, validators.now)
            && date_of(headers, header::IF_MODIFIED_SINCE)
                .is_some_and(|date| date == validators.modified_second())
    };
    if is_held { Verdict::NotModified } else { Verdict::Send }
}

/// Whether a range may be served: `If-Range` is absent or equals the `ETag`. A date is not accepted, because
/// it is the site's and not the file's and is too weak for combining partial responses.
pub fn may_range(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    headers.get(header::IF_RANGE).is_none_or(|condition| condition == etag)
}

/// Whether the second of a date has started. Several changes in quick succession move a site's date ahead of
/// the clock, and a `Last-Modified` in the future must not be sent (RFC 9110, 8.8.2.1).
pub fn has_begun(modified_at: Time, now: Time) -> bool {
    second_of(modified_at) <= second_of(now)
}

impl Validators<'_> {
    fn modified_second(&self) -> SystemTime {
        second_of(self.modified_at)
    }
}

/// Formats a time for `Last-Modified`, which has a resolution of one second.
pub fn http_date(time: Time) -> Option<HeaderValue> {
    HeaderValue::try_from(httpdate::fmt_http_date(second_of(time))).ok()
}

fn second_of(time: Time) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(u64::try_from(time.millis() / 1000).unwrap_or(0))
}

fn date_of(headers: &HeaderMap, name: HeaderName) -> Option<SystemTime> {
    httpdate::parse_http_date(headers.get(name)?.to_str().ok()?).ok()
}

fn names_tag(headers: &HeaderMap, name: HeaderName, etag: &str, same: fn(&str, &str) -> bool) -> bool {
    let lines = || headers.get_all(&name).into_iter().filter_map(|line| line.to_str().ok());
    let is_any = lines().count() == 1 && lines().all(|line| line.trim() == "*");
    is_any || lines().flat_map(tags).any(|tag| same(tag, etag))
}

/// Splits a list of entity tags. A comma within quotes belongs to its tag.
fn tags(list: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    let ends_tag = move |character| {
        is_quoted ^= character == '"';
        character == ',' && !is_quoted
    };
    list.split(ends_tag).map(str::trim)
}

fn strong(tag: &str, etag: &str) -> bool {
    tag == etag
}

fn weak(tag: &str, etag: &str) -> bool {
    tag.strip_prefix("W/").unwrap_or(tag) == etag
}

#[cfg(test)]
mod tests {
    use super::*;

    const ETAG: &str = "\"abc-br\"";
    const DATE: &str = "Thu, 01 Jan 1970 00:16:40 GMT";
    const EARLIER: &str = "Thu, 01 Jan 1970 00:16:39 GMT";
    const LATER: &str = "Thu, 01 Jan 1970 00:16:41 GMT";
    const MODIFIED_AT: Time = Time::from_millis(1_000_999);

    fn validators() -> Validators<'static> {
        Validators { etag: ETAG, modified_at: MODIFIED_AT, now: MODIFIED_AT }
    }

    fn headers(lines: &[(HeaderName, &str)]) -> HeaderMap {
        lines.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn if_none_match_uses_weak_comparison() {
        for (sent, is_held) in [
            (ETAG, true),
            ("W/\"abc-br\"", true),
            ("\"x\", \"abc-br\"", true),
            ("\"x\",W/\"abc-br\" , \"y\"", true),
            ("*", true),
            (" * ", true),
            ("\"x,y\", \"abc-br\"", true),
            ("\"x,*,y\"", false),
            ("\"x\", *", false),
            ("*, \"x\"", false),
            ("\"x,\"abc-br\",y\"", false),
            ("\"abc\"", false),
            ("abc-br", false),
            ("w/\"abc-br\"", false),
            ("\"\"", false),
            ("", false),
        ] {
            let verdict = evaluate(&headers(&[(header::IF_NONE_MATCH, sent)]), &validators());
            assert_eq!(verdict == Verdict::NotModified, is_held, "{sent}");
        }
    }

    #[test]
    fn etags_may_span_several_header_lines() {
        let mut headers = headers(&[(header::IF_NONE_MATCH, "\"x\"")]);
        headers.append(header::IF_NONE_MATCH, ETAG.parse().unwrap());
        assert_eq!(evaluate(&headers, &validators()), Verdict::NotModified);
        headers.append(header::IF_MATCH, "*".parse().unwrap());
        assert_eq!(evaluate(&headers, &validators()), Verdict::NotModified);
        headers.append(header::IF_MATCH, "*".parse().unwrap());
        assert_eq!(evaluate(&headers, &validators()), Verdict::PreconditionFailed, "a star stands alone");
    }

    #[test]
    fn if_modified_since_is_used_only_without_etags_and_only_on_exact_match() {
        for (lines, expected) in [
            (vec![(header::IF_MODIFIED_SINCE, DATE)], Verdict::NotModified),
            (vec![(header::IF_MODIFIED_SINCE, EARLIER)], Verdict::Send),
            (vec![(header::IF_MODIFIED_SINCE, LATER)], Verdict::Send),
            (vec![(header::IF_MODIFIED_SINCE, "yesterday")], Verdict::Send),
            (vec![(header::IF_MODIFIED_SINCE, DATE), (header::IF_NONE_MATCH, "\"x\"")], Verdict::Send),
            (vec![(header::IF_MODIFIED_SINCE, EARLIER), (header::IF_NONE_MATCH, ETAG)], Verdict::NotModified),
            (vec![], Verdict::Send),
        ] {
            assert_eq!(evaluate(&headers(&lines), &validators()), expected, "{lines:?}");
        }
    }

    #[test]
    fn if_modified_since_is_ignored_before_the_second_of_modification() {
        let since = headers(&[(header::IF_MODIFIED_SINCE, DATE)]);
        for (millis_after, verdict) in [
            (-10_000, Verdict::Send),
            (-1000, Verdict::Send),
            (-999, Verdict::NotModified),
            (0, Verdict::NotModified),
            (10_000, Verdict::NotModified),
        ] {
            let now = Time::from_millis(MODIFIED_AT.millis() + millis_after);
            assert_eq!(
                evaluate(&since, &Validators { now, ..validators() }),
                verdict,
                "{millis_after} ms after"
            );
        }
    }

    #[test]
    fn failed_preconditions_are_reported() {
        for (lines, expected) in [
            (vec![(header::IF_MATCH, ETAG)], Verdict::Send),
            (vec![(header::IF_MATCH, "*")], Verdict::Send),
            (vec![(header::IF_MATCH, "\"x,*\"")], Verdict::PreconditionFailed),
            (vec![(header::IF_MATCH, "W/\"abc-br\"")], Verdict::PreconditionFailed),
            (vec![(header::IF_MATCH, "\"x\"")], Verdict::PreconditionFailed),
            (vec![(header::IF_UNMODIFIED_SINCE, DATE)], Verdict::Send),
            (vec![(header::IF_UNMODIFIED_SINCE, EARLIER)], Verdict::PreconditionFailed),
        ] {
            assert_eq!(evaluate(&headers(&lines), &validators()), expected, "{lines:?}");
        }
    }

    #[test]
    fn if_range_requires_a_strong_etag_match() {
        let etag = HeaderValue::from_static(ETAG);
        for (sent, may) in
            [(ETAG, true), ("W/\"abc-br\"", false), ("\"x\"", false), ("*", false), (DATE, false)]
        {
            assert_eq!(may_range(&headers(&[(header::IF_RANGE, sent)]), &etag), may, "{sent}");
        }
        assert!(may_range(&HeaderMap::new(), &etag));
    }

    #[test]
    fn dates_are_written_as_http_wants_them() {
        assert_eq!(http_date(Time::from_millis(1_000_999)).unwrap(), DATE);
    }
}
