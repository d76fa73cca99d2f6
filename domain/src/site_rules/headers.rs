//! `_headers`: response headers for the paths of a site.

use super::SiteRules;
use super::allowed::{CACHE, check_name, check_value};
use super::cache::is_long;
use super::lines::{Faults, Line, LineFault, read, shown};
use super::pattern::{Captures, Inserting, Pattern, StarPlace};
use super::request_path::RequestPath;

/// The rules of `_headers`, in order. All that match apply.
#[derive(Debug, Default)]
pub struct HeaderRules(Vec<HeaderRule>);

#[derive(Debug)]
pub(super) struct HeaderRule {
    pub path: Pattern,
    /// The names of headers that earlier rules set.
    detached: Vec<Box<str>>,
    headers: Vec<Header>,
}

#[derive(Debug)]
struct Header {
    line: u32,
    /// In lower case.
    name: Box<str>,
    value: Box<str>,
}

/// A header that a site wants for a response. Values of several lines are joined by commas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteHeader<'r> {
    /// In lower case.
    pub name: &'r str,
    pub value: String,
}

/// What the lines after a path belong to.
enum Block {
    /// There was no path yet.
    None,
    /// The path has a fault, so its headers are ignored.
    Ignored,
    Open {
        line: u32,
        is_used: bool,
        rule: HeaderRule,
    },
}

/// The number of header lines, and of different names, in a file.
const LINES_MAX: usize = 1_000;
const NAMES_MAX: usize = 32;
/// All headers that a site adds to a response, together. Proxies refuse responses with more.
const RESPONSE_BYTES_MAX: usize = 4 << 10;
/// The memory of a rule and of a header besides their texts.
const RULE_BYTES: u64 = size_of::<HeaderRule>() as u64;
const HEADER_BYTES: u64 = size_of::<Header>() as u64;

impl HeaderRules {
    pub(super) fn parse(bytes: &[u8], faults: &mut Faults) -> Self {
        let mut parser = Parser::default();
        for line in read(bytes, faults) {
            if line.text.starts_with('/')
                || line.text.contains("://") && !line.text.contains(char::is_whitespace)
            {
                parser.close(faults);
                if parser.rules.len() == SiteRules::RULES_MAX {
                    faults.add(line.number, too_many_rules());
                    break;
                }
                parser.open(&line, faults);
            } else if let Err(fault) = parser.take(&line, faults) {
                faults.add(line.number, fault);
            }
        }
        parser.close(faults);
        Self(parser.rules)
    }

    /// The headers for a request of the path.
    pub fn for_path<'r>(&'r self, path: &RequestPath) -> Vec<SiteHeader<'r>> {
        // Files are found by the decoded path, so another spelling of it must not avoid their headers.
        let decoded = path.decoded();
        let mut headers: Vec<SiteHeader<'r>> = Vec::new();
        let mut bytes = 0;
        for rule in &self.0 {
            let captures = rule.path.captures(path).or_else(|| rule.path.captures(&decoded));
            let Some(captures) = captures else { continue };
            headers.retain(|header| !rule.detached.iter().any(|name| **name == *header.name));
            for header in &rule.headers {
                let Some(value) = header.filled(&captures) else { continue };
                bytes += header.name.len() + value.len() + 4;
                if bytes > RESPONSE_BYTES_MAX {
                    return headers;
                }
                match headers.iter_mut().find(|earlier| *earlier.name == *header.name) {
                    Some(earlier) => earlier.value.extend([", ", &value]),
                    None => headers.push(SiteHeader { name: &header.name, value }),
                }
            }
        }
        headers
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The rules that ask for long caching, with their lines.
    pub(super) fn long_caching(&self) -> impl Iterator<Item = (u32, &Pattern)> {
        let is_long = |header: &&Header| *header.name == *CACHE && is_long(&header.value);
        self.0.iter().filter_map(move |rule| Some((rule.headers.iter().find(is_long)?.line, &rule.path)))
    }

    pub(super) fn weight_bytes(&self) -> u64 {
        let weigh_header = |header: &Header| HEADER_BYTES + (header.name.len() + header.value.len()) as u64;
        let weigh = |rule: &HeaderRule| {
            let detached = rule.detached.iter().map(|name| HEADER_BYTES + name.len() as u64).sum::<u64>();
            let headers = rule.headers.iter().map(weigh_header).sum::<u64>();
            RULE_BYTES + rule.path.weight_bytes() + detached + headers
        };
        self.0.iter().map(weigh).sum()
    }
}

