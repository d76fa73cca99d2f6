//! The moderation notice for the owner of a page. It must not reveal the name or the note of a moderator.

use domain::{Artifact, ModeratedBy, ModerationStatus};
use store::{AppealState, BLOCKED_CONTENT, LiveModeration};

use crate::findings::read_findings;
use crate::{Finding, Service, ServiceResult};

/// The rules of a moderator's decision, and of a decision that is based on a report.
const BY_MODERATOR: &str = "moderator";
const BY_REPORT: &str = "report";
/// Characters of the text that the scan found. A page can make it long.
const SAW_LENGTH_MAX: usize = 200;

/// The moderation state of the live version, and the reason for it. A version that has passed has only a
/// status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModerationNotice {
    pub status: ModerationStatus,
    /// The scanner's rule, or `moderator` or `report`.
    pub rule: Option<String>,
    pub file: Option<String>,
    /// The field and the words that the scan found.
    pub saw: Option<String>,
    pub message: Option<String>,
    pub appeal: AppealState,
}

impl ModerationNotice {
    /// A notice without details.
    pub fn plain(status: ModerationStatus) -> Self {
        let message = (status == ModerationStatus::Pending)
            .then(|| "This version has not been checked yet.".to_owned());
        Self { status, rule: None, file: None, saw: None, message, appeal: AppealState::None }
    }

    /// Whether the owner may appeal.
    pub fn may_appeal(&self) -> bool {
        matches!(self.status, ModerationStatus::Review | ModerationStatus::Blocked)
            && self.appeal == AppealState::None
    }

    pub(crate) fn of(live: &LiveModeration) -> Self {
        if matches!(live.status, ModerationStatus::Pass | ModerationStatus::Pending) {
            return Self::plain(live.status);
        }
        let findings = live.evidence.as_deref().map(read_findings).unwrap_or_default();
        let finding = findings.into_iter().next().filter(|finding| decides(finding, live.moderated_by));
        let (rule, message) = match (live.moderated_by, &finding) {
            (by, Some(finding)) => (finding.rule.clone(), found(finding, by, live.status)),
            (by, None) => decided(by, live.status),
        };
        let appeal = match live.appeal {
            AppealState::None => "If this is a mistake, you can appeal once for each version.",
            AppealState::Open => "Your appeal waits for a moderator.",
            AppealState::Closed => "A moderator has decided on your appeal.",
        };
        Self {
            status: live.status,
            rule: Some(rule).filter(|rule| !rule.is_empty()),
            file: finding.as_ref().map(|finding| finding.file.clone()).filter(|file| !file.is_empty()),
            saw: finding.as_ref().and_then(saw),
            message: Some(format!("{message} {appeal}")),
            appeal: live.appeal,
        }
    }
}

impl Service {
    pub(crate) async fn moderation_notice(&self, artifact: &Artifact) -> ServiceResult<ModerationNotice> {
        let Some(live) = artifact.live else { return Ok(ModerationNotice::plain(ModerationStatus::Pending)) };
        if matches!(live.moderation, ModerationStatus::Pass | ModerationStatus::Pending) {
            return Ok(ModerationNotice::plain(live.moderation));
        }
        let found = self.0.store.moderation().find_live(live.id).await?;
        Ok(found.as_ref().map_or_else(|| ModerationNotice::plain(live.moderation), ModerationNotice::of))
    }
}

/// The rules that a finding can name.
pub const RULES: [&str; 10] = [
    "seed_phrase",
    "private_key",
    "card_with_cvv",
    "password_near_lure",
    "too_complex",
    "nul_bytes",
    "redirects_away",
    "hidden_content",
    "scan_failed",
    BLOCKED_CONTENT,
];

/// A rule as a phrase that follows the file name. An unknown rule is shown by its name.
pub fn rule_description(rule: &str) -> String {
    match rule {
        "seed_phrase" => "asks for a seed phrase".to_owned(),
        "private_key" => "asks for a private key".to_owned(),
        "card_with_cvv" => "asks for a card number and its CVV".to_owned(),
        "password_near_lure" => "asks for a password near a phishing lure".to_owned(),
        "too_complex" => "is too complex to check".to_owned(),
        "nul_bytes" => "contains NUL bytes, which can hide text from a check".to_owned(),
        "redirects_away" => "does nothing but redirect to another site".to_owned(),
        "hidden_content" => "shows content that is unknown until its script runs".to_owned(),
        "scan_failed" => "could not be checked".to_owned(),
        BLOCKED_CONTENT => "contains a file that a moderator has blocked".to_owned(),
        other => other.replace('_', " "),
    }
}

