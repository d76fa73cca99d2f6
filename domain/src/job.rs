//! The jobs of the queues, and the retry policy of each queue. Jobs outlive the program that queued them, so
//! a new field needs a default, and the serialized form of a variant must never change.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{AccountId, Host, JobId, PublishOrder, SitePath, Time, VersionId};

/// A job with everything needed to run it and to reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobEnvelope {
    /// Unique in its queue: pushing the same id again changes nothing.
    pub id: JobId,
    /// The process that waits for the outcome, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// The trace that the job belongs to, as a W3C `traceparent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    #[serde(flatten)]
    pub job: Job,
}

/// All jobs. To add one, add a variant here, its queue below, and its file in `workers/src/jobs/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "payload", rename_all = "snake_case")]
pub enum Job {
    /// Stores the content, settles the publish with the ledger, notifies the edges and replies. Idempotent by
    /// version id.
    Publish(Box<PublishJob>),
    /// Scans a version. Idempotent: the same content gets the same verdict.
    Scan(ScanJob),
    /// Scans a version again with low priority, because the rules have changed or an operator asked for it.
    /// Idempotent like a scan. A process with older rules than the job requires leaves it to another process.
    Rescan(RescanJob),
    /// Adds views that an edge counted. Idempotent by job id.
    Views(ViewsJob),
    /// Purges provisional accounts that expired before the grace period. Idempotent.
    Cleanup,
    /// Charges the monthly costs, unless the month is recorded as charged. Idempotent by the reasons of the
    /// charges.
    Meter,
    /// Enqueues late scans and a page of due rescans. Idempotent by version id.
    SweepScans,
    /// Deletes unreferenced blobs and abandoned spooled uploads. Idempotent.
    SweepBlobs,
    /// Deletes records past their retention time: outcomes, idempotency keys, sessions, finished jobs.
    /// Idempotent.
    SweepRecords,
}

/// A queue. Workers are scaled per queue, and a slow queue does not delay a fast one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Queue {
    Publish,
    Scan,
    Views,
    Upkeep,
    /// Has the lowest priority: every version in it already has a verdict.
    Rescan,
}

impl Queue {
    pub const ALL: [Queue; 5] = [Queue::Publish, Queue::Scan, Queue::Views, Queue::Upkeep, Queue::Rescan];

    pub fn name(self) -> &'static str {
        match self {
            Queue::Publish => "publish",
            Queue::Scan => "scan",
            Queue::Views => "views",
            Queue::Upkeep => "upkeep",
            Queue::Rescan => "rescan",
        }
    }

    pub fn parse(name: &str) -> Option<Queue> {
        Self::ALL.into_iter().find(|queue| queue.name() == name)
    }

    /// The kinds of its jobs.
    pub fn kinds(self) -> &'static [&'static str] {
        match self {
            Queue::Publish => &["publish"],
            Queue::Scan => &["scan"],
            Queue::Views => &["views"],
            Queue::Upkeep => &["cleanup", "meter", "sweep_scans", "sweep_blobs", "sweep_records"],
            Queue::Rescan => &["rescan"],
        }
    }

    /// The time limit of one attempt. A scan may wait for a permit for up to a minute of it, and limits its
    /// own computing time.
    pub fn attempt_timeout(self) -> Duration {
        match self {
            Queue::Publish => Duration::from_secs(60),
            Queue::Scan | Queue::Rescan => Duration::from_secs(120),
            Queue::Views => Duration::from_secs(10),
            Queue::Upkeep => Duration::from_secs(600),
        }
    }

    /// The number of attempts before a job is dead.
    pub fn attempts_max(self) -> u32 {
        match self {
            // Views survive an outage of several minutes. A publish ends at its deadline, even with attempts
            // left.
            Queue::Publish | Queue::Views => 12,
            Queue::Scan | Queue::Upkeep => 8,
            // The version has a verdict, and the sweep enqueues it again.
            Queue::Rescan => 3,
        }
    }

    /// The wait after failed attempt number `attempt` (the first is 1): 0.5 s, doubling up to 60 s.
    pub fn backoff(self, attempt: u32) -> Duration {
        Duration::from_millis(500)
            .saturating_mul(1 << attempt.saturating_sub(1).min(7))
            .min(Duration::from_secs(60))
    }
}

