//! Reads lines of a text file of a version. A response is bounded, because it enters a model's context.

use domain::{Refusal, VersionChoice};
use serde::Deserialize;
use serde_json::{Value, json};
use service::VersionFile;

use crate::http::refusal::RefusedCall;
use crate::mcp::arguments::{self, GivenSlug, WholeNumber};
use crate::mcp::endpoint::McpExchange;
use crate::mcp::tool::{Effect, Tool};
use crate::wire;

/// The longest content of a response.
const BYTES_MAX: usize = 64 * 1024;

pub struct ReadFile;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    slug: GivenSlug,
    path: String,
    version: Option<WholeNumber>,
    from_line: Option<WholeNumber>,
    to_line: Option<WholeNumber>,
}

/// The lines that a call asks for, counted from 1.
struct AskedLines {
    from: usize,
    to: usize,
}

impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    const TITLE: &'static str = "Read a file of a page";
    const DESCRIPTION: &'static str = "\
Read a text file of a page, whole or some of its lines. Use it before you change a page that you do not \
have. Returns content, line_count, from_line, to_line and truncated: a response has at most 64 KiB, so \
read on with from_line = to_line + 1. Free. list_files lists the paths.";
    const EFFECT: Effect = Effect::Reads;

    type Arguments = Arguments;
    type Output = wire::FileText;

    fn schema() -> Value {
        let line = |description| json!({ "type": "integer", "minimum": 1, "description": description });
        let path = json!({
            "type": "string",
            "description": "The path of the file in the site, such as \"css/app.css\".",
        });
        let properties = json!({
            "slug": arguments::slug(),
            "path": path,
            "version": arguments::version(),
            "from_line": line("The first line to read, from 1. If omitted, the first of the file."),
            "to_line": line("The last line to read. If omitted, the last of the file."),
        });
        arguments::object(properties, &["slug", "path"])
    }

    async fn run(exchange: &McpExchange, arguments: Arguments) -> Result<Self::Output, RefusedCall> {
        let Arguments { slug: GivenSlug(slug), path, version, from_line, to_line } = arguments;
        let lines = AskedLines::of(from_line, to_line)?;
        let version = version.map_or(VersionChoice::Live, |WholeNumber(seq)| VersionChoice::Numbered(seq));
        let file = exchange.service.version_file(&exchange.caller, &slug, version, &path).await?;
        let mut memory = exchange.memory.enter();
        memory.grow(usize::try_from(file.file.size_bytes).unwrap_or(usize::MAX)).await?;
        let bytes = exchange.service.read_file(&file).await?;
        let text = std::str::from_utf8(&bytes).map_err(|_| not_text(&file))?;
        Ok(lines.cut(&file, text)?)
    }
}

fn not_text(VersionFile { file, .. }: &VersionFile) -> Refusal {
    let fault = format!(
        "is not text in UTF-8 ({}, {} bytes); GET /v1/artifacts/{{slug}}/files/{{path}} returns its bytes",
        file.content_type, file.size_bytes
    );
    Refusal::invalid("path", fault)
}

impl AskedLines {
    fn of(from: Option<WholeNumber>, to: Option<WholeNumber>) -> Result<Self, Refusal> {
        let number = |line: Option<WholeNumber>| line.map(|WholeNumber(number)| number as usize);
        let (from, to) = (number(from).unwrap_or(1), number(to).unwrap_or(usize::MAX));
        if from == 0 {
            return Err(Refusal::invalid("from_line", "must be at least 1"));
        }
        if to < from {
            return Err(Refusal::invalid("to_line", format!("is before the first line to read, {from}")));
        }
        Ok(Self { from, to })
    }

    fn cut(
        &self,
        VersionFile { version, file }: &VersionFile,
        text: &str,
    ) -> Result<wire::FileText, Refusal> {
        let lines = || text.split_inclusive('\n');
        let line_count = lines().count();
        if self.from > line_count.max(1) {
            return Err(Refusal::invalid("from_line", format!("is after the last line, {line_count}")));
        }
        let asked = || lines().take(self.to).skip(self.from - 1);
        let (mut content, mut count) = (String::new(), 0);
        for line in asked() {
            if content.len() + line.len() > BYTES_MAX {
                break;
            }
            content.push_str(line);
            count += 1;
        }
        // A line that is too long on its own is cut. Otherwise nothing of it could be read.
        if let (0, Some(line)) = (count, asked().next()) {
            content.push_str(&line[..line.floor_char_boundary(BYTES_MAX)]);
            count = 1;
        }
        Ok(wire::FileText {
            path: file.path.to_string(),
            version: *version,
            content_type: file.content_type.clone(),
            size_bytes: file.size_bytes,
            line_count: line_count as u64,
            from_line: self.from as u64,
            to_line: (self.from + count - 1) as u64,
            truncated: content.len() < asked().map(str::len).sum(),
            content,
        })
    }
}

#[cfg(test)]
mod tests {
    use domain::{BlobHash, ManifestFile};

    use super::*;

    fn read(text: &str, from: usize, to: usize) -> Result<wire::FileText, Refusal> {
        let file = ManifestFile {
            path: "index.html".parse().unwrap(),
            hash: BlobHash::of(text.as_bytes()),
            size_bytes: text.len() as u64,
            content_type: "text/html".to_owned(),
            variants: Vec::new(),
            bundled: None,
        };
        AskedLines { from, to }.cut(&VersionFile { version: 3, file }, text)
    }

    #[test]
    fn asked_lines_are_returned_with_their_ends() {
        let text = "one\ntwo\r\nthree";
        for (from, to, content, last) in [
            (1, usize::MAX, text, 3),
            (1, 1, "one\n", 1),
            (2, 2, "two\r\n", 2),
            (2, 9, "two\r\nthree", 3),
            (3, 3, "three", 3),
        ] {
            let read = read(text, from, to).unwrap();
            assert_eq!((read.content.as_str(), read.to_line, read.truncated), (content, last, false));
            assert_eq!((read.line_count, read.from_line), (3, from as u64));
        }
        assert!(read(text, 4, usize::MAX).unwrap_err().message().contains("the last line, 3"));
        let empty = read("", 1, usize::MAX).unwrap();
        assert_eq!((empty.content.as_str(), empty.line_count, empty.to_line), ("", 0, 0));
    }

    #[test]
    fn long_content_is_cut_after_a_line_and_a_long_line_within() {
        let lines = "0123456789\n".repeat(10_000);
        let first = read(&lines, 1, usize::MAX).unwrap();
        assert!(first.truncated && first.content.ends_with('\n') && first.content.len() <= BYTES_MAX);
        let next = read(&lines, first.to_line as usize + 1, usize::MAX).unwrap();
        assert_eq!(first.content + &next.content, lines);
        assert!(!next.truncated && next.to_line == 10_000);
        let long = format!("{}\nend", "ä".repeat(BYTES_MAX));
        let cut = read(&long, 1, usize::MAX).unwrap();
        assert!(cut.truncated && cut.to_line == 1 && cut.content.len() == BYTES_MAX);
        assert_eq!(read(&long, 2, 2).unwrap().content, "end");
    }

    #[test]
    fn impossible_lines_are_refused() {
        let asked = |from, to| AskedLines::of(Some(WholeNumber(from)), Some(WholeNumber(to)));
        for (from, to, field) in [(0, 1, "from_line"), (2, 1, "to_line"), (1, 0, "to_line")] {
            assert!(asked(from, to).err().unwrap().message().contains(field));
        }
        assert!(asked(1, 1).is_ok());
    }
}
