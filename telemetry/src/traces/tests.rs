//! Tests of what the trace layer takes and what it leaves to the log.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use bytes::Bytes;
use domain::{Chance, Job, JobEnvelope, JobId, Queue, Time};
use opentelemetry_http::HttpClient;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SpanData};
use tracing::Span;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::prelude::*;

use super::*;
use crate::spans;

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn envelope(trace: Option<String>) -> JobEnvelope {
    let id = JobId::new(Time::from_millis(0), &Chance::seeded(1));
    JobEnvelope { id, reply_to: None, trace, job: Job::Cleanup }
}

/// Returns the log when a request pushes a job that is then run.
fn log_of_a_push(filter: &str, traces: Option<&Traces>) -> String {
    let written = Written::default();
    let writer = written.clone();
    let log = tracing_subscriber::fmt::layer()
        .without_time()
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .with_filter(EnvFilter::new(format!("{filter},{NOT_IN_LOG}")));
    let layers = std::iter::once(log.boxed()).chain(traces.map(Traces::layer));
    let subscriber = tracing_subscriber::registry().with(layers.collect::<Vec<_>>());
    tracing::subscriber::with_default(subscriber, || {
        let request = spans::request("r1", None);
        let _in_trace = request.enter();
        let _in_request = tracing::info_span!("request", request.id = "r1").entered();
        let push = spans::push(&envelope(None));
        tracing::info!("pushed");
        let trace = push.in_scope(|| spans::traceparent(&push));
        assert_eq!(trace.is_some(), traces.is_some());
        let attempt = spans::attempt(&envelope(trace), Queue::Upkeep, 1);
        attempt.in_scope(|| tracing::warn!("done"));
        spans::note_answer(&request, "POST", "/v1/publish", 201);
    });
    String::from_utf8(written.0.lock().unwrap().clone()).unwrap()
}

fn kept_in_memory(sample: f64) -> (Traces, InMemorySpanExporter) {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(sample))))
        .build();
    (Traces(provider), exporter)
}

