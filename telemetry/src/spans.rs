//! The spans of a trace, from a request through the queue to the scan. All of them are made here, so that
//! this file shows what a trace may contain: ids, kinds, counts and routes. Never a token, a code, a
//! signature, a payment, a user's own name for anything, or published content.

use std::collections::HashMap;

use domain::{JobEnvelope, ModerationStatus, Queue, VersionId};
use opentelemetry::Context;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::TraceContextExt;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::field::Empty;
use tracing::{Span, info_span};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use crate::traces::TRACES;

const TRACEPARENT: &str = "traceparent";

/// A request at the API. `follows` is the `traceparent` of a trusted caller.
pub fn request(id: &str, follows: Option<&str>) -> Span {
    let span = info_span!(
        target: TRACES,
        "request",
        otel.kind = "server",
        otel.status_code = Empty,
        request.id = id,
        http.request.method = Empty,
        http.route = Empty,
        http.response.status_code = Empty,
    );
    follow(&span, follows);
    span
}

/// Records the response. `route` is a pattern.
pub fn note_answer(request: &Span, method: &str, route: &str, status: u16) {
    if request.is_disabled() {
        return;
    }
    // The route is known only now, and a name that is recorded late is ignored.
    request.context().span().update_name(format!("{method} {route}"));
    request.record("http.request.method", method);
    request.record("http.route", route);
    request.record("http.response.status_code", i64::from(status));
    if status >= 500 {
        note_failure(request);
    }
}

/// Accepting a publish and waiting for its outcome.
pub fn publish() -> Span {
    info_span!(target: TRACES, "publish")
}

/// Pushing a job to the queue.
pub fn push(envelope: &JobEnvelope) -> Span {
    info_span!(
        target: TRACES,
        "push",
        otel.kind = "producer",
        otel.name = format!("push {}", envelope.job.kind()),
        job.id = %envelope.id,
        job.kind = envelope.job.kind(),
        queue.name = envelope.job.queue().name(),
    )
}

/// An attempt at a job. Its parent is the push of the job, in whichever process that was.
pub fn attempt(envelope: &JobEnvelope, queue: Queue, number: u32) -> Span {
    let span = info_span!(
        target: TRACES,
        parent: None,
        "job",
        otel.kind = "consumer",
        otel.name = format!("job {}", envelope.job.kind()),
        otel.status_code = Empty,
        job.id = %envelope.id,
        job.kind = envelope.job.kind(),
        job.attempt = i64::from(number),
        queue.name = queue.name(),
    );
    follow(&span, envelope.trace.as_deref());
    span
}

/// Storing the contents of a version that are not stored yet.
pub fn store_blobs(version: VersionId, files: usize) -> Span {
    info_span!(target: TRACES, "store blobs", version.id = %version, files.count = whole(files))
}

/// A ledger operation, including the wait for those before it.
pub fn operation() -> Span {
    info_span!(target: TRACES, "ledger operation")
}

/// The transaction that settles operations. It belongs to the first one's trace and links to the others.
pub fn commit(operations: &[Span]) -> Span {
    let mut traced = operations.iter().filter(|operation| !operation.is_disabled());
    let Some(first) = traced.next() else { return Span::none() };
    let span =
        info_span!(target: TRACES, parent: first, "ledger commit", ledger.batch = whole(operations.len()));
    for operation in traced {
        span.follows_from(operation);
    }
    span
}

/// Scanning a version.
pub fn scan(version: VersionId) -> Span {
    info_span!(target: TRACES, "scan", version.id = %version, moderation.status = Empty)
}

pub fn note_verdict(scan: &Span, status: ModerationStatus) {
    scan.record("moderation.status", status.as_str());
}

/// Notifying the edges of changed routes, until they have dropped them.
pub fn edge_notice(hosts: usize) -> Span {
    info_span!(target: TRACES, "edge notice", hosts.count = whole(hosts))
}

/// Marks the span as failed.
pub fn note_failure(span: &Span) {
    span.record("otel.status_code", "ERROR");
}

/// The trace context of this span, for a span in another process. `None` without traces.
pub fn traceparent(span: &Span) -> Option<String> {
    if span.is_disabled() {
        return None;
    }
    let mut headers = HashMap::new();
    TraceContextPropagator::new().inject_context(&span.context(), &mut headers);
    headers.remove(TRACEPARENT)
}

/// A malformed context is ignored: the span then starts its own trace.
fn follow(span: &Span, traceparent: Option<&str>) {
    let Some(traceparent) = traceparent.filter(|_| !span.is_disabled()) else { return };
    let headers = HashMap::from([(TRACEPARENT.to_owned(), traceparent.to_owned())]);
    let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &headers);
    // Fails only for a span that has started or is disabled.
    let _ = span.set_parent(parent);
}

/// Traces have only signed integers.
fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
