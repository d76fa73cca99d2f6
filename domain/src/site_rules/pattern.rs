//! Patterns of paths, with placeholders and a `*`.

use super::lines::{LineFault, shown};
use super::request_path::{RequestPath, push_value, respelled};

/// A pattern of a path. A placeholder `:name` matches one or more characters within a segment, and a `*`
/// matches any number of characters, slashes included.
#[derive(Debug)]
pub(super) struct Pattern(Box<str>);

/// Where a pattern may have its `*`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StarPlace {
    AtEnd,
    Anywhere,
}

/// What the placeholders and the `*` of a pattern stand for, by name.
#[derive(Debug, Default)]
pub(super) struct Captures<'a>(Vec<(&'a str, &'a str)>);

/// Where a captured text is inserted.
#[derive(Clone, Copy)]
pub(super) enum Inserting {
    /// Into a path, as it was sent.
    InPath,
    /// Into a query or a header, without separators.
    AsValue,
}

/// The name of what the `*` matches.
pub(super) const SPLAT: &str = "splat";
/// Longer paths match no pattern. Paths of files are shorter.
const PATH_BYTES_MAX: usize = 2_000;

impl Pattern {
    pub fn parse(text: &str, star_place: StarPlace) -> Result<Self, LineFault> {
        if !text.starts_with('/') {
            return Err(LineFault::new(
                format!("the path {} does not begin with /", shown(text)),
                "write the path from the root of the site; rules for other hosts are not supported",
            ));
        }
        if text.contains(['?', '#']) {
            let message = "a rule is matched by the path only, and this one has a query or a fragment";
            return Err(LineFault::new(message, "remove the part from ? or # on"));
        }
        let pattern = Self(respelled(text).into());
        pattern.check_star(star_place)?;
        pattern.check_names()?;
        Ok(pattern)
    }

    fn check_star(&self, star_place: StarPlace) -> Result<(), LineFault> {
        let Some((before, after)) = self.0.split_once('*') else { return Ok(()) };
        if after.contains('*') {
            return Err(LineFault::new("a path may have one * only", "use placeholders such as :name"));
        }
        if star_place == StarPlace::AtEnd && !after.is_empty() {
            let hint = "move the * to the end, or use placeholders such as :name";
            return Err(LineFault::new("a * is possible only at the end of the path", hint));
        }
        let segment_before = before.rsplit('/').next().unwrap_or_default();
        let segment_after = after.split('/').next().unwrap_or_default();
        if last_placeholder(segment_before).is_some() || last_placeholder(segment_after).is_some() {
            let message = "a part of the path has both a placeholder and a *";
            return Err(LineFault::new(message, "use one of them between two slashes"));
        }
        Ok(())
    }

    fn check_names(&self) -> Result<(), LineFault> {
        let mut names: Vec<&str> = self.names().collect();
        if names.contains(&SPLAT) {
            return Err(LineFault::new(":splat stands for the *", "rename the placeholder, or write *"));
        }
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(LineFault::new(
                format!("the path has the placeholder :{} twice", shown(pair[0])),
                "give each placeholder its own name",
            )),
            None => Ok(()),
        }
    }

    /// The names of the placeholders, in reverse order.
    fn names(&self) -> impl Iterator<Item = &str> {
        let mut rest = &*self.0;
        std::iter::from_fn(move || {
            let (before, name, _) = last_placeholder(rest)?;
            rest = before;
            Some(name)
        })
    }

    pub fn has_star(&self) -> bool {
        self.0.contains('*')
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn weight_bytes(&self) -> u64 {
        self.0.len() as u64
    }

    pub fn captures<'a>(&'a self, path: &'a RequestPath) -> Option<Captures<'a>> {
        let path = path.as_str();
        if path.len() > PATH_BYTES_MAX {
            return None;
        }
        let mut captures = Captures::default();
        match self.0.split_once('*') {
            Some((before, after)) => captures.take_around_star(before, after, path)?,
            None => captures.take_segments(&self.0, path)?,
        }
        Some(captures)
    }
}