fn named(spans: &[SpanData], name: &str) -> SpanData {
    spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no {name} in {spans:#?}")).clone()
}

#[test]
fn job_span_is_a_child_of_its_push_and_the_push_of_its_request() {
    let (traces, exporter) = kept_in_memory(1.0);
    log_of_a_push("info", Some(&traces));
    let spans = exporter.get_finished_spans().unwrap();
    let [request, push, job] =
        ["POST /v1/publish", "push cleanup", "job cleanup"].map(|name| named(&spans, name));
    assert_eq!(push.parent_span_id, request.span_context.span_id());
    assert_eq!(job.parent_span_id, push.span_context.span_id());
    assert_eq!(job.span_context.trace_id(), request.span_context.trace_id());
    assert_eq!(spans.len(), 3, "the spans of the log are no part of it: {spans:#?}");
}

#[test]
fn the_log_is_the_same_with_traces_and_without() {
    for filter in ["info", "warn", "trace", "info,telemetry=off"] {
        let (traces, exporter) = kept_in_memory(1.0);
        let with = log_of_a_push(filter, Some(&traces));
        assert_eq!(with, log_of_a_push(filter, None), "{filter}");
        assert_eq!(exporter.get_finished_spans().unwrap().len(), 3, "{filter} is the log's own affair");
    }
    assert!(log_of_a_push("info", None).contains("request{request.id=\"r1\"}: telemetry"));
}

#[test]
fn unsampled_requests_have_unsampled_children() {
    let (traces, exporter) = kept_in_memory(0.0);
    log_of_a_push("info", Some(&traces));
    assert!(exporter.get_finished_spans().unwrap().is_empty());
}

#[test]
fn unreadable_traceparent_is_ignored() {
    let (traces, exporter) = kept_in_memory(1.0);
    let subscriber = tracing_subscriber::registry().with(traces.layer());
    tracing::subscriber::with_default(subscriber, || {
        for trace in ["", "00-nonsense", "00-00000000000000000000000000000000-0000000000000000-01"] {
            spans::attempt(&envelope(Some(trace.to_owned())), Queue::Upkeep, 1).in_scope(|| {});
        }
    });
    let spans = exporter.get_finished_spans().unwrap();
    assert_eq!(spans.len(), 3);
    assert!(spans.iter().all(|span| span.span_context.is_valid()), "{spans:#?}");
}

#[test]
fn job_without_a_traceparent_starts_its_own_trace_and_is_serialized_as_before() {
    let written = serde_json::to_value(envelope(None)).unwrap();
    assert!(written.get("trace").is_none(), "{written}");
    let read: JobEnvelope = serde_json::from_value(written).unwrap();
    assert_eq!(read, envelope(None));
    let (traces, exporter) = kept_in_memory(1.0);
    let subscriber = tracing_subscriber::registry().with(traces.layer());
    tracing::subscriber::with_default(subscriber, || {
        spans::attempt(&read, Queue::Upkeep, 1).in_scope(|| {});
    });
    assert_eq!(exporter.get_finished_spans().unwrap()[0].parent_span_id.to_string(), "0000000000000000");
}

#[test]
fn spans_are_disabled_without_tracing() {
    assert!(
        spans::request("r1", Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")).is_disabled()
    );
    assert!(spans::commit(&[Span::none()]).is_disabled());
    assert_eq!(spans::traceparent(&spans::publish()), None);
}

#[test]
fn traces_path_is_appended_to_the_collector_url_once() {
    for url in ["http://c:4318", "http://c:4318/", "http://c:4318/v1/traces", "http://c:4318/v1/traces/"] {
        assert_eq!(endpoint(url), "http://c:4318/v1/traces", "{url}");
    }
}

/// Returns the log of a closure.
fn log_during(does: impl FnOnce()) -> String {
    let written = Written::default();
    let writer = written.clone();
    let log = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(move || writer.clone());
    tracing::subscriber::with_default(tracing_subscriber::registry().with(log), does);
    String::from_utf8(written.0.lock().unwrap().clone()).unwrap()
}

/// A collector that handles each connection with `answer`. Also installs the TLS provider that every client
/// needs.
fn collector(answer: impl Fn(&mut TcpStream) + Send + 'static) -> String {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for mut stream in listener.incoming().map_while(Result::ok) {
            answer(&mut stream);
            open.push(stream);
        }
    });
    format!("http://{address}")
}

#[tokio::test(flavor = "multi_thread")]
async fn hanging_collector_delays_shutdown_by_two_seconds_and_requests_not_at_all() {
    let otlp_url = collector(|_| {});
    let settings = TraceSettings { otlp_url: &otlp_url, sample: 1.0, role: "test" };
    let traces = Traces::open(&settings, Handle::current()).unwrap();
    let begun = Instant::now();
    tracing::subscriber::with_default(tracing_subscriber::registry().with(traces.layer()), || {
        for _ in 0..3 * WAITING_MAX {
            spans::publish().in_scope(|| {});
        }
    });
    assert!(begun.elapsed() < FINISH_WAIT, "{:?}", begun.elapsed());
    let stopping = Instant::now();
    traces.finish().await;
    assert!(stopping.elapsed() < FINISH_WAIT * 2, "{:?}", stopping.elapsed());
}

#[test]
fn refusing_collector_is_logged_once_without_its_url() {
    let refusing = collector(|stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    for (url, fault) in [(refusing.as_str(), "500"), ("http://127.0.0.1:9", "")] {
        let carrier = Carrier::new(runtime.handle().clone(), SEND_WAIT).unwrap();
        let log = log_during(|| {
            for _ in 0..5 {
                let request = http::Request::post(url).body(Bytes::new()).unwrap();
                let _ = futures::executor::block_on(carrier.send_bytes(request));
            }
        });
        assert_eq!(log.matches("refuses traces").count(), 1, "{log}");
        assert!(log.contains(fault) && !log.contains(url), "{log}");
    }
}
