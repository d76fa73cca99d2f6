//! Redacted payloads for operators: what a job is about, never user content, messages or means of payment.
//! Fields are listed one by one, so that a new field is hidden until somebody decides otherwise.

use domain::{Content, Job, JobEnvelope, Payment, PublishJob, ViewsJob};
use serde_json::{Value, json};

/// Hosts of a views job that are shown.
const VIEWS_SHOWN_MAX: usize = 50;

/// The payload without secrets and user content, and the process that waits for the outcome.
pub(super) fn redacted(payload: &[u8]) -> (Value, Option<String>) {
    match serde_json::from_slice::<JobEnvelope>(payload) {
        Ok(envelope) => (redact(&envelope.job), envelope.reply_to),
        Err(_) => (json!({ "unreadable_bytes": payload.len() }), None),
    }
}

fn redact(job: &Job) -> Value {
    match job {
        Job::Publish(job) => publish(job),
        Job::Scan(job) => json!({ "account": job.account, "version": job.version }),
        Job::Rescan(job) => {
            json!({ "account": job.scan.account, "version": job.scan.version, "rules": job.rules })
        }
        Job::Views(job) => views(job),
        Job::Cleanup | Job::Meter | Job::SweepScans | Job::SweepBlobs | Job::SweepRecords => json!({}),
    }
}

fn publish(job: &PublishJob) -> Value {
    let order = &job.order;
    let files: Vec<_> = job
        .files
        .iter()
        .map(|file| json!({ "path": file.path.to_string(), "size_bytes": file.size_bytes }))
        .collect();
    let content = match &job.content {
        Content::Inline(base64) => json!({ "inline_base64_bytes": base64.len() }),
        Content::Spooled => json!("spooled"),
        Content::Removed => json!("removed"),
    };
    let payment = order.payment.as_ref().map(|payment| match payment {
        Payment::Dev(amount) => json!({ "amount_usd": amount.usd() }),
        Payment::Unreadable => json!("unreadable"),
    });
    json!({
        "account": order.account,
        "version": order.version,
        "slug": order.slug.to_string(),
        "target": order.target,
        "activation": order.activation,
        "pinned_to": order.pinned_to,
        "payment": payment,
        "created_via": order.created_via,
        "created_by": order.created_by,
        "message_chars": order.message.as_ref().map(|message| message.to_string().chars().count()),
        "files": files,
        "content": content,
        "deadline": order.deadline.map(|deadline| deadline.to_string()),
    })
}

fn views(job: &ViewsJob) -> Value {
    let views: Vec<_> = job
        .views
        .iter()
        .take(VIEWS_SHOWN_MAX)
        .map(|view| json!({ "host": view.host.to_string(), "account": view.account, "count": view.count }))
        .collect();
    json!({ "counted_at": job.counted_at.rfc3339(), "hosts": job.views.len(), "views": views })
}

#[cfg(test)]
mod tests {
    use domain::{
        AccountId, Chance, CreatedVia, JobId, Micro, PublishOrder, SpooledFile, Target, Time, VersionId,
        ViewCount,
    };

    use super::*;

    fn seen(job: Job) -> (String, Option<String>) {
        let id = JobId::new(Time::from_millis(0), &Chance::seeded(1));
        let envelope = JobEnvelope { id, reply_to: Some("api-1".into()), trace: None, job };
        let (payload, reply_to) = redacted(&serde_json::to_vec(&envelope).unwrap());
        (payload.to_string(), reply_to)
    }

    fn ids() -> (AccountId, VersionId) {
        let chance = Chance::seeded(2);
        (AccountId::new(Time::from_millis(0), &chance), VersionId::new(Time::from_millis(0), &chance))
    }

    #[test]
    fn publish_payload_shows_files_and_payment_but_no_content() {
        let (account, version) = ids();
        let (shown, reply_to) = seen(Job::Publish(Box::new(PublishJob {
            order: PublishOrder {
                account,
                version,
                slug: "my-page".parse().unwrap(),
                target: Target::Existing,
                activation: domain::Activation::Staged,
                pinned_to: None,
                payment: Some(Payment::Dev(Micro::new(5_000))),
                created_via: CreatedVia::Api,
                message: Some("a private word".parse().unwrap()),
                created_by: None,
                called_by: None,
                deadline: None,
                is_provisional: None,
            },
            files: vec![SpooledFile { path: "index.html".parse().unwrap(), size_bytes: 12 }],
            content: Content::Inline("c2VjcmV0IHRleHQ=".into()),
        })));
        assert_eq!(reply_to.as_deref(), Some("api-1"));
        for hidden in ["c2VjcmV0", "private word"] {
            assert!(!shown.contains(hidden), "{shown}");
        }
        for expected in [
            r#""inline_base64_bytes":16"#,
            r#""amount_usd":0.005"#,
            r#""message_chars":14"#,
            r#""path":"index.html","size_bytes":12"#,
            r#""slug":"my-page""#,
        ] {
            assert!(shown.contains(expected), "{expected} in {shown}");
        }
    }

    #[test]
    fn views_payload_lists_a_limited_number_of_hosts_and_their_total() {
        let (account, _) = ids();
        let count = ViewCount { account, host: "my-page-a1b2".parse().unwrap(), count: 7 };
        let (shown, _) =
            seen(Job::Views(ViewsJob { counted_at: Time::from_millis(0), views: vec![count; 3_000] }));
        assert!(shown.contains(r#""hosts":3000"#), "{shown}");
        assert_eq!(shown.matches("my-page-a1b2").count(), VIEWS_SHOWN_MAX);
    }

    #[test]
    fn undecodable_payload_shows_only_its_size() {
        let (payload, reply_to) = redacted(br#"{"kind":"from_the_future","payload":"secret"}"#);
        assert_eq!((payload.to_string().as_str(), reply_to), (r#"{"unreadable_bytes":45}"#, None));
    }
}