impl Job {
    pub fn queue(&self) -> Queue {
        match self {
            Job::Publish(_) => Queue::Publish,
            Job::Scan(_) => Queue::Scan,
            Job::Rescan(_) => Queue::Rescan,
            Job::Views(_) => Queue::Views,
            Job::Cleanup | Job::Meter | Job::SweepScans | Job::SweepBlobs | Job::SweepRecords => {
                Queue::Upkeep
            }
        }
    }

    /// The job's name in logs and on the queue board.
    pub fn kind(&self) -> &'static str {
        match self {
            Job::Publish(_) => "publish",
            Job::Scan(_) => "scan",
            Job::Rescan(_) => "rescan",
            Job::Views(_) => "views",
            Job::Cleanup => "cleanup",
            Job::Meter => "meter",
            Job::SweepScans => "sweep_scans",
            Job::SweepBlobs => "sweep_blobs",
            Job::SweepRecords => "sweep_records",
        }
    }
}

impl JobEnvelope {
    /// The envelope to store when the publish is done. `None` if the job holds no content.
    pub fn without_content(&self) -> Option<Self> {
        let Job::Publish(job) = &self.job else { return None };
        let PublishJob { order, files, content: Content::Inline(_) } = &**job else { return None };
        let job = PublishJob { order: order.clone(), files: files.clone(), content: Content::Removed };
        let (id, reply_to, trace) = (self.id, self.reply_to.clone(), self.trace.clone());
        Some(Self { id, reply_to, trace, job: Job::Publish(Box::new(job)) })
    }
}

/// A publish, and where its content is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishJob {
    #[serde(flatten)]
    pub order: PublishOrder,
    pub files: Vec<SpooledFile>,
    pub content: Content,
}

/// A file's position in the content. The files follow each other in this order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpooledFile {
    pub path: SitePath,
    pub size_bytes: u64,
}

