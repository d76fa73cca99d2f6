//! Renders differences between two versions as a unified diff in the format of git, which `git apply` reads.
//! Pure, and bounded in size and time.

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;
use std::time::{Duration, Instant};

use bytes::Bytes;
use domain::SitePath;
use similar::algorithms::IdentifyDistinct;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_deadline, group_diff_ops};

/// The longest diff, with its last line.
const BYTES_MAX: usize = 1_048_576;
/// The last line of a diff that is cut off.
const CUT_OFF: &str = "# The diff is longer than 1 MB and ends here.\n";
/// After this time the diff is only correct, and no longer the shortest one.
const EXACT_FOR: Duration = Duration::from_secs(2);
/// A file with more lines than this is not compared, like a binary one. The comparison takes memory for each
/// line.
const LINES_MAX: usize = 125_000;
const CONTEXT_LINES: usize = 3;
/// Follows a last line without a line feed.
const NO_NEWLINE: &str = "\n\\ No newline at end of file\n";

/// A file in two versions. `None` where it does not exist.
#[derive(Clone, Debug)]
pub(crate) struct FilePair {
    pub(crate) path: SitePath,
    pub(crate) before: Option<Bytes>,
    pub(crate) after: Option<Bytes>,
}

/// A diff that may be full.
struct Diff {
    text: String,
    deadline: Instant,
}

/// The diff was cut off.
struct Full;

/// The diff of these files, in their order.
pub(crate) fn unified_diff(files: &[FilePair]) -> String {
    let mut diff = Diff { text: String::new(), deadline: Instant::now() + EXACT_FOR };
    if files.iter().try_for_each(|file| diff.add_file(file)).is_err() {
        diff.text.push_str(CUT_OFF);
    }
    diff.text
}

impl Diff {
    fn add_file(&mut self, FilePair { path, before, after }: &FilePair) -> Result<(), Full> {
        let (old_name, new_name) = (quoted('a', path), quoted('b', path));
        let header = format!("diff --git {old_name} {new_name}\n");
        let exists = [before.is_some(), after.is_some()];
        let named = |exists, name| if exists { name } else { "/dev/null".to_owned() };
        let (old_name, new_name) = (named(exists[0], old_name), named(exists[1], new_name));
        let (Some(before), Some(after)) = (text_of(before.as_ref()), text_of(after.as_ref())) else {
            // A header would make git refuse the whole diff.
            return self.push(&format!("# Binary files {old_name} and {new_name} differ\n"));
        };
        self.push(&header)?;
        match exists {
            [false, _] => self.push("new file mode 100644\n")?,
            [_, false] => self.push("deleted file mode 100644\n")?,
            _ => {}
        }
        let (before, after) = (lines_of(before), lines_of(after));
        let hunks = group_diff_ops(changes(&before, &after, self.deadline), CONTEXT_LINES);
        if hunks.is_empty() {
            return Ok(());
        }
        self.push(&format!("--- {}\n+++ {}\n", ended(&old_name), ended(&new_name)))?;
        hunks.iter().try_for_each(|hunk| self.add_hunk(hunk, &before, &after))
    }

    fn add_hunk(&mut self, hunk: &[DiffOp], before: &[&str], after: &[&str]) -> Result<(), Full> {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return Ok(()) };
        let old = span(first.old_range().start..last.old_range().end);
        let new = span(first.new_range().start..last.new_range().end);
        self.push(&format!("@@ -{old} +{new} @@\n"))?;
        for op in hunk {
            let (removed, added) = (&before[op.old_range()], &after[op.new_range()]);
            if op.tag() == DiffTag::Equal {
                removed.iter().try_for_each(|line| self.add_line(" ", line))?;
                continue;
            }
            removed.iter().try_for_each(|line| self.add_line("-", line))?;
            added.iter().try_for_each(|line| self.add_line("+", line))?;
        }
        Ok(())
    }

    fn add_line(&mut self, sign: &str, line: &str) -> Result<(), Full> {
        let end = if line.ends_with('\n') { "" } else { NO_NEWLINE };
        self.push_all([sign, line, end])
    }

    fn push(&mut self, line: &str) -> Result<(), Full> {
        self.push_all([line])
    }

    /// Adds text that must not be divided.
    fn push_all<const N: usize>(&mut self, parts: [&str; N]) -> Result<(), Full> {
        let added: usize = parts.iter().map(|part| part.len()).sum();
        if self.text.len() + added > BYTES_MAX - CUT_OFF.len() {
            return Err(Full);
        }
        self.text.extend(parts);
        Ok(())
    }
}

