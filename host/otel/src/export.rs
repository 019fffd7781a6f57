//! Exports the trace of a running chain with the OpenTelemetry SDK: its queues are bounded, and its threads send to the
//! collector.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use acp_chain_trace::{Line, Sink};
use opentelemetry::metrics::MeterProvider;
use opentelemetry_otlp::{
    ExporterBuildError, MetricExporter, Protocol, SpanExporter as OtlpExporter, WithExportConfig,
    WithHttpConfig,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::resource::{EnvResourceDetector, TelemetryResourceDetector};
use opentelemetry_sdk::trace::{BatchConfig, BatchSpanProcessor, SpanProcessor};

use crate::collector::{Collector, CountingExporter, Counts};
use crate::mapping;
use crate::memory::MemoryProbe;
use crate::metrics::Metrics;
use crate::settings::{METRICS, Settings, Signal, TRACES};
use crate::spans::Spans;

/// Timeout of the last export, at the end.
const PATIENCE: Duration = Duration::from_secs(5);

/// Timeout of an export, unless the environment sets one.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Why nothing is exported.
#[derive(Debug, thiserror::Error)]
pub enum OtelError {
    /// The settings in the environment are invalid.
    #[error(
        "the exporter for OpenTelemetry cannot start: {0}; see the variables OTEL_EXPORTER_OTLP_…"
    )]
    Exporter(#[from] ExporterBuildError),
    /// The HTTP client cannot be created.
    #[error("the exporter for OpenTelemetry cannot start: {0}")]
    Http(#[from] reqwest::Error),
}

/// Exports lines.
#[derive(Debug)]
pub struct Otel {
    spans: Spans,
    traces: Option<BatchSpanProcessor>,
    metrics: Option<(Metrics, SdkMeterProvider)>,
    counts: Arc<Counts>,
}

impl Otel {
    /// Starts to export the requested signals to the destination in the environment. `memory_of` reads the memory of
    /// programs.
    ///
    /// # Errors
    ///
    /// If the environment is invalid.
    pub fn new(settings: &Settings, memory_of: MemoryProbe) -> Result<Self, OtelError> {
        let resource = resource();
        let counts = Arc::new(Counts::default());
        let traces = settings.traces.then(|| traces(&resource, counts.clone()));
        let metrics = settings
            .metrics
            .then(|| metrics(resource.clone(), memory_of));
        Ok(Self {
            spans: Spans::with(settings.hops, settings.content),
            traces: traces.transpose()?,
            metrics: metrics.transpose()?,
            counts,
        })
    }

    /// Exports the rest, within limits, and logs the losses.
    pub fn end(mut self) {
        self.spans.end();
        self.hand_over();
        let traces = self.traces.take();
        let metrics = self.metrics.take().map(|(_, metrics)| metrics);
        let (traces_done, is_done) = channel();
        let metrics_done = traces_done.clone();
        // Neither has its own timeout.
        thread::spawn(move || {
            let _ = traces.map(|traces| traces.shutdown_with_timeout(PATIENCE));
            drop(traces_done);
        });
        thread::spawn(move || {
            let _ = metrics.map(|metrics| metrics.shutdown_with_timeout(PATIENCE));
            drop(metrics_done);
        });
        // The senders are dropped when both are done, which is an error here.
        let _: Result<(), _> = is_done.recv_timeout(PATIENCE);
        let lost = self.counts.lost();
        if lost > 0 {
            tracing::warn!(
                "{lost} spans were not exported: the collector was unreachable, or too slow for the queue, which \
                 OTEL_BSP_MAX_QUEUE_SIZE makes longer"
            );
        }
    }

    fn hand_over(&mut self) {
        let (done, usages) = (self.spans.done(), self.spans.usages());
        if let Some(traces) = &self.traces {
            for span in done {
                self.counts.received();
                traces.on_end(span);
            }
        }
        if let Some((metrics, _)) = &self.metrics {
            for (usage, agent) in usages {
                metrics.used(&usage, &agent);
            }
        }
    }
}

impl Sink for Otel {
    fn write(&mut self, lines: &[Line]) -> io::Result<()> {
        for line in lines {
            self.spans.take(line);
            if let Some((metrics, _)) = &mut self.metrics {
                metrics.take(line);
            }
        }
        self.hand_over();
        Ok(())
    }
}

/// The resource, from the environment, with our defaults.
fn resource() -> Resource {
    Resource::builder_empty()
        .with_attributes(mapping::resource())
        .with_detectors(&[
            Box::new(TelemetryResourceDetector),
            Box::new(EnvResourceDetector::new()),
        ])
        .with_attributes(
            std::env::var("OTEL_SERVICE_NAME")
                .ok()
                .filter(|name| !name.is_empty())
                .map(|name| opentelemetry::KeyValue::new("service.name", name)),
        )
        .build()
}

fn traces(resource: &Resource, counts: Arc<Counts>) -> Result<BatchSpanProcessor, OtelError> {
    let client = Collector::new(TRACES.what, timeout(&TRACES))?;
    let exporter = OtlpExporter::builder().with_http();
    let exporter = exporter.with_protocol(protocol(&TRACES));
    let exporter = CountingExporter::new(exporter.with_http_client(client).build()?, counts);
    let mut processor = BatchSpanProcessor::new(exporter, BatchConfig::default());
    processor.set_resource(resource);
    Ok(processor)
}

fn metrics(
    resource: Resource,
    memory_of: MemoryProbe,
) -> Result<(Metrics, SdkMeterProvider), OtelError> {
    let client = Collector::new(METRICS.what, timeout(&METRICS))?;
    let exporter = MetricExporter::builder().with_http();
    let exporter = exporter.with_protocol(protocol(&METRICS));
    let exporter = exporter.with_http_client(client).build()?;
    let provider = SdkMeterProvider::builder()
        .with_reader(PeriodicReader::builder(exporter).build())
        .with_resource(resource)
        .build();
    let meter = provider.meter_with_scope(mapping::scope());
    Ok((Metrics::new(&meter, memory_of), provider))
}

/// The protocol. The exporter would default to JSON.
fn protocol(signal: &Signal) -> Protocol {
    if signal.is_json() {
        Protocol::HttpJson
    } else {
        Protocol::HttpBinary
    }
}

/// The timeout of an attempt. The exporter uses the same variable for all attempts together.
fn timeout(signal: &Signal) -> Duration {
    let names = [signal.timeout, "OTEL_EXPORTER_OTLP_TIMEOUT"];
    let millis = names
        .iter()
        .find_map(|name| std::env::var(name).ok()?.trim().parse().ok());
    millis.map_or(TIMEOUT, Duration::from_millis)
}
