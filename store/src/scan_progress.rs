//! Which changes a scan's verdict may make. It never changes a person's decision.

use domain::{ModeratedBy, ModerationStatus};

use crate::rows;

/// The state of a version before a verdict.
#[derive(Clone, Copy)]
pub(crate) struct ScanProgress {
    pub(crate) status: ModerationStatus,
    pub(crate) by: ModeratedBy,
    /// A report has sent it to review, even if a scan has blocked it since.
    is_reported: bool,
}

impl ScanProgress {
    pub(crate) fn of(
        version: &entity::version::Model,
        earlier: &[entity::moderation_decision::Model],
    ) -> anyhow::Result<Self> {
        let by = rows::moderated_by(version)?;
        let is_report =
            |decision: &entity::moderation_decision::Model| decision.source == ModeratedBy::Report.as_str();
        Ok(Self {
            status: rows::moderation(&version.moderation_status)?,
            by,
            is_reported: by == ModeratedBy::Report || earlier.iter().any(is_report),
        })
    }
}

/// A scan may raise and lower the status that scans have set. It never changes a moderator's decision. It
/// changes a status of `review` that a report has set only to `blocked`.
pub(crate) fn after_scan(
    progress: &ScanProgress,
    verdict: ModerationStatus,
) -> (ModerationStatus, ModeratedBy) {
    match progress.by {
        ModeratedBy::Moderator => (progress.status, ModeratedBy::Moderator),
        _ if progress.is_reported && verdict != ModerationStatus::Blocked => {
            (ModerationStatus::Review, ModeratedBy::Report)
        }
        _ => (verdict, ModeratedBy::Scan),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ModeratedBy::{Moderator, Nobody, Report, Scan};
    use ModerationStatus::{Blocked, Pass, Pending, Review};

    #[test]
    fn late_scan_never_weakens_a_decision_by_people() {
        let after = |status, by, verdict| {
            after_scan(&ScanProgress { status, by, is_reported: by == Report }, verdict)
        };
        assert_eq!(after(Pending, Nobody, Pass), (Pass, Scan));
        assert_eq!(after(Review, Scan, Pass), (Pass, Scan));
        assert_eq!(after(Blocked, Scan, Pass), (Pass, Scan));
        assert_eq!(after(Pass, Scan, Blocked), (Blocked, Scan));
        assert_eq!(after(Review, Report, Pass), (Review, Report));
        assert_eq!(after(Review, Report, Review), (Review, Report));
        assert_eq!(after(Review, Report, Blocked), (Blocked, Scan));
        assert_eq!(after(Pass, Moderator, Blocked), (Pass, Moderator));
        assert_eq!(after(Blocked, Moderator, Pass), (Blocked, Moderator));
    }

    #[test]
    fn rescan_that_lifts_a_scan_block_keeps_a_reported_page_in_review() {
        let progress = ScanProgress { status: Blocked, by: Scan, is_reported: true };
        assert_eq!(after_scan(&progress, Pass), (Review, Report));
        assert_eq!(after_scan(&progress, Blocked), (Blocked, Scan));
        let decided = ScanProgress { by: Moderator, ..progress };
        assert_eq!(after_scan(&decided, Pass), (Blocked, Moderator));
    }
}