impl<'a> Captures<'a> {
    fn take_segments(&mut self, pattern: &'a str, path: &'a str) -> Option<()> {
        let (mut patterns, mut segments) = (pattern.split('/'), path.split('/'));
        loop {
            match (patterns.next(), segments.next()) {
                (Some(pattern), Some(segment)) => self.take_segment(pattern, segment)?,
                (None, None) => return Some(()),
                _ => return None,
            }
        }
    }

    fn take_around_star(&mut self, before: &'a str, after: &'a str, path: &'a str) -> Option<()> {
        let mut rest = path;
        let (patterns, prefix) = before.rsplit_once('/')?;
        for pattern in patterns.split('/') {
            let (segment, following) = rest.split_once('/')?;
            self.take_segment(pattern, segment)?;
            rest = following;
        }
        let (suffix, patterns) = after.split_once('/').map_or((after, None), |(one, all)| (one, Some(all)));
        for pattern in patterns.into_iter().flat_map(|patterns| patterns.rsplit('/')) {
            let (preceding, segment) = rest.rsplit_once('/')?;
            self.take_segment(pattern, segment)?;
            rest = preceding;
        }
        self.0.push((SPLAT, rest.strip_prefix(prefix)?.strip_suffix(suffix)?));
        Some(())
    }

    /// Works from the end to the beginning. The text before a placeholder is found as far to the right as
    /// possible, so that earlier placeholders match as much as possible, as in a regular expression.
    fn take_segment(&mut self, pattern: &'a str, segment: &'a str) -> Option<()> {
        let Some((mut pattern, mut name, literal)) = last_placeholder(pattern) else {
            return (pattern == segment).then_some(());
        };
        let mut rest = segment.strip_suffix(literal)?;
        loop {
            let next = last_placeholder(pattern);
            let literal = next.map_or(pattern, |(_, _, literal)| literal);
            // A placeholder matches at least one character. Paths are ASCII.
            let may_begin_in = rest.get(..rest.len().checked_sub(1)?)?;
            let at = match next {
                Some(_) => may_begin_in.rfind(literal)?,
                None => may_begin_in.starts_with(literal).then_some(0)?,
            };
            self.0.push((name, &rest[at + literal.len()..]));
            rest = &rest[..at];
            match next {
                Some((before, next_name, _)) => (pattern, name) = (before, next_name),
                None => return Some(()),
            }
        }
    }

    fn of(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(captured, _)| *captured == name).map(|(_, value)| *value)
    }

    /// The text with its placeholders replaced. Names that the pattern does not have stand for themselves.
    /// `None` if the result is longer than the maximum.
    pub fn fill(&self, text: &str, inserting: Inserting, bytes_max: usize) -> Option<String> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(':') {
            let (before, after) = rest.split_at(at);
            filled.push_str(before);
            let name = name_at_start(&after[1..]);
            match self.of(name) {
                Some(value) => match inserting {
                    Inserting::InPath => filled.push_str(value),
                    Inserting::AsValue => push_value(&mut filled, value),
                },
                None => filled.push_str(&after[..=name.len()]),
            }
            rest = &after[1 + name.len()..];
            if filled.len() > bytes_max {
                return None;
            }
        }
        filled.push_str(rest);
        (filled.len() <= bytes_max).then_some(filled)
    }
}

/// The text before the last placeholder, its name, and the text after it.
fn last_placeholder(pattern: &str) -> Option<(&str, &str, &str)> {
    let mut end = pattern.len();
    while let Some(at) = pattern[..end].rfind(':') {
        let name = name_at_start(&pattern[at + 1..]);
        if !name.is_empty() {
            return Some((&pattern[..at], name, &pattern[at + 1 + name.len()..]));
        }
        end = at;
    }
    None
}

