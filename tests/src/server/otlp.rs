//! An OpenTelemetry trace collector inside the test, for OTLP over HTTP. It stores all spans for assertions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value::Value};
use opentelemetry_proto::tonic::trace::v1::Span;
use poem::listener::{Acceptor, Listener, TcpListener};
use poem::{IntoEndpoint, Route, Server, endpoint, post};
use prost::Message;
use tokio::task::JoinHandle;

use crate::port::Port;

/// A collector on a port of its own.
#[derive(Debug)]
pub struct Collector {
    port: Port,
    kept: Arc<Mutex<Vec<TracedSpan>>>,
    serving: JoinHandle<()>,
}

/// A received span. Ids are in hex. A root has an empty `parent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedSpan {
    pub trace: String,
    pub id: String,
    pub parent: String,
    pub links: Vec<String>,
    pub name: String,
    pub is_failed: bool,
    /// Its own attributes and those of its process.
    pub attributes: BTreeMap<String, String>,
}

impl Collector {
    pub(crate) async fn start() -> Self {
        let (port, kept) = (Port::take(), Arc::default());
        let acceptor = TcpListener::bind(port.address()).into_acceptor().await.expect("the port of traces");
        let serving = tokio::spawn(serve(acceptor, Arc::clone(&kept)));
        Self { port, kept, serving }
    }

    pub fn url(&self) -> String {
        self.port.url()
    }

    pub fn spans(&self) -> Vec<TracedSpan> {
        self.kept.lock().unwrap().clone()
    }

    /// The spans of the trace whose root has this name. `None` if there are several such traces.
    pub fn trace_of(&self, root: &str) -> Option<Vec<TracedSpan>> {
        let spans = self.spans();
        let mut roots = spans.iter().filter(|span| span.name == root && span.parent.is_empty());
        let (Some(root), None) = (roots.next(), roots.next()) else { return None };
        Some(spans.iter().filter(|span| span.trace == root.trace).cloned().collect())
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(acceptor: impl Acceptor + 'static, kept: Arc<Mutex<Vec<TracedSpan>>>) {
    let take = endpoint::make(move |mut request: poem::Request| {
        let kept = kept.clone();
        async move {
            assert_eq!(request.header("Content-Type"), Some("application/x-protobuf"));
            let body = request.take_body().into_bytes().await?;
            let sent = ExportTraceServiceRequest::decode(&body[..]).expect("an export of traces");
            kept.lock().unwrap().extend(spans_of(sent));
            Ok::<_, poem::Error>(())
        }
    });
    let routes = Route::new().at("/v1/traces", post(take)).into_endpoint();
    Server::new_with_acceptor(acceptor).run(routes).await.expect("the collector serves");
}

fn spans_of(sent: ExportTraceServiceRequest) -> Vec<TracedSpan> {
    let mut spans = Vec::new();
    for of_process in sent.resource_spans {
        let process = of_process.resource.map(|resource| resource.attributes).unwrap_or_default();
        let sent = of_process.scope_spans.into_iter().flat_map(|scope| scope.spans);
        spans.extend(sent.map(|span| traced(span, &process)));
    }
    spans
}

fn traced(span: Span, process: &[KeyValue]) -> TracedSpan {
    let attributes = process.iter().chain(&span.attributes);
    TracedSpan {
        trace: hex::encode(&span.trace_id),
        id: hex::encode(&span.span_id),
        parent: hex::encode(&span.parent_span_id),
        links: span.links.iter().map(|link| hex::encode(&link.span_id)).collect(),
        is_failed: span.status.as_ref().is_some_and(|status| status.code == 2),
        attributes: attributes.map(|pair| (pair.key.clone(), text_of(pair.value.as_ref()))).collect(),
        name: span.name,
    }
}

fn text_of(value: Option<&AnyValue>) -> String {
    match value.and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        Some(Value::BoolValue(yes)) => yes.to_string(),
        other => format!("{other:?}"),
    }
}
