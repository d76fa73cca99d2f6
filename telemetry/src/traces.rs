//! Traces by OpenTelemetry: the spans of this crate, sampled, gathered and sent to a collector over HTTP. Only a process
//! that is told of a collector has any.
//!
//! The spans have a target of their own, which the log never takes, and the layer here takes nothing else: so neither a
//! line of the log changes, nor can a field of one get into a trace.

mod carrier;

use std::time::Duration;

use anyhow::Context;
use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracerProvider, SpanLimits,
};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::registry::LookupSpan;

use carrier::Carrier;

/// The target of every span of a trace, and of nothing else.
pub const TRACES: &str = "handbill_traces";

/// What a log's filter must end with, so that no span of a trace shows in its lines.
pub const NOT_IN_LOG: &str = "handbill_traces=off";

/// Where the collector listens below its address.
const TRACES_PATH: &str = "/v1/traces";
/// Spans that wait to be sent; what comes while so many wait is dropped.
const WAITING_MAX: usize = 8192;
const BATCH_MAX: usize = 512;
const SEND_EVERY: Duration = Duration::from_secs(1);
const SEND_WAIT: Duration = Duration::from_secs(5);
/// A stop waits no longer for the last spans to be taken.
const FINISH_WAIT: Duration = Duration::from_secs(2);

/// Where traces go, and which.
#[derive(Clone, Debug)]
pub struct TraceSettings<'s> {
    /// The collector's address, with or without the path of its traces.
    pub otlp_url: &'s str,
    /// The share of traces that are kept, from 0 to 1. One that began elsewhere is kept if it is kept there.
    pub sample: f64,
    /// What the process is there for.
    pub role: &'static str,
}

/// The traces of this process, on their way to the collector.
pub struct Traces(SdkTracerProvider);

impl Traces {
    /// Sends from this runtime. Whether the collector is there shows with the first spans, and is no reason not to start.
    pub fn open(settings: &TraceSettings<'_>, runtime: Handle) -> anyhow::Result<Self> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(endpoint(settings.otlp_url))
            .with_timeout(SEND_WAIT)
            .with_http_client(Carrier::new(runtime, SEND_WAIT)?)
            .build()
            .context("traces.otlp_url")?;
        let gathering = BatchConfigBuilder::default()
            .with_max_queue_size(WAITING_MAX)
            .with_max_export_batch_size(BATCH_MAX)
            .with_scheduled_delay(SEND_EVERY)
            .build();
        let processor = BatchSpanProcessor::builder(exporter).with_batch_config(gathering).build();
        let provider = SdkTracerProvider::builder()
            .with_span_processor(processor)
            .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(settings.sample))))
            .with_span_limits(SpanLimits::default())
            .with_resource(resource(settings.role))
            .build();
        Ok(Self(provider))
    }

    /// Takes the spans of this crate, and nothing else. It stands beside the log's layer in a list that has at least that:
    /// an empty one, or a layer that may be missing, would turn everything off.
    pub fn layer<S>(&self) -> Box<dyn Layer<S> + Send + Sync>
    where
        S: Subscriber + for<'s> LookupSpan<'s> + Send + Sync,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.0.tracer("handbill"))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_filter(Targets::new().with_target(TRACES, LevelFilter::INFO))
            .boxed()
    }

    /// Sends what is left, for as long as a stop can wait.
    pub async fn finish(self) {
        let finishing = spawn_blocking(move || self.0.shutdown_with_timeout(FINISH_WAIT));
        if !matches!(finishing.await, Ok(Ok(()))) {
            tracing::warn!("the last traces were not taken by the collector");
        }
    }
}

fn endpoint(otlp_url: &str) -> String {
    let base = otlp_url.trim_end_matches('/');
    format!("{}{TRACES_PATH}", base.strip_suffix(TRACES_PATH).unwrap_or(base))
}

fn resource(role: &'static str) -> Resource {
    Resource::builder()
        .with_service_name("handbill")
        .with_attributes([
            KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
            KeyValue::new("handbill.role", role),
            KeyValue::new("process.pid", i64::from(std::process::id())),
        ])
        .build()
}

#[cfg(test)]
mod tests;