/// The name of a placeholder at the beginning of a text, or nothing.
pub(super) fn name_at_start(text: &str) -> &str {
    if !text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return "";
    }
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    &text[..text.find(|character| !is_part(character)).unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(pattern: &str, path: &str) -> Option<Vec<(String, String)>> {
        let pattern = Pattern::parse(pattern, StarPlace::Anywhere).ok().unwrap();
        let path = RequestPath::new(path);
        let mut captures = pattern.captures(&path)?.0;
        captures.sort_unstable();
        Some(captures.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    fn assert_matches(pattern: &str, path: &str, expected: &[(&str, &str)]) {
        let found = matched(pattern, path).unwrap_or_else(|| panic!("{pattern} does not match {path}"));
        let found: Vec<_> = found.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(found, expected, "{pattern} with {path}");
    }

    #[test]
    fn placeholders_match_within_a_segment() {
        assert_matches("/a", "/a", &[]);
        assert_matches("/caf%C3%A9", "/café", &[]);
        assert_matches("/café", "/caf%c3%a9", &[]);
        assert_matches("/:a", "/x", &[("a", "x")]);
        assert_matches("/:a/b/:c", "/x/b/y", &[("a", "x"), ("c", "y")]);
        assert_matches("/:a.html", "/x.y.html", &[("a", "x.y")]);
        assert_matches("/v:a", "/v1", &[("a", "1")]);
        assert_matches(
            "/:year-:month-:day",
            "/2026-11-26",
            &[("day", "26"), ("month", "11"), ("year", "2026")],
        );
        assert_matches("/:a-:b", "/1-2-3", &[("a", "1-2"), ("b", "3")]);
        assert_matches("/:a:b", "/xyz", &[("a", "xy"), ("b", "z")]);
        assert_matches("/x:1/:a", "/x:1/%2Fb", &[("a", "%2Fb")]);
        for (pattern, path) in [
            ("/a", "/a/"),
            ("/a", "/A"),
            ("/a/", "/a"),
            ("/:a", "/"),
            ("/:a", "/x/y"),
            ("/:a/b", "/x/c"),
            ("/:a-:b", "/1-"),
            ("/:a-:b", "/-1"),
            ("/:a:b", "/x"),
            ("/v:a", "/v"),
            ("/v:a", "/w1"),
            ("/a", ""),
            ("/a%2Fb", "/a/b"),
        ] {
            assert_eq!(matched(pattern, path), None, "{pattern} with {path}");
        }
    }

    #[test]
    fn a_star_matches_the_rest() {
        assert_matches("/*", "/", &[("splat", "")]);
        assert_matches("/*", "/a/b", &[("splat", "a/b")]);
        assert_matches("/*", "//evil.example", &[("splat", "/evil.example")]);
        assert_matches("/a/*", "/a/", &[("splat", "")]);
        assert_matches("/a*", "/abc/d", &[("splat", "bc/d")]);
        assert_matches("/:a/*", "/x/y/z", &[("a", "x"), ("splat", "y/z")]);
        assert_matches("/*.js", "/a/b.js", &[("splat", "a/b")]);
        assert_matches("/a/*/c/:d", "/a/x/y/c/z", &[("d", "z"), ("splat", "x/y")]);
        for (pattern, path) in
            [("/a/*", "/a"), ("/*", ""), ("/*.js", "/a.jsx"), ("/a/*/c", "/a/c"), ("/aa*aa", "/aaa")]
        {
            assert_eq!(matched(pattern, path), None, "{pattern} with {path}");
        }
        assert_eq!(matched("/*", &format!("/{}", "a".repeat(PATH_BYTES_MAX))), None);
    }

    #[test]
    fn unclear_patterns_are_faults() {
        let fault_of = |text: &str| Pattern::parse(text, StarPlace::AtEnd).err().map(|fault| fault.message);
        for text in ["a", "https://a.example/b", "/a?b=c", "/a#b", "/*/b", "/**", "/:a/:a", "/:a*", "/:splat"]
        {
            assert!(fault_of(text).is_some(), "{text}");
        }
        for text in ["/", "/*", "/:a_1/:b", "/a:1", "/a::b"] {
            assert_eq!(fault_of(text), None, "{text}");
        }
    }

    #[test]
    fn placeholders_are_replaced_by_their_whole_names() {
        let (pattern, path) =
            (Pattern::parse("/:a/:ab/*", StarPlace::AtEnd).ok().unwrap(), RequestPath::new("/1/2/3&4"));
        let captures = pattern.captures(&path).unwrap();
        let filled = |text, inserting| captures.fill(text, inserting, 100);
        assert_eq!(filled("/:ab/:a/:abc:::a", Inserting::InPath).unwrap(), "/2/1/:abc::1");
        assert_eq!(filled("x=:splat", Inserting::AsValue).unwrap(), "x=3%264");
        assert_eq!(captures.fill("/:splat", Inserting::InPath, 3), None);
    }
}
