//! Ledger entries as text for people: why money moved, when, and the balance after it.

use std::collections::HashMap;

use domain::{ArtifactId, LedgerEntry, Month, Slug};

use crate::html::figures::{Dollars, Moment, MonthName};

/// The prefix of reasons that name a page.
const OF_VISIBILITY: &str = "visibility";

pub struct EntryRow {
    pub at: Moment,
    pub text: String,
    /// The reason as the API returns it.
    pub reason: String,
    pub delta: Dollars,
    pub balance: Dollars,
}

/// The slugs of some pages of an account, by artifact id.
pub struct Slugs(HashMap<ArtifactId, Slug>);

impl Slugs {
    pub fn new(slugs: HashMap<ArtifactId, Slug>) -> Self {
        Self(slugs)
    }

    pub fn find(&self, artifact: ArtifactId) -> Option<&Slug> {
        self.0.get(&artifact)
    }
}

/// The page that an entry is about, if any.
pub fn artifact_of(entry: &LedgerEntry) -> Option<ArtifactId> {
    let about = entry.reason.strip_prefix(OF_VISIBILITY)?;
    about.strip_prefix(':')?.split(':').next()?.parse().ok()
}

impl EntryRow {
    pub fn new(entry: &LedgerEntry, slugs: &Slugs) -> Self {
        Self {
            at: Moment(entry.created_at),
            text: describe(&entry.reason, slugs),
            reason: entry.reason.clone(),
            delta: Dollars(entry.delta),
            balance: Dollars(entry.balance_after),
        }
    }
}

fn describe(reason: &str, slugs: &Slugs) -> String {
    let (kind, about) = reason.split_once(':').unwrap_or((reason, ""));
    match kind {
        "publish" => "Publish above the free allowance".to_owned(),
        OF_VISIBILITY => visibility_of(about, slugs),
        "storage" => format!("Storage above the free allowance, {}", month_named(about)),
        "traffic" => format!("Views above the free allowance, {}", month_named(about)),
        "topup-dev" => "Credit (test)".to_owned(),
        "topup-card-processor" => "Credit, by card".to_owned(),
        "refund-card-processor" => "Refund to the card".to_owned(),
        "operator-credit" => "Credit, by the operator".to_owned(),
        _ => "Other".to_owned(),
    }
}

/// `<artifact id>:<month>`
fn visibility_of(about: &str, slugs: &Slugs) -> String {
    let (artifact, month) = about.split_once(':').unwrap_or((about, ""));
    let month = month_named(month);
    match artifact.parse().ok().and_then(|id| slugs.find(id)) {
        Some(slug) => format!("Unlisted or private page {slug}, {month}"),
        None => format!("Unlisted or private page, now deleted, {month}"),
    }
}

/// `2026-11` as `November 2026`.
fn month_named(text: &str) -> String {
    text.parse::<Month>().map_or_else(|()| text.to_owned(), |month| MonthName(month).to_string())
}

#[cfg(test)]
mod tests {
    use domain::{Chance, JobId, Reason, Time, VersionId};

    use super::*;

    #[test]
    fn every_ledger_reason_has_a_description() {
        let (now, chance) = (Time::from_millis(1_790_000_000_000), Chance::seeded(1));
        let (artifact, month) = (ArtifactId::new(now, &chance), now.month());
        let slugs = Slugs(HashMap::from([(artifact, "my-page".parse().unwrap())]));
        for (reason, text) in [
            (Reason::Publish(VersionId::new(now, &chance)), "Publish above the free allowance"),
            (Reason::Visibility(artifact, month), "Unlisted or private page my-page, September 2026"),
            (
                Reason::Visibility(ArtifactId::new(now, &chance), month),
                "Unlisted or private page, now deleted, September 2026",
            ),
            (Reason::Storage(month), "Storage above the free allowance, September 2026"),
            (Reason::Traffic(month), "Views above the free allowance, September 2026"),
            (Reason::DevTopUp(JobId::new(now, &chance)), "Credit (test)"),
            (Reason::CardTopUp("cs_1".to_owned()), "Credit, by card"),
            (Reason::CardRefund("re_1".to_owned()), "Refund to the card"),
            (Reason::OperatorCredit(JobId::new(now, &chance)), "Credit, by the operator"),
        ] {
            assert_eq!(describe(&reason.to_string(), &slugs), text);
        }
    }
}