/// The text of a file. A file that does not exist has none, and is not binary either.
fn text_of(content: Option<&Bytes>) -> Option<&str> {
    let Some(content) = content else { return Some("") };
    let is_comparable =
        |text: &&str| !text.contains('\0') && text.bytes().filter(|byte| *byte == b'\n').count() <= LINES_MAX;
    std::str::from_utf8(content).ok().filter(is_comparable)
}

/// A line ends with a line feed only, as in git.
fn lines_of(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn changes(before: &[&str], after: &[&str], deadline: Instant) -> Vec<DiffOp> {
    // Numbers are compared instead of lines, which can be long.
    let numbered = IdentifyDistinct::<u32>::new(before, 0..before.len(), after, 0..after.len());
    capture_diff_deadline(
        Algorithm::Myers,
        numbered.old_lookup(),
        numbered.old_range(),
        numbered.new_lookup(),
        numbered.new_range(),
        Some(deadline),
    )
}

/// The lines of a hunk: the first one, counted from 1, and how many. An empty range names the line before it.
fn span(lines: Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

/// A path below `a/` or `b/`, quoted as git does.
fn quoted(side: char, path: &SitePath) -> String {
    let path = path.as_str();
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    if path.bytes().all(is_plain) {
        return format!("{side}/{path}");
    }
    let mut name = format!("\"{side}/");
    for byte in path.bytes() {
        if is_plain(byte) {
            name.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(name, "\\{byte:03o}");
        }
    }
    name.push('"');
    name
}

/// As git does, a tab ends a name with a space, because some programs would cut it at the space.
fn ended(name: &str) -> Cow<'_, str> {
    if name.contains(' ') && !name.starts_with('"') { format!("{name}\t").into() } else { name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(path: &str, before: Option<&str>, after: Option<&str>) -> FilePair {
        let content = |text: Option<&str>| text.map(|text| Bytes::copy_from_slice(text.as_bytes()));
        FilePair { path: path.parse().unwrap(), before: content(before), after: content(after) }
    }

    #[test]
    fn diff_has_the_headers_of_git() {
        let files = [
            pair("a b.txt", Some("1\n2\n3\n4\n5\n6\n7\n8\n"), Some("1\n2\n3\n4\n5\n6\n7\nx\n")),
            pair("empty", None, Some("")),
            pair("gone.txt", Some("only"), None),
            pair("ü\"x.txt", None, Some("new\r\nline")),
            pair("x.bin", Some("\0"), Some("\0\0")),
            pair("y.txt", None, Some(&"\n".repeat(LINES_MAX + 1))),
        ];
        let expected = "\
diff --git a/a b.txt b/a b.txt
--- a/a b.txt\t
+++ b/a b.txt\t
@@ -5,4 +5,4 @@
 5
 6
 7
-8
+x
diff --git a/empty b/empty
new file mode 100644
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-only
\\ No newline at end of file
diff --git \"a/\\303\\274\\042x.txt\" \"b/\\303\\274\\042x.txt\"
new file mode 100644
--- /dev/null
+++ \"b/\\303\\274\\042x.txt\"
@@ -0,0 +1,2 @@
+new\r
+line
\\ No newline at end of file
# Binary files a/x.bin and b/x.bin differ
# Binary files /dev/null and b/y.txt differ
";
        assert_eq!(unified_diff(&files), expected);
    }

    #[test]
    fn long_diff_ends_with_a_line_that_says_so() {
        let long = "a line of text\n".repeat(BYTES_MAX / 10);
        let diff = unified_diff(&[pair("a.txt", None, Some(&long)), pair("b.txt", None, Some("b"))]);
        assert!(diff.len() <= BYTES_MAX && diff.len() > BYTES_MAX - 100, "{}", diff.len());
        assert!(diff.ends_with(&format!("\n+a line of text\n{CUT_OFF}")));
        // A single line that is too long is left out as a whole.
        let diff = unified_diff(&[pair("a.txt", None, Some(&"x".repeat(BYTES_MAX)))]);
        assert!(diff.ends_with(&format!("@@ -0,0 +1 @@\n{CUT_OFF}")), "{diff}");
    }

    #[test]
    fn diff_of_unrelated_files_takes_bounded_time() {
        let lines = |seed: u64| {
            (0..120_000_u64).map(|n| format!("{}\n", n.wrapping_mul(seed) >> 40)).collect::<String>()
        };
        let began = Instant::now();
        unified_diff(&[pair(
            "a.txt",
            Some(&lines(0x9e37_79b9_7f4a_7c15)),
            Some(&lines(0xbf58_476d_1ce4_e5b9)),
        )]);
        assert!(began.elapsed() < 10 * EXACT_FOR, "{:?}", began.elapsed());
    }
}