impl Header {
    fn filled(&self, captures: &Captures<'_>) -> Option<String> {
        captures.fill(&self.value, Inserting::AsValue, RESPONSE_BYTES_MAX)
    }
}

fn too_many_rules() -> LineFault {
    let message = format!(
        "only {} paths are possible; this one and the following lines are ignored",
        SiteRules::RULES_MAX
    );
    LineFault::new(message, "combine paths with placeholders and *")
}

struct Parser {
    rules: Vec<HeaderRule>,
    block: Block,
    names: Vec<Box<str>>,
    lines: usize,
}

impl Default for Parser {
    fn default() -> Self {
        Self { rules: Vec::new(), block: Block::None, names: Vec::new(), lines: 0 }
    }
}

impl Parser {
    fn open(&mut self, line: &Line<'_>, faults: &mut Faults) {
        self.block = match Pattern::parse(line.text, StarPlace::Anywhere) {
            Ok(path) => {
                let rule = HeaderRule { path, detached: Vec::new(), headers: Vec::new() };
                Block::Open { line: line.number, is_used: false, rule }
            }
            Err(fault) => {
                faults.add(line.number, fault);
                Block::Ignored
            }
        };
    }

    fn close(&mut self, faults: &mut Faults) {
        let Block::Open { line, is_used, rule } = std::mem::replace(&mut self.block, Block::None) else {
            return;
        };
        if !rule.headers.is_empty() || !rule.detached.is_empty() {
            self.rules.push(rule);
        } else if !is_used {
            let hint = "add lines such as: X-Name: value";
            faults.add(line, LineFault::new("there are no headers below this path", hint));
        }
    }

    /// Takes a line that is not a path.
    fn take(&mut self, line: &Line<'_>, faults: &mut Faults) -> Result<(), LineFault> {
        let Self { block, names, lines, .. } = self;
        let rule = match block {
            Block::None => {
                let message = "there is no path before this line";
                return Err(LineFault::new(message, "begin with a path such as /* in its own line"));
            }
            Block::Ignored => return Ok(()),
            Block::Open { is_used, rule, .. } => {
                *is_used = true;
                rule
            }
        };
        *lines += 1;
        if *lines > LINES_MAX {
            let message = format!("only {LINES_MAX} headers are possible, and this one is ignored");
            return Err(LineFault::new(message, "combine paths with placeholders and *"));
        }
        if let Some(name) = line.text.strip_prefix("! ") {
            let name = name.trim().to_ascii_lowercase();
            check_name(&name)?;
            rule.detached.push(name.into());
            return Ok(());
        }
        let Some((name, value)) = line.text.split_once(':') else {
            let message = format!("{} is neither a path nor a header", shown(line.text));
            return Err(LineFault::new(message, "write it as: X-Name: value"));
        };
        let name = name.trim().to_ascii_lowercase();
        check_name(&name)?;
        let (value, fault) = check_value(&name, value.trim())?;
        if !names.iter().any(|known| **known == *name) {
            if names.len() == NAMES_MAX {
                let message = format!("only {NAMES_MAX} different headers are possible");
                return Err(LineFault::new(message, "remove headers that the site does not need"));
            }
            names.push(name.as_str().into());
        }
        rule.headers.push(Header { line: line.number, name: name.into(), value: value.into() });
        if let Some(fault) = fault {
            faults.add(line.number, fault);
        }
        Ok(())
    }
}
