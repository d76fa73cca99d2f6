//! Examples for the OpenAPI document, composed from one example for each field name. All examples so share
//! the same page, account and price, and a new body needs none of its own. They have the addresses of the
//! default settings, and a served document has those of its server.

use serde_json::{Map, Value, json};

use super::Facts;

const API: &str = "http://127.0.0.1:8080";
const PAGE: &str = "http://127.0.0.1:8081/site/my-page-a1b2/";
const VERSION: &str = "http://127.0.0.1:8081/site/my-page-a1b2-0z9y8x7w/";

/// A document whose examples have the addresses of this server.
pub fn with_addresses(facts: &Facts, document: &str) -> String {
    let document = document.replace(PAGE, &facts.page_url).replace(VERSION, &facts.version_url);
    ["/claim/", "/invite/"].iter().fold(document, |document, path| {
        document.replace(&format!("{API}{path}"), &format!("{}{path}", facts.base_url))
    })
}

/// An example of a schema. None if one of its fields has no example.
pub fn of(schema: &Value, components: &Value) -> Option<Value> {
    Examples { components }.of(schema, "", "")
}

/// The example text of a field name. `None` if its example is neither a text nor a number.
pub fn of_field(name: &str) -> Option<String> {
    match of_name(name)? {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

struct Examples<'a> {
    components: &'a Value,
}

impl Examples<'_> {
    /// An example of the field `name` of the object `owner`.
    fn of(&self, schema: &Value, owner: &str, name: &str) -> Option<Value> {
        if let Some(example) = schema.get("example") {
            return Some(example.clone());
        }
        if let Some(reference) = schema["$ref"].as_str() {
            let title = reference.rsplit('/').next()?;
            let named = self.components.get(title)?;
            // Examples by name are scalars. An object is always composed.
            let known = if named["type"] == "object" { None } else { field(owner, name) };
            return known.or_else(|| self.of(named, title, name));
        }
        // A reference with its own description.
        if let Some(described) = schema["allOf"].get(0) {
            return self.of(described, owner, name);
        }
        match schema["type"].as_str() {
            Some("object") => self.of_object(schema, owner),
            Some("array") => Some(json!([self.of(&schema["items"], owner, name)?])),
            _ => field(owner, name).or_else(|| schema["enum"].get(0).cloned()),
        }
    }

    fn of_object(&self, schema: &Value, owner: &str) -> Option<Value> {
        let owner = schema["title"].as_str().unwrap_or(owner);
        let mut object = Map::new();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            object.insert(name.clone(), self.of(property, owner, name)?);
        }
        Some(object.into())
    }
}

/// The example of a field: by owner and name, or else by name.
fn field(owner: &str, name: &str) -> Option<Value> {
    of_owner(owner, name).or_else(|| of_name(name))
}

