//! The review queue: waiting pages, a page with its evidence, the files of its versions, and the log of
//! decisions. Only operators may see it, which the HTTP API enforces.

use std::borrow::Cow;
use std::collections::HashSet;

use bytes::Bytes;
use domain::{
    Account, Artifact, AtPath, BlobHash, DecisionId, Host, ManifestFile, Missing, ModeratedBy,
    ModerationStatus, Refusal, Slug, Time, Visibility,
};
use futures::stream::BoxStream;
use store::{
    ContentAddress, DecisionFilter, ReviewCase, ReviewFilter, SameContentQuery, SamePage, Seen, StoredAppeal,
    StoredDecision, StoredReport, VersionCase, WaitingArtifact, WaitingCursor,
};

use crate::findings::{Finding, findings_of, read_findings};
use crate::objection::objected_to;
use crate::{Service, ServiceResult};

/// Pages in one list of the queue.
pub(crate) const LIST_MAX: usize = 50;
/// Decisions in one list of the log.
const DECISIONS_MAX: usize = 100;
/// Decisions on a page that are shown beside it.
pub const DECISIONS_BESIDE_MAX: u64 = 50;
/// Other pages that one decision can cover.
pub const ELSEWHERE_MAX: usize = 100;

/// One list of the queue.
#[derive(Clone, Debug)]
pub struct ReviewQueuePage {
    pub waiting: Vec<WaitingPages>,
    /// Where the next list begins, if there is one.
    pub next: Option<WaitingCursor>,
}

/// A page in the queue.
#[derive(Clone, Debug)]
pub struct WaitingPages {
    pub host: Host,
    pub slug: Slug,
    pub account_handle: String,
    pub visibility: Visibility,
    pub seq: u32,
    pub status: ModerationStatus,
    pub moderated_by: ModeratedBy,
    pub open_reports: u64,
    pub since: Time,
    /// When the owner made the appeal that is open.
    pub appealed_at: Option<Time>,
    /// The state that a decision from the list is based on.
    pub seen: Seen,
    /// The rules that the last scan found broken, without duplicates.
    pub rules: Vec<String>,
}

/// A page with everything that a moderator needs.
#[derive(Clone, Debug)]
pub struct ReviewItem {
    pub artifact: Artifact,
    pub account: Account,
    /// The live version, or the newest one while none is live.
    pub version: Option<ReviewedVersion>,
    pub reports: Vec<StoredReport>,
    /// Newest first.
    pub appeals: Vec<StoredAppeal>,
    /// Those contents of the version that no new version may contain.
    pub blocked_contents: HashSet<BlobHash>,
    /// Newest first.
    pub decisions: Vec<DecisionShown>,
    pub same_content: SameContent,
    /// Sent back with a decision, so that no decision is based on an outdated view.
    pub seen: Seen,
}

/// A version that a moderator decides on.
#[derive(Clone, Debug)]
pub struct ReviewedVersion {
    pub seq: u32,
    /// Otherwise visitors see it only at its own address.
    pub is_live: bool,
    pub status: ModerationStatus,
    pub moderated_by: ModeratedBy,
    pub published_at: Time,
    pub files: Vec<ManifestFile>,
    pub findings: Vec<Finding>,
    pub scanned_at: Option<Time>,
    pub scanner_version: Option<String>,
}

/// Other live pages with the same content, up to a limit.
#[derive(Clone, Debug, Default)]
pub struct SameContent {
    pub pages: Vec<SamePage>,
    pub has_more: bool,
}

/// A decision on a version.
#[derive(Clone, Debug)]
pub struct DecisionShown {
    pub kept: StoredDecision,
    pub findings: Vec<Finding>,
}

/// One list of the log of decisions.
#[derive(Clone, Debug)]
pub struct DecisionList {
    pub decisions: Vec<DecisionShown>,
    /// The cursor of the next list, if there is one.
    pub next: Option<DecisionId>,
}

/// What a path of a version leads to.
pub enum ShownFile {
    /// A folder, requested without its trailing slash.
    Folder,
    File {
        content_type: String,
        size_bytes: u64,
        bytes: BoxStream<'static, std::io::Result<Bytes>>,
    },
}

impl Service {
    /// The waiting pages. The longest wait comes first, and reports raise the priority.
    pub async fn queue(
        &self,
        wanted: &ReviewFilter,
        after: Option<&WaitingCursor>,
        rows_max: Option<u32>,
    ) -> ServiceResult<ReviewQueuePage> {
        let (rows_max, now) = (rows_max.map_or(LIST_MAX, |rows| rows as usize), self.0.clock.now());
        let mut waiting = self.0.store.review_queue().list(wanted, after, rows_max as u64 + 1, now).await?;
        let has_more = waiting.len() > rows_max;
        waiting.truncate(rows_max);
        let next = waiting.last().filter(|_| has_more).map(|last| last.place.clone());
        Ok(ReviewQueuePage { waiting: waiting.into_iter().map(WaitingPages::from).collect(), next })
    }

    /// One page with its evidence, reports and decisions.
    pub async fn review_item(&self, host: &Host) -> ServiceResult<ReviewItem> {
        let case = self
            .0
            .store
            .moderation()
            .find_case(host)
            .await?
            .ok_or(Refusal::NotFound(Missing::ReviewedHost))?;
        let wanted = DecisionFilter { host: Some(host.clone()), ..DecisionFilter::default() };
        let decisions = self.0.store.moderation().list_decisions(&wanted, DECISIONS_BESIDE_MAX).await?;
        let same_content = self.same_content(&case, None).await?;
        let seen = Seen {
            decision: case.version.as_ref().and_then(|version| version.newest_decision),
            report: case.reports.first().map(|report| report.id),
            appeal: case.appeals.first().map(|appeal| appeal.id),
        };
        let blocked_contents = self.blocked_contents_of(case.version.as_ref()).await?;
        let ReviewCase { artifact, account, version, reports, appeals } = case;
        Ok(ReviewItem {
            artifact,
            account,
            version: version.map(ReviewedVersion::from),
            reports,
            appeals,
            blocked_contents,
            decisions: decisions.into_iter().map(DecisionShown::from).collect(),
            same_content,
            seen,
        })
    }

