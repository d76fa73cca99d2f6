//! The entries of a ledger, told to people: why money moved, when, and what was left.

use std::collections::HashMap;

use domain::{ArtifactId, LedgerEntry, Slug};

use crate::html::figures::{Dollars, Moment};

/// How reasons begin that name a page.
const OF_VISIBILITY: &str = "visibility";

pub struct EntryRow {
    pub at: Moment,
    pub words: String,
    /// The reason as the API has it.
    pub reason: String,
    pub delta: Dollars,
    pub balance: Dollars,
}

/// The slugs of some of an account's pages, for what names one by its id.
pub struct Slugs(HashMap<ArtifactId, Slug>);

impl Slugs {
    pub fn new(slugs: HashMap<ArtifactId, Slug>) -> Self {
        Self(slugs)
    }

    pub fn find(&self, artifact: ArtifactId) -> Option<&Slug> {
        self.0.get(&artifact)
    }
}

/// The page that an entry is about, if it is about one.
pub fn artifact_of(entry: &LedgerEntry) -> Option<ArtifactId> {
    let about = entry.reason.strip_prefix(OF_VISIBILITY)?;
    about.strip_prefix(':')?.split(':').next()?.parse().ok()
}

impl EntryRow {
    pub fn new(entry: &LedgerEntry, slugs: &Slugs) -> Self {
        Self {
            at: Moment(entry.created_at),
            words: in_words(&entry.reason, slugs),
            reason: entry.reason.clone(),
            delta: Dollars(entry.delta),
            balance: Dollars(entry.balance_after),
        }
    }
}

fn in_words(reason: &str, slugs: &Slugs) -> String {
    let (kind, about) = reason.split_once(':').unwrap_or((reason, ""));
    match kind {
        "publish" => "Publish beyond the free allowance".to_owned(),
        OF_VISIBILITY => hidden(about, slugs),
        "storage" => format!("Storage beyond the free allowance, {about}"),
        "traffic" => format!("Views beyond the free allowance, {about}"),
        "topup-dev" => "Credit (test)".to_owned(),
        "topup-card-processor" => "Credit, by card".to_owned(),
        "refund-card-processor" => "Refund to the card".to_owned(),
        "operator-credit" => "Credit, by the operator".to_owned(),
        _ => "Other".to_owned(),
    }
}

/// `<artifact id>:<month>`
fn hidden(about: &str, slugs: &Slugs) -> String {
    let (artifact, month) = about.split_once(':').unwrap_or((about, ""));
    match artifact.parse().ok().and_then(|id| slugs.find(id)) {
        Some(slug) => format!("{slug} off the public, {month}"),
        None => format!("Visibility of a deleted page, {month}"),
    }
}

#[cfg(test)]
mod tests {
    use domain::{Chance, JobId, Reason, Time, VersionId};

    use super::*;

    #[test]
    fn every_reason_is_told_in_words() {
        let (now, chance) = (Time::from_millis(1_790_000_000_000), Chance::seeded(1));
        let (artifact, month) = (ArtifactId::new(now, &chance), now.month());
        let slugs = Slugs(HashMap::from([(artifact, "my-page".parse().unwrap())]));
        for (reason, told) in [
            (Reason::Publish(VersionId::new(now, &chance)), "Publish beyond the free allowance"),
            (Reason::Visibility(artifact, month), "my-page off the public, 2026-09"),
            (
                Reason::Visibility(ArtifactId::new(now, &chance), month),
                "Visibility of a deleted page, 2026-09",
            ),
            (Reason::Storage(month), "Storage beyond the free allowance, 2026-09"),
            (Reason::Traffic(month), "Views beyond the free allowance, 2026-09"),
            (Reason::DevTopUp(JobId::new(now, &chance)), "Credit (test)"),
            (Reason::CardTopUp("cs_1".to_owned()), "Credit, by card"),
            (Reason::CardRefund("re_1".to_owned()), "Refund to the card"),
            (Reason::OperatorCredit(JobId::new(now, &chance)), "Credit, by the operator"),
        ] {
            assert_eq!(in_words(&reason.to_string(), &slugs), told);
        }
    }
}