fn of_owner(owner: &str, name: &str) -> Option<Value> {
    Some(match (owner, name) {
        ("Alive", "status") => json!("ok"),
        ("Account" | "AccountDetail" | "AccountWithMembers" | "ChangeAccount", "name") => {
            json!("Design team")
        }
        ("AuditEntry", "action") => json!("artifact.published"),
        ("Alive", "dev_mode") => json!(false),
        ("Alive", "version") => json!(env!("CARGO_PKG_VERSION")),
        ("Report", "reason") => json!("It asks for the password of my bank."),
        ("WaitingPage" | "LiveVersion", "moderation_status") => json!("review"),
        ("WaitingPage" | "LiveVersion", "moderated_by") => json!("scan"),
        ("Decision" | "DecisionMade", "moderation_status") => json!("blocked"),
        ("Decision", "source") => json!("moderator"),
        ("Suspension", "at") => json!("2026-03-01T12:00:00Z"),
        ("Suspension", "reason") => json!("The account's pages copied the sign-in form of a bank."),
        ("ReportOfItem", "reason") => json!("It asks for the password of my bank."),
        ("Appeal" | "AppealOfItem", "message") => {
            json!("The form is a drawing in a lesson; it sends nothing.")
        }
        ("AppealTaken", "moderation_status") | ("Moderation", "status") => json!("review"),
        ("Moderation", "message") => {
            json!(
                "index.html asks for a password near a phishing lure. This version is served while it waits for a moderator."
            )
        }
        ("BlockedContents", "next") => {
            json!("1769860800000.9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
        }
        ("Queue", "next") => json!("1769860800000.my-page-a1b2"),
        ("DecisionLog", "next") => json!("01KC4GZJ2Q8W5T7RXN3VB6M9DE"),
        ("WaitingPage" | "SamePage", "account") => json!("acct_7f3k9m2q8x1z"),
        ("PublishResult", "entry_url") => format!("{PAGE}report.html").into(),
        ("PublishResult", "reason") => json!("This version has not been checked yet."),
        ("PublishResult", "moderation_status") => json!("pending"),
        ("RehearsalResult", "added") => json!("img/logo.png"),
        ("RehearsalResult", "changed") => json!("index.html"),
        ("RehearsalResult", "removed") => json!("old.html"),
        ("Differences", "from") => json!(3),
        ("Differences", "to") => json!(4),
        ("ChangedFile", "change") => json!("changed"),
        ("ChangedFile", "size_before" | "size_after") => json!(2048),
        ("Version", "url") => json!(VERSION),
        ("Version", "signed_url") => format!("{VERSION}?sig=0123456789abcdef").into(),
        ("Warning", "code") => json!("missing_file"),
        ("Warning", "target") => json!("img/logo.png"),
        ("Warning", "message") => json!("the site has no img/logo.png"),
        ("Warning", "hint") => json!("add the file, or correct the reference"),
        ("Joined", "hint") => json!("publish with POST /v1/publish"),
        ("Joined", "scopes") => json!("artifacts:read,artifacts:write"),
        ("MintToken" | "MintedToken", "expires_at") => json!("2030-01-31T12:00:00Z"),
        ("KeptUpload", "hint") => json!("nothing is published yet: call the MCP tool publish_upload"),
        ("TrafficUsage", "free_limit") => json!(1_000_000),
        _ => return of_money(owner, name).or_else(|| of_board(owner, name)),
    })
}

fn of_money(owner: &str, name: &str) -> Option<Value> {
    Some(match (owner, name) {
        ("LedgerEntry", "id") => json!("2"),
        ("LedgerEntry", "delta_micro") => json!(-5_000),
        ("LedgerEntry", "delta_usd") => json!(-0.005),
        ("LedgerEntry", "reason") => json!("publish:01KC4GZJ2Q8W5T7RXN3VB6M9DE"),
        ("LedgerEntry", "balance_usd") => json!(4.995),
        ("CheckoutSession", "url") => json!("https://checkout.example/c/cs_test_a1b2c3"),
        ("CheckoutSession", "hint") => json!("open the url to pay; the credit follows the payment"),
        _ => return None,
    })
}

/// Fields of queues, processes and jobs whose names mean other things elsewhere.
fn of_board(owner: &str, name: &str) -> Option<Value> {
    Some(match (owner, name) {
        ("QueueBoard", "lost_earlier") => json!(2),
        ("QueueBoard", "processes_not_listed" | "running_not_listed") => json!(0),
        ("QueueShown", "depth") => json!(14),
        ("QueueShown", "waiting") => json!(12),
        ("QueueShown", "running" | "failed" | "dead" | "cancelled" | "failed_last_minute") => json!(1),
        ("QueueShown", "done_last_minute") => json!(240),
        ("QueueShown", "slots") => json!(16),
        ("QueueBoard", "problems") => json!("34 dead jobs in scan"),
        ("QueueBoard", "versions") => json!(env!("CARGO_PKG_VERSION")),
        ("QueueMinute", "depth") => json!(14),
        ("QueueMinute", "done") => json!(240),
        ("QueueMinute", "failed") => json!(1),
        ("QueueMinute", "took_p50_ms") => json!(40),
        ("QueueMinute", "took_p95_ms") => json!(220),
        ("QueueTaken", "in_use") => json!(1),
        ("Process", "memory_bytes") => json!(94_371_840),
        ("Pause" | "JobEvent", "by") => json!("Ada"),
        ("Process", "host") => json!("node-3"),
        ("Process", "role") => json!("worker"),
        ("Process", "process_id") => json!(4711),
        ("Process", "version") => json!(env!("CARGO_PKG_VERSION")),
        ("QueueTaken", "concurrency") => json!(4),
        ("DeadRequeued", "requeued") | ("DeadDiscarded", "discarded") => json!(3),
        ("Schedule", "name") => json!("sweep-records"),
        ("QueueShown" | "QueueName", "name") => json!("scan"),
        ("Schedule", "kind") => json!("sweep_records"),
        ("Schedule" | "ScheduleRun", "queue") => json!("upkeep"),
        ("Schedule", "cron") => json!("41 * * * *"),
        ("JobList", "next") => json!("01KC4GZJ2Q8W5T7RXN3VB6M9DE"),
        ("JobEvent", "what") => json!("died"),
        ("JobDetail", "payload") => {
            json!({ "account": "01KC4GZJ2Q8W5T7RXN3VB6M9DE", "version": "01KC4GZJ2Q8W5T7RXN3VB6M9DE" })
        }
        ("Job" | "JobDetail", "state") => json!("dead"),
        (_, "kind") => json!("scan"),
        (_, "instance") => json!("01KC4GZJ2Q8W5T7RXN3VB6M9DE"),
        (_, "reply_to") => json!("01KC4GZJ2Q8W5T7RXN3VB6M9DE"),
        (_, "worker") => json!("01KC4GZJ2Q8W5T7RXN3VB6M9DE-f7yzd2cmpx-scan-0"),
        (_, "error" | "last_error") => json!("the blob store does not answer"),
        (_, "attempt" | "attempts" | "attempts_max") => json!(8),
        _ => return None,
    })
}

fn of_name(name: &str) -> Option<Value> {
    of_names(name).or_else(|| of_moments(name)).or_else(|| of_amounts(name)).or_else(|| of_states(name))
}

fn of_names(name: &str) -> Option<Value> {
    of_evidence(name).or_else(|| of_audit(name)).or_else(|| of_ids(name))
}

/// Fields of moderation.
fn of_evidence(name: &str) -> Option<Value> {
    Some(match name {
        "rule" | "rules" => json!("password_near_lure"),
        "file" | "path" => json!("index.html"),
        "content_type" => json!("text/html; charset=utf-8"),
        "field" => json!("input[type=password]"),
        "words" => json!("paypal"),
        "decided_by" => json!("Ada"),
        "note" => json!("A copy of a bank's sign-in page."),
        "scanner_version" => json!("1"),
        "hosts" => json!("other-page-c3d4"),
        "saw" => json!("input[type=password]: paypal"),
        "category" => json!("phishing"),
        "blocked_by" => json!("Ada"),
        "sha256" => json!("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
        _ => return None,
    })
}

/// Fields of the audit log.
fn of_audit(name: &str) -> Option<Value> {
    Some(match name {
        "actor" => json!("ada"),
        "via" => json!("web"),
        "address" => json!("192.0.2.7"),
        "subject" => json!("my-page-a1b2"),
        _ => return None,
    })
}

fn of_ids(name: &str) -> Option<Value> {
    Some(match name {
        "id" | "job_id" | "decision" | "report" | "appeal" | "upload" | "artifact_id" | "user_id"
        | "created_by" => {
            json!("01KC4GZJ2Q8W5T7RXN3VB6M9DE")
        }
        "session_id" => json!("cs_test_a1b2c3"),
        "handle" => json!("acct_7f3k9m2q8x1z"),
        "slug" => json!("my-page"),
        "title" => json!("My page"),
        "host" => json!("my-page-a1b2"),
        "version_url" => json!(VERSION),
        "signed_version_url" => format!("{VERSION}?sig=0123456789abcdef").into(),
        "url" => json!(PAGE),
        "signed_url" => format!("{PAGE}?sig=0123456789abcdef").into(),
        "claim_url" => format!("{API}/claim/Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY").into(),
        "invite_url" => format!("{API}/invite/Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY").into(),
        "code" => json!("Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY"),
        "token" => json!("svc_sk_0123456789abcdefghijABCDEFGHIJxy"),
        "name" => json!("nightly build"),
        "page" => json!("contents.md"),
        "message" => json!("Fix the title"),
        "scopes" => json!("artifacts:write,artifacts:read,tokens:manage,account:manage"),
        "username" | "user" => json!("ada"),
        "ticket" => {
            json!("01KC4GZJ2Q8W5T7RXN3VB6M9DE01KC4GZJ2Q8W5T7RXN3VB6M9DF0123456789abcdef0123456789abcdef")
        }
        "rail" => json!("dev"),
        "queue" => json!("scan"),
        "schedule" => json!("sweep-records"),
        "created_via" => json!("api"),
        _ => return None,
    })
}

fn of_moments(name: &str) -> Option<Value> {
    Some(match name {
        "month" => json!("2026-01"),
        "created_at"
        | "updated_at"
        | "settled_at"
        | "joined_at"
        | "last_used_at"
        | "waiting_since"
        | "published_at"
        | "scanned_at"
        | "answered_at"
        | "appealed_at"
        | "blocked_at"
        | "at"
        | "since"
        | "oldest_waiting_since"
        | "started_at"
        | "seen_at"
        | "due_at"
        | "begun_at"
        | "ended_at"
        | "last_slot"
        | "next_slot" => {
            json!("2026-01-31T12:00:00Z")
        }
        "expires_at" => json!("2026-01-31T12:30:00Z"),
        "revoked_at" | "retry_at" => Value::Null,
        _ => return None,
    })
}

fn of_amounts(name: &str) -> Option<Value> {
    Some(match name {
        "version" | "seq" | "file_count" | "publishes" | "used" | "uses" | "tokens_revoked"
        | "minted_revoked" | "line" | "open_reports" | "blocked" | "live_versions" | "held_versions" => {
            json!(1)
        }
        "versions_kept" => json!(20),
        "versions_days" => Value::Null,
        "max_uses" => json!(3),
        "ttl_hours" => json!(72),
        "views" | "views_month" => json!(12),
        "free_publishes" => json!(5),
        "free_publishes_left" | "free_left" => json!(4),
        "free_limit" => json!(5),
        "overage_views" | "count" | "charges" | "invites_revoked" => json!(0),
        "total_mb" => json!(20),
        "bytes" | "total_bytes" | "storage_bytes" | "size_bytes" => json!(2048),
        "price_usd" => json!(0.005),
        "unchanged" => json!(2),
        "gb" => json!(0.000_002_048),
        "amount_usd" => json!(5),
        "credits_usd" => json!(5.25),
        "est_monthly_cost_usd" | "monthly_cost_usd" | "total_usd" => json!(0),
        _ => return None,
    })
}

fn of_states(name: &str) -> Option<Value> {
    Some(match name {
        "moderation_status" => json!("pass"),
        "allow_agent_join" | "deleted" | "purged" | "live" | "removed" | "revoked" | "signed_out"
        | "received" | "credited" | "taken" | "retried" | "cancelled" | "discarded" | "paused"
        | "unblocked" => {
            json!(true)
        }
        "has_more" | "passed_by_moderator" | "lost" | "blocked_content" | "staged" => json!(false),
        _ => return None,
    })
}