    /// The log of decisions, newest first.
    pub async fn decisions(
        &self,
        wanted: &DecisionFilter,
        rows_max: Option<u32>,
    ) -> ServiceResult<DecisionList> {
        let rows_max = rows_max.map_or(DECISIONS_MAX, |rows| rows as usize);
        let mut decisions = self.0.store.moderation().list_decisions(wanted, rows_max as u64 + 1).await?;
        let has_more = decisions.len() > rows_max;
        decisions.truncate(rows_max);
        let next = decisions.last().filter(|_| has_more).map(|last| last.id);
        Ok(DecisionList { decisions: decisions.into_iter().map(DecisionShown::from).collect(), next })
    }

    /// The file that a visitor would get at this path, which has no leading slash. It does not count as a
    /// view.
    pub async fn file_to_review(&self, host: &Host, seq: u32, path: &str) -> ServiceResult<ShownFile> {
        let manifest = self
            .0
            .store
            .artifacts()
            .find_manifest_at(host, seq)
            .await?
            .ok_or(Refusal::NotFound(Missing::ReviewedVersion))?;
        let file = match manifest.at(path) {
            Some(AtPath::File(file) | AtPath::OnlyPage(file)) => file,
            Some(AtPath::Folder) => return Ok(ShownFile::Folder),
            None => return Err(Refusal::NotFound(Missing::ReviewedFile).into()),
        };
        Ok(ShownFile::File {
            content_type: file.content_type.clone(),
            size_bytes: file.size_bytes,
            bytes: self.contents().stream(ContentAddress::of(file), 0..file.size_bytes).await?,
        })
    }

    async fn blocked_contents_of(&self, version: Option<&VersionCase>) -> ServiceResult<HashSet<BlobHash>> {
        let Some(version) = version else { return Ok(HashSet::new()) };
        let contents: Vec<BlobHash> = version.manifest.files().iter().map(|file| file.hash).collect();
        Ok(self.0.store.blocked_contents().find_among(&contents).await?)
    }

    /// The given pages that are live and have the same content, and whether more exist than can be listed.
    pub(crate) async fn same_content_among(
        &self,
        case: &ReviewCase,
        hosts: &[Host],
    ) -> ServiceResult<SameContent> {
        if hosts.is_empty() {
            return Ok(SameContent::default());
        }
        let listed = self.same_content(case, None).await?;
        let SameContent { pages, .. } = self.same_content(case, Some(hosts)).await?;
        Ok(SameContent { pages, has_more: listed.has_more })
    }

    /// The other live pages with the same content.
    async fn same_content(&self, case: &ReviewCase, among: Option<&[Host]>) -> ServiceResult<SameContent> {
        let Some(version) = &case.version else { return Ok(SameContent::default()) };
        let contents = objected_to(version);
        let wanted = SameContentQuery {
            contents: &contents,
            but: case.artifact.id,
            among,
            at_most: ELSEWHERE_MAX as u64 + 1,
        };
        let mut pages = self.0.store.moderation().list_same_content(wanted).await?;
        let has_more = pages.len() > ELSEWHERE_MAX;
        pages.truncate(ELSEWHERE_MAX);
        Ok(SameContent { pages, has_more })
    }
}

/// A file's text as browsers decode it: as UTF-8, unless a byte order mark says otherwise.
pub fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    scanner::decoded(bytes)
}

impl From<WaitingArtifact> for WaitingPages {
    fn from(waiting: WaitingArtifact) -> Self {
        let mut rules: Vec<String> = Vec::new();
        for finding in waiting.evidence.as_deref().map(read_findings).unwrap_or_default() {
            if !rules.contains(&finding.rule) {
                rules.push(finding.rule);
            }
        }
        Self {
            host: waiting.host,
            slug: waiting.slug,
            account_handle: waiting.account_handle,
            visibility: waiting.visibility,
            seq: waiting.seq,
            status: waiting.status,
            moderated_by: waiting.moderated_by,
            open_reports: waiting.open_reports,
            since: waiting.since,
            appealed_at: waiting.appealed_at,
            seen: waiting.seen,
            rules,
        }
    }
}

impl From<VersionCase> for ReviewedVersion {
    fn from(version: VersionCase) -> Self {
        Self {
            findings: findings_of(&version),
            seq: version.seq,
            is_live: version.is_live,
            status: version.status,
            moderated_by: version.moderated_by,
            published_at: version.published_at,
            files: version.manifest.files().to_vec(),
            scanned_at: version.scan.as_ref().map(|scan| scan.at),
            scanner_version: version.scan.and_then(|scan| scan.scanner_version),
        }
    }
}

impl From<StoredDecision> for DecisionShown {
    fn from(kept: StoredDecision) -> Self {
        Self { findings: read_findings(&kept.evidence), kept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_of_every_scanner_version_is_read() {
        let findings = read_findings(r#"[{"rule":"seed_phrase","file":"a.html","certainty":1}]"#);
        assert_eq!((findings[0].rule.as_str(), findings[0].words.len()), ("seed_phrase", 0));
        assert_eq!(read_findings("[]"), []);
        assert_eq!(read_findings("no json"), []);
    }
}
