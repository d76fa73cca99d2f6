//! `_redirects`: redirects, rewrites and pages for unknown paths.

use super::SiteRules;
use super::lines::{Faults, Line, LineFault, read, shown};
use super::pattern::{Pattern, StarPlace};
use super::request_path::RequestPath;
use super::target::{Destination, Target};

/// The rules of `_redirects`, in order. The first that matches decides.
#[derive(Debug, Default)]
pub struct Redirects(Vec<Redirect>);

#[derive(Debug)]
pub(super) struct Redirect {
    pub line: u32,
    pub from: Pattern,
    pub action: Action,
    pub target: Target,
    /// Whether it also applies to the path of a file.
    is_forced: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// With this status.
    Redirect(u16),
    Rewrite,
    NotFound,
}

/// Whether the site has a file or folder for the requested path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAtPath {
    Present,
    Absent,
}

/// What a rule does with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectMatch {
    Redirect {
        status: u16,
        to: Destination,
    },
    /// Serve the file at this path of the site, which starts with a slash.
    Rewrite {
        path: String,
    },
    /// The same, with status 404.
    NotFound {
        path: String,
    },
}

const STATUS_DEFAULT: &str = "301";
const STATUSES: [u16; 5] = [301, 302, 303, 307, 308];
/// The memory of a rule besides its texts.
const RULE_BYTES: u64 = size_of::<Redirect>() as u64;

impl Redirects {
    pub(super) fn parse(bytes: &[u8], faults: &mut Faults) -> Self {
        let mut rules: Vec<Redirect> = Vec::new();
        for line in read(bytes, faults) {
            let number = line.number;
            if rules.len() == SiteRules::RULES_MAX {
                let message = format!(
                    "only {} redirects are possible; this one and the following ones are ignored",
                    SiteRules::RULES_MAX
                );
                faults.add(number, LineFault::new(message, "combine rules with placeholders and *"));
                break;
            }
            match Redirect::parse(&line).and_then(|rule| rule.unless_shadowed(&rules)) {
                Ok(rule) => rules.push(rule),
                Err(fault) => faults.add(number, fault),
            }
        }
        Self(rules)
    }

    /// The first rule that applies to a request for the path. `query` is that of the request.
    pub fn find(&self, path: &RequestPath, file: FileAtPath, query: Option<&str>) -> Option<RedirectMatch> {
        let mut rules = self.0.iter().filter(|rule| rule.is_forced || file == FileAtPath::Absent);
        rules.find_map(|rule| rule.applied(path, query))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn rules(&self) -> &[Redirect] {
        &self.0
    }

    pub(super) fn weight_bytes(&self) -> u64 {
        let weigh = |rule: &Redirect| RULE_BYTES + rule.from.weight_bytes() + rule.target.weight_bytes();
        self.0.iter().map(weigh).sum()
    }
}

impl Redirect {
    fn parse(line: &Line<'_>) -> Result<Self, LineFault> {
        let mut parts = line.text.split_whitespace();
        let (from, to) = (parts.next().unwrap_or_default(), parts.next());
        let Some(to) = to.filter(|to| !to.starts_with('#')) else {
            let message = "a redirect needs a path and a target";
            return Err(LineFault::new(message, "write it as: /old-path /new-path 301"));
        };
        let parts: Vec<&str> = parts.take_while(|part| !part.starts_with('#')).collect();
        let from = Pattern::parse(from, StarPlace::AtEnd)?;
        let is_condition = |part: &str| part.contains('=') && !part.starts_with('/') && !part.contains("://");
        if let Some(condition) = [to].iter().chain(&parts).find(|part| is_condition(part)) {
            let name = condition.split('=').next().unwrap_or_default();
            return Err(LineFault::new(
                format!("conditions such as {}= are not supported, and the rule is ignored", shown(name)),
                "remove the condition; a rule matches the path only",
            ));
        }
        let (action, is_forced) = match parts[..] {
            [] => Action::parse(STATUS_DEFAULT)?,
            [status] => Action::parse(status)?,
            [_, extra, ..] => {
                let message = format!("unexpected {} after the status", shown(extra));
                return Err(LineFault::new(message, "write it as: /old-path /new-path 301"));
            }
        };
        let target = Target::parse(to, &from)?;
        if !target.is_within() && matches!(action, Action::Rewrite | Action::NotFound) {
            let message = "a rule with status 200 or 404 can only show a page of this site";
            return Err(LineFault::new(message, "use 302 to lead visitors to the other site"));
        }
        Ok(Self { line: line.number, from, action, target, is_forced })
    }

    /// A fault if an earlier rule always applies in its place.
    fn unless_shadowed(self, earlier: &[Redirect]) -> Result<Self, LineFault> {
        let shadows = |rule: &&Redirect| {
            rule.from.as_str() == self.from.as_str() && (rule.is_forced || !self.is_forced)
        };
        match earlier.iter().find(shadows) {
            Some(rule) => Err(LineFault::new(
                format!("this rule is never used, because line {} has the same path", rule.line),
                "remove one of the two lines",
            )),
            None => Ok(self),
        }
    }

    fn applied(&self, path: &RequestPath, query: Option<&str>) -> Option<RedirectMatch> {
        let captures = self.from.captures(path)?;
        match self.action {
            Action::Redirect(status) => {
                let to = self.target.destination(&captures, query)?;
                // A redirect to the requested path would never end.
                let is_loop = matches!(&to, Destination::Within { path: to, .. }
                    if path.as_str().trim_start_matches('/') == to);
                (!is_loop).then_some(RedirectMatch::Redirect { status, to })
            }
            Action::Rewrite => Some(RedirectMatch::Rewrite { path: self.target.path(&captures)? }),
            Action::NotFound => Some(RedirectMatch::NotFound { path: self.target.path(&captures)? }),
        }
    }
}

impl Action {
    /// The action for a status, and whether it is forced.
    fn parse(text: &str) -> Result<(Self, bool), LineFault> {
        let (number, is_forced) = text.strip_suffix('!').map_or((text, false), |number| (number, true));
        let action = match number.parse::<u16>() {
            Ok(200) => Self::Rewrite,
            Ok(404) => Self::NotFound,
            Ok(status) if STATUSES.contains(&status) => Self::Redirect(status),
            _ => {
                return Err(LineFault::new(
                    format!("the status {} is not possible", shown(text)),
                    "use 301 (the default), 302, 303, 307, 308, 200 or 404, with ! if it also applies to files",
                ));
            }
        };
        Ok((action, is_forced))
    }
}