/// Whether a finding is the reason for the status. People may decide for other reasons.
fn decides(finding: &Finding, by: ModeratedBy) -> bool {
    matches!(by, ModeratedBy::Scan | ModeratedBy::Nobody) || finding.rule == BLOCKED_CONTENT
}

fn found(finding: &Finding, by: ModeratedBy, status: ModerationStatus) -> String {
    let file = if finding.file.is_empty() { "The page" } else { &finding.file };
    let reason = format!("{file} {}.", rule_description(&finding.rule));
    match (by, status) {
        (_, ModerationStatus::Blocked) => format!("{reason} This version is not served."),
        (ModeratedBy::Moderator, _) => {
            format!("{reason} This version is not served until a moderator passes it.")
        }
        _ => format!("{reason} This version is served while it waits for a moderator."),
    }
}

fn decided(by: ModeratedBy, status: ModerationStatus) -> (String, String) {
    let (rule, message) = match (by, status) {
        (ModeratedBy::Moderator, ModerationStatus::Blocked) => {
            (BY_MODERATOR, "A moderator has blocked this version. It is not served.")
        }
        (ModeratedBy::Moderator, _) => (
            BY_MODERATOR,
            "A moderator has blocked this page. This version is not served until a moderator passes it.",
        ),
        (ModeratedBy::Report, _) => {
            (BY_REPORT, "This page was reported. This version is served while it waits for a moderator.")
        }
        (_, ModerationStatus::Blocked) => ("", "The scan has blocked this version. It is not served."),
        _ => ("", "This version is served while it waits for a moderator."),
    };
    (rule.to_owned(), message.to_owned())
}

fn saw(finding: &Finding) -> Option<String> {
    let words = finding.words.join(", ");
    let all = match (finding.field.as_str(), words.as_str()) {
        ("", "") => return None,
        (field, "") => field.to_owned(),
        ("", words) => words.to_owned(),
        (field, words) => format!("{field}: {words}"),
    };
    Some(all.chars().take(SAW_LENGTH_MAX).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ModerationStatus::{Blocked, Pass, Pending, Review};

    const ASKS: &str =
        r#"[{"rule":"seed_phrase","file":"index.html","field":"textarea","words":["seed phrase"]}]"#;
    const LISTED: &str = r#"[{"rule":"blocked_content","file":"app.js","field":"","words":[]}]"#;

    fn notice(status: ModerationStatus, moderated_by: ModeratedBy, evidence: &str) -> ModerationNotice {
        let evidence = Some(evidence.to_owned());
        ModerationNotice::of(&LiveModeration { status, moderated_by, evidence, appeal: AppealState::None })
    }

    #[test]
    fn notice_of_a_held_page_with_a_blocked_file_says_that_it_is_not_served() {
        let held = notice(Review, ModeratedBy::Moderator, LISTED);
        let message = held.message.unwrap();
        let expected =
            "app.js contains a file that a moderator has blocked. This version is not served until";
        assert!(message.starts_with(expected), "{message}");
    }

    #[test]
    fn notice_says_what_the_scan_found_and_where() {
        let found = notice(Blocked, ModeratedBy::Scan, ASKS);
        assert_eq!((found.rule.as_deref(), found.file.as_deref()), (Some("seed_phrase"), Some("index.html")));
        assert_eq!(found.saw.as_deref(), Some("textarea: seed phrase"));
        let message = found.message.as_deref().unwrap();
        assert!(
            message.starts_with("index.html asks for a seed phrase. This version is not served."),
            "{message}"
        );
        assert!(notice(Review, ModeratedBy::Scan, ASKS).message.unwrap().contains("is served while"));
        let listed = notice(Blocked, ModeratedBy::Moderator, LISTED);
        assert_eq!((listed.rule.as_deref(), listed.saw), (Some(BLOCKED_CONTENT), None));
    }

    #[test]
    fn notice_does_not_attribute_moderator_decisions_to_the_scan() {
        let blocked = notice(Blocked, ModeratedBy::Moderator, ASKS);
        assert_eq!((blocked.rule.as_deref(), blocked.file, blocked.saw), (Some("moderator"), None, None));
        assert!(notice(Review, ModeratedBy::Moderator, "[]").message.unwrap().contains("not served until"));
        assert_eq!(notice(Review, ModeratedBy::Report, ASKS).rule.as_deref(), Some("report"));
    }

    #[test]
    fn notice_of_a_passed_page_has_only_its_status() {
        assert_eq!(notice(Pass, ModeratedBy::Moderator, ASKS), ModerationNotice::plain(Pass));
        let nothing = ModerationNotice::plain(Pass);
        assert_eq!((nothing.rule, nothing.message), (None, None));
        assert!(ModerationNotice::plain(Pending).message.is_some());
    }
}
