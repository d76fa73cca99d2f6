//! What the queue carries, and how each queue is tried. Jobs outlive the program that pushed them: a new field needs
//! a default, and a variant must never change its written form.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{AccountId, Host, JobId, PublishOrder, SitePath, Time, VersionId};

/// Work for the queue, with what is needed to do it and to answer who asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobEnvelope {
    /// Unique in its queue: pushing the same id again changes nothing.
    pub id: JobId,
    /// The process that waits for the outcome, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// The trace that it belongs to, as W3C's `traceparent` has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    #[serde(flatten)]
    pub job: Job,
}

/// The register of jobs. To add one: a variant here, its queue below, its file in `workers/src/jobs/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "payload", rename_all = "snake_case")]
pub enum Job {
    /// Store the content, settle it with the ledger, tell the edges, answer. Idempotent by version id.
    Publish(Box<PublishJob>),
    /// Judge a version. Idempotent: the same content gets the same verdict.
    Scan(ScanJob),
    /// Judge a version again, at leisure: the rules have risen, or an operator asked for it. Idempotent like a scan. A
    /// process whose rules are older than those that it asks for leaves it to another.
    Rescan(RescanJob),
    /// Add views that an edge counted. Idempotent by job id.
    Views(ViewsJob),
    /// Purge provisional accounts that expired before the grace. Idempotent.
    Cleanup,
    /// Charge what recurs by the month, unless that is noted as done. Idempotent by the reasons of the charges.
    Meter,
    /// Enqueue scans that are late, and a page of the rescans that are due. Idempotent by version id.
    SweepScans,
    /// Delete blobs that nothing refers to, and spooled uploads that nobody came for. Idempotent.
    SweepBlobs,
    /// Delete records past their keeping time: outcomes, idempotency keys, sessions, finished jobs. Idempotent.
    SweepRecords,
}

/// A queue: workers are scaled by queue, and a slow one does not hold up a fast one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Queue {
    Publish,
    Scan,
    Views,
    Upkeep,
    /// Behind everything else: whatever is here was judged before.
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

    /// How long one attempt may take. A scan waits for a permit for up to a minute of it, and limits its computing by
    /// itself.
    pub fn attempt_timeout(self) -> Duration {
        match self {
            Queue::Publish => Duration::from_secs(60),
            Queue::Scan | Queue::Rescan => Duration::from_secs(120),
            Queue::Views => Duration::from_secs(10),
            Queue::Upkeep => Duration::from_secs(600),
        }
    }

    /// How often a job is tried before it goes to the dead list.
    pub fn attempts_max(self) -> u32 {
        match self {
            // Views outlast an outage of several minutes. A publish ends at its deadline, whatever is left.
            Queue::Publish | Queue::Views => 12,
            Queue::Scan | Queue::Upkeep => 8,
            // It has a verdict, and the sweep asks again.
            Queue::Rescan => 3,
        }
    }

    /// How long to wait after failed attempt number `attempt` (the first is 1): 0.5 s, doubling, 60 s at most.
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

    /// The name in logs and on the board.
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

/// A publish with its content: the bytes beside it, or in the spool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishJob {
    #[serde(flatten)]
    pub order: PublishOrder,
    pub files: Vec<SpooledFile>,
    pub content: Content,
}

/// One file's place in the content: files stand one behind the other, in this order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpooledFile {
    pub path: SitePath,
    pub size_bytes: u64,
}

/// Where the bytes of a publish are until they are blobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Small: base64 in the job itself.
    Inline(String),
    /// Large: an object of the spool, named by the version.
    Spooled,
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
    /// The number of the rules that whoever asked has: older ones would say what is known already.
    pub rules: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewsJob {
    pub counted_at: Time,
    pub views: Vec<ViewCount>,
}

/// Views of one host that an edge counted since it last told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewCount {
    pub account: AccountId,
    pub host: Host,
    pub count: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chance;

    #[test]
    fn an_envelope_survives_the_queue() {
        let id = JobId::new(Time::from_millis(0), &Chance::seeded(1));
        let (account, version) = (AccountId::from_ulid(id.ulid()), VersionId::from_ulid(id.ulid()));
        let scan = ScanJob { account, version };
        for job in [Job::Cleanup, Job::Scan(scan), Job::Rescan(RescanJob { scan, rules: 2 })] {
            let envelope = JobEnvelope { id, reply_to: Some("api-1".into()), trace: None, job };
            let text = serde_json::to_string(&envelope).unwrap();
            assert_eq!(serde_json::from_str::<JobEnvelope>(&text).unwrap(), envelope, "{text}");
        }
    }

    /// As releases before this one write it, field by field: jobs of either release are in the queue during an upgrade.
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
    fn a_publish_is_written_as_earlier_releases_write_it() {
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
    fn every_queue_is_known_by_a_name_of_its_own_and_stands_in_its_place() {
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
    fn waiting_doubles_from_half_a_second_to_a_minute() {
        let waits: Vec<_> = (1..=9).map(|attempt| Queue::Publish.backoff(attempt).as_millis()).collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000]);
    }
}
