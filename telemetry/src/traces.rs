//! Traces by OpenTelemetry: the spans of this crate, sampled, batched and sent to a collector over HTTP. A
//! process has traces only if a collector is configured.
//!
//! The spans have their own target, which the log ignores, and the layer here ignores everything else. So
//! traces do not change the log, and a log field cannot get into a trace.

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

/// Every log filter must end with this, so that no trace span appears in the log.
pub const NOT_IN_LOG: &str = "handbill_traces=off";

/// The collector's path for traces.
const TRACES_PATH: &str = "/v1/traces";
/// The limit of spans that wait to be sent. Further ones are dropped.
const WAITING_MAX: usize = 8192;
const BATCH_MAX: usize = 512;
const SEND_EVERY: Duration = Duration::from_secs(1);
const SEND_WAIT: Duration = Duration::from_secs(5);
/// How long a stop waits for the last spans to be sent.
const FINISH_WAIT: Duration = Duration::from_secs(2);

/// The destination and the sampling of traces.
#[derive(Clone, Debug)]
pub struct TraceSettings<'s> {
    /// The collector's address, with or without the path of its traces.
    pub otlp_url: &'s str,
    /// The share of traces that are kept, from 0 to 1. A trace that started elsewhere follows the decision
    /// made there.
    pub sample: f64,
    /// The role of this process.
    pub role: &'static str,
}

/// The traces of this process.
pub struct Traces(SdkTracerProvider);

impl Traces {
    /// Sends from this runtime. An unreachable collector shows with the first spans and does not prevent a
    /// start.
    pub fn open(settings: &TraceSettings<'_>, runtime: Handle) -> anyhow::Result<Self> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(endpoint(settings.otlp_url))
            .with_timeout(SEND_WAIT)
            .with_http_client(Carrier::new(runtime, SEND_WAIT)?)
            .build()
            .context("traces.otlp_url")?;
        let batching = BatchConfigBuilder::default()
            .with_max_queue_size(WAITING_MAX)
            .with_max_export_batch_size(BATCH_MAX)
            .with_scheduled_delay(SEND_EVERY)
            .build();
        let processor = BatchSpanProcessor::builder(exporter).with_batch_config(batching).build();
        let provider = SdkTracerProvider::builder()
            .with_span_processor(processor)
            .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(settings.sample))))
            .with_span_limits(SpanLimits::default())
            .with_resource(resource(settings.role))
            .build();
        Ok(Self(provider))
    }

    /// A layer for the spans of this crate only. Combine it with the log's layer in a non-empty list: an
    /// empty list, or an optional layer, would turn everything off.
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

    /// Sends the remaining spans, for as long as a stop can wait.
    pub async fn finish(self) {
        let finishing = spawn_blocking(move || self.0.shutdown_with_timeout(FINISH_WAIT));
        if !matches!(finishing.await, Ok(Ok(()))) {
            tracing::warn!("could not send the last traces to the collector");
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
