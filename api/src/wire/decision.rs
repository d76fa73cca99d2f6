//! Moderation decisions in requests and responses.

use domain::{Host, MalformedReason, ModerationDecision, Refusal, RulingNote};
use poem_openapi::Object;
use poem_openapi::types::Example;
use service::DecisionRequest;

use super::artifact::ModerationStatus;
use super::moderation::Action;
use super::review::Seen;
use super::text::typed_texts;

typed_texts! {
    TypedNote: max_length: Some(RulingNote::LENGTH_MAX), pattern: Some(RulingNote::PATTERN.to_owned());
}

/// A moderation decision.
#[derive(Object)]
#[oai(example)]
pub struct Decide {
    /// `block` replaces the page with a 451 error. `pass` serves it. A block also holds back later versions
    /// until a moderator passes one.
    pub action: Action,
    /// A note for other operators. Only the operator's staff can see it.
    pub note: Option<TypedNote>,
    /// The version that was reviewed. If another version is to be decided on by now, the call returns 409 and
    /// nothing is decided.
    #[oai(validator(minimum(value = "1"), maximum(value = "2147483647")))]
    pub version: Option<u32>,
    /// The `seen` of the page that was reviewed. If another decision was made since, the call returns 409 and
    /// nothing is decided.
    pub seen: Option<Seen>,
    /// Hosts of other pages to block as well, from `same_content`. Each gets its own decision. Pages that no
    /// longer have the same content are skipped.
    #[oai(validator(max_items = 100))]
    pub elsewhere: Option<Vec<String>>,
}

/// The result of a decision. No edge serves blocked content anymore when this response is sent.
#[derive(Debug, Object)]
pub struct DecisionMade {
    pub host: String,
    pub slug: String,
    pub version: u32,
    pub moderation_status: ModerationStatus,
    pub elsewhere: BlockedElsewhere,
}

/// The other pages that were blocked.
#[derive(Debug, Object)]
pub struct BlockedElsewhere {
    pub blocked: u64,
    pub hosts: Vec<String>,
    /// Whether more pages have the same content. If true, get the page again and send another decision.
    pub has_more: bool,
}

impl Decide {
    pub fn read(self, host: Host) -> Result<DecisionRequest, Refusal> {
        let note = RulingNote::written(self.note.as_ref().map_or("", |note| &note.0));
        let invalid = |fault: MalformedReason| Refusal::invalid("note", fault.to_string());
        let elsewhere = self.elsewhere.unwrap_or_default();
        if !elsewhere.is_empty() && self.action == Action::Pass {
            return Err(Refusal::invalid("elsewhere", "is allowed only with the action block"));
        }
        let elsewhere: Result<_, _> = elsewhere.iter().map(|host| host.parse()).collect();
        Ok(DecisionRequest {
            host,
            ruling: ModerationDecision::from(self.action),
            note: note.map_err(invalid)?,
            looked_at: self.version,
            seen: self.seen.map(Seen::read).transpose()?,
            elsewhere: elsewhere
                .map_err(|_| Refusal::invalid("elsewhere", "contains something that is not a host"))?,
        })
    }
}

impl Seen {
    fn read(self) -> Result<service::Seen, Refusal> {
        let malformed = |_| Refusal::invalid("seen", "is not the `seen` of a page");
        Ok(service::Seen {
            decision: self.decision.map(|id| id.parse()).transpose().map_err(malformed)?,
            report: self.report.map(|id| id.parse()).transpose().map_err(malformed)?,
            appeal: self.appeal.map(|id| id.parse()).transpose().map_err(malformed)?,
        })
    }
}

impl From<service::DecisionMade> for DecisionMade {
    fn from(made: service::DecisionMade) -> Self {
        Self {
            host: made.host.to_string(),
            slug: made.slug.to_string(),
            version: made.seq,
            moderation_status: made.moderation.into(),
            elsewhere: BlockedElsewhere {
                blocked: made.blocked_elsewhere.len() as u64,
                hosts: made.blocked_elsewhere.iter().map(Host::to_string).collect(),
                has_more: made.has_more,
            },
        }
    }
}

/// The id of a decision, for the example.
const ID: &str = "01KC4GZJ2Q8W5T7RXN3VB6M9DE";

impl Example for Decide {
    fn example() -> Self {
        Self {
            action: Action::Block,
            note: Some(TypedNote("It asks for a seed phrase.".to_owned())),
            version: Some(1),
            seen: Some(Seen { decision: Some(ID.to_owned()), report: None, appeal: None }),
            elsewhere: Some(vec!["other-page-c3d4".to_owned()]),
        }
    }
}