/// Where the bytes of a publish are until they are stored as blobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Small content: base64 in the job itself.
    Inline(String),
    /// Large content: an object in the spool, named by the version.
    Spooled,
    /// The job is done and no longer needs its content.
    Removed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanJob {
    pub account: AccountId,
    pub version: VersionId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RescanJob {
    #[serde(flatten)]
    pub scan: ScanJob,
    /// The version of the rules that the requesting process has. Older rules would repeat a known verdict.
    pub rules: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewsJob {
    pub counted_at: Time,
    pub views: Vec<ViewCount>,
}

/// The views of one host that an edge has counted since its last report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewCount {
    pub account: AccountId,
    pub host: Host,
    pub count: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chance, PublishCondition, Target};

    #[test]
    fn envelope_is_unchanged_by_serialization() {
        let id = JobId::new(Time::from_millis(0), &Chance::seeded(1));
        let (account, version) = (AccountId::from_ulid(id.ulid()), VersionId::from_ulid(id.ulid()));
        let scan = ScanJob { account, version };
        for job in [Job::Cleanup, Job::Scan(scan), Job::Rescan(RescanJob { scan, rules: 2 })] {
            let envelope = JobEnvelope { id, reply_to: Some("api-1".into()), trace: None, job };
            let text = serde_json::to_string(&envelope).unwrap();
            assert_eq!(serde_json::from_str::<JobEnvelope>(&text).unwrap(), envelope, "{text}");
        }
    }

    /// As earlier releases write it, field by field: during an upgrade, jobs of both releases are in the
    /// queue.
    const PUBLISH: &str = r#"{"id":"01ABCDEFGHJKMNPQRSTVWXYZ00","reply_to":"api-1","trace":"00-1-2-01","kind":"publish",
        "payload":{"account":"01ABCDEFGHJKMNPQRSTVWXYZ01","version":"01ABCDEFGHJKMNPQRSTVWXYZ00","slug":"my-page",
        "target":"new_or_existing","activation":"live","pinned_to":"01ABCDEFGHJKMNPQRSTVWXYZ02","payment":{"dev":5000},
        "created_via":"mcp","message":"Fix the title","created_by":"01ABCDEFGHJKMNPQRSTVWXYZ03",
        "called_by":{"actor":"ada","via":"mcp","address":"192.0.2.1"},
        "files":[{"path":"index.html","size_bytes":2}],"content":{"inline":"SGk="},"deadline":1767225600000}}"#;
    const LEAST_PUBLISH: &str = r#"{"id":"01ABCDEFGHJKMNPQRSTVWXYZ00","kind":"publish",
        "payload":{"account":"01ABCDEFGHJKMNPQRSTVWXYZ01","version":"01ABCDEFGHJKMNPQRSTVWXYZ00","slug":"my-page",
        "target":"existing","activation":"staged","pinned_to":null,"payment":null,"created_via":"web","message":null,
        "created_by":null,"files":[],"content":"spooled"}}"#;

    #[test]
    fn publish_job_is_serialized_as_in_earlier_releases() {
        for text in [PUBLISH, LEAST_PUBLISH] {
            let written: serde_json::Value = serde_json::from_str(text).unwrap();
            let envelope: JobEnvelope = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_value(&envelope).unwrap(), written);
        }
        let nulls = [r#""pinned_to":null,"#, r#""payment":null,"#, r#""message":null,"#];
        let without = nulls.iter().fold(LEAST_PUBLISH.to_owned(), |text, null| text.replace(null, ""));
        let envelopes: [JobEnvelope; 2] =
            [LEAST_PUBLISH, &without].map(|text| serde_json::from_str(text).unwrap());
        assert_eq!(envelopes[0], envelopes[1], "what may be absent");
    }

    #[test]
    fn only_inline_content_is_removed_and_the_rest_of_the_job_stays() {
        let stored = |text: &str| {
            let envelope: JobEnvelope = serde_json::from_str(text).unwrap();
            envelope.without_content().map(|job| serde_json::to_value(&job).unwrap())
        };
        let removed = PUBLISH.replace(r#"{"inline":"SGk="}"#, r#""removed""#);
        assert_ne!(removed, PUBLISH);
        assert_eq!(stored(PUBLISH), Some(serde_json::from_str(&removed).unwrap()));
        for text in [LEAST_PUBLISH, &removed, r#"{"id":"01ABCDEFGHJKMNPQRSTVWXYZ00","kind":"cleanup"}"#] {
            assert_eq!(stored(text), None, "{text}");
        }
    }

    /// Earlier releases know two targets, both as text, and cannot decode this one.
    #[test]
    fn condition_of_a_publish_is_serialized_as_a_target_that_earlier_releases_cannot_decode() {
        for (target, condition) in [
            (r#"{"if":{"live_version":7}}"#, PublishCondition::LiveVersion(7)),
            (r#"{"if":"slug_exists"}"#, PublishCondition::SlugExists),
            (r#"{"if":"slug_is_new"}"#, PublishCondition::SlugIsNew),
        ] {
            let text = LEAST_PUBLISH.replace(r#""existing""#, target);
            let envelope: JobEnvelope = serde_json::from_str(&text).unwrap();
            let written: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(serde_json::to_value(&envelope).unwrap(), written);
            let Job::Publish(job) = envelope.job else { panic!("{text}") };
            assert_eq!(job.order.target, Target::If(condition));
        }
    }

    #[test]
    fn queues_have_unique_names_and_stable_positions() {
        for (place, queue) in Queue::ALL.into_iter().enumerate() {
            assert_eq!(Queue::parse(queue.name()), Some(queue));
            assert_eq!(queue as usize, place);
        }
    }

    #[test]
    fn a_version_s_publish_scan_and_rescan_are_three_jobs() {
        let version = VersionId::new(Time::from_millis(0), &Chance::seeded(1));
        let ids = [JobId::from(version), JobId::of_scan(version), JobId::of_rescan(version)];
        assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
    }

    #[test]
    fn backoff_doubles_from_half_a_second_to_a_minute() {
        let waits: Vec<_> = (1..=9).map(|attempt| Queue::Publish.backoff(attempt).as_millis()).collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000]);
    }
}
