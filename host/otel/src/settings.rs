//! The settings, from OpenTelemetry's standard environment variables.
//!
//! Nothing is exported unless one of them names an endpoint or an exporter. The SDK and its exporter read endpoints,
//! headers, timeouts, compression, the resource, and the batching of spans.

/// The variable that enables spans for each decision of a proxy.
pub const HOPS: &str = "ACP_CHAIN_OTEL_HOPS";

/// The variable that enables the content of messages.
pub const CAPTURE: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// The supported protocols.
const PROTOCOLS: [&str; 2] = ["http/protobuf", "http/json"];

/// A signal that can be exported, and its own variables.
pub(crate) struct Signal {
    pub what: &'static str,
    exporter: &'static str,
    endpoint: &'static str,
    protocol: &'static str,
    pub timeout: &'static str,
}

pub(crate) const TRACES: Signal = Signal {
    what: "spans",
    exporter: "OTEL_TRACES_EXPORTER",
    endpoint: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    protocol: "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    timeout: "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
};

pub(crate) const METRICS: Signal = Signal {
    what: "metrics",
    exporter: "OTEL_METRICS_EXPORTER",
    endpoint: "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    protocol: "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
    timeout: "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT",
};

/// The exported signals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "they are independent")]
pub struct Settings {
    /// Spans are exported.
    pub traces: bool,
    /// Metrics are exported.
    pub metrics: bool,
    /// Each decision of a proxy has a span.
    pub hops: bool,
    /// Spans have the content of messages, without secrets.
    pub content: bool,
    /// Problems of the settings, and what to do about them.
    pub warnings: Vec<String>,
}

impl Signal {
    /// Whether the signal is exported as JSON instead of protobuf.
    pub fn is_json(&self) -> bool {
        let set = self.protocol(|name| std::env::var(name).ok());
        set.is_some_and(|(_, protocol)| protocol.trim() == "http/json")
    }

    /// The variable that sets the protocol, and its value.
    fn protocol(&self, variable: impl Fn(&str) -> Option<String>) -> Option<(&str, String)> {
        let mut names = [self.protocol, "OTEL_EXPORTER_OTLP_PROTOCOL"].into_iter();
        names.find_map(|name| {
            let value = variable(name).filter(|value| !value.trim().is_empty())?;
            Some((name, value))
        })
    }
}

impl Settings {
    /// The settings of this process.
    pub fn from_env() -> Self {
        Self::of(|name| std::env::var(name).ok())
    }

    /// The settings in these variables.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let variable = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let is_true = |name: &str| {
            variable(name).is_some_and(|value| value.eq_ignore_ascii_case("true") || value == "1")
        };
        let mut settings = Self::default();
        if is_true("OTEL_SDK_DISABLED") {
            return settings;
        }
        settings.traces = settings.exports(&TRACES, &variable);
        settings.metrics = settings.exports(&METRICS, &variable);
        settings.hops = settings.traces && is_true(HOPS);
        settings.content = settings.traces && settings.captures(&variable);
        settings
    }

    /// Whether content is requested, as the conventions define it.
    fn captures(&mut self, variable: &impl Fn(&str) -> Option<String>) -> bool {
        let Some(asked) = variable(CAPTURE) else {
            return false;
        };
        let (is_enabled, but) = match &*asked.trim().to_ascii_lowercase() {
            "true" | "1" | "span_only" => (true, None),
            "span_and_event" => (true, Some("it is only in spans")),
            "event_only" => (false, Some("set it to SPAN_ONLY")),
            "false" | "0" | "no_content" => (false, None),
            _ => (false, Some("set it to SPAN_ONLY, or to NO_CONTENT")),
        };
        if let Some(but) = but {
            self.warnings.push(format!(
                "{CAPTURE} is {asked:?}, and acp-chain has no events with the content of messages: {but}"
            ));
        }
        is_enabled
    }

    /// Whether anything is exported.
    pub fn is_enabled(&self) -> bool {
        self.traces || self.metrics
    }

    /// Whether a signal is requested, and possible.
    fn exports(&mut self, signal: &Signal, variable: &impl Fn(&str) -> Option<String>) -> bool {
        let is_enabled = match variable(signal.exporter) {
            Some(named) => {
                let named: Vec<_> = named.split(',').map(str::trim).collect();
                let others = named.iter().filter(|name| !["otlp", "none"].contains(name));
                let others: Vec<_> = others.map(|name| format!("{name:?}")).collect();
                if !others.is_empty() {
                    let (exporter, others) = (signal.exporter, others.join(", "));
                    self.warnings.push(format!(
                        "{exporter} names {others}, which acp-chain does not support; it supports `otlp` and `none`"
                    ));
                }
                named.contains(&"otlp")
            }
            None => {
                let general = variable("OTEL_EXPORTER_OTLP_ENDPOINT");
                general.or_else(|| variable(signal.endpoint)).is_some()
            }
        };
        let protocol = signal.protocol(variable);
        let protocol = protocol.filter(|(_, value)| !PROTOCOLS.contains(&value.trim()));
        match protocol {
            Some((name, value)) if is_enabled => {
                self.warnings.push(format!(
                    "{name} is {value:?}, which acp-chain does not support, so there are no {}: set it to `http/protobuf` \
                     or `http/json`, and the endpoint to the collector's port for HTTP, which is 4318 as a rule",
                    signal.what
                ));
                false
            }
            _ => is_enabled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Settings {
        Settings::of(|name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318");

    #[test]
    fn nothing_is_exported_unless_enabled() {
        for none in [
            &[][..],
            &[
                ("OTEL_SERVICE_NAME", "mine"),
                ("OTEL_EXPORTER_OTLP_ENDPOINT", " "),
            ],
            &[ENDPOINT, ("OTEL_SDK_DISABLED", "True")],
            &[
                ENDPOINT,
                ("OTEL_TRACES_EXPORTER", "none"),
                ("OTEL_METRICS_EXPORTER", "none"),
            ],
        ] {
            assert_eq!(of(none), Settings::default(), "{none:?}");
        }
    }

    #[test]
    fn each_signal_is_enabled_separately() {
        let both = of(&[ENDPOINT]);
        assert!(both.traces && both.metrics && !both.hops);
        let traces = of(&[("OTEL_TRACES_EXPORTER", "otlp"), (HOPS, "1")]);
        assert!(traces.traces && !traces.metrics && traces.hops);
        let metrics = of(&[("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://h/v1/metrics")]);
        assert!(!metrics.traces && metrics.metrics);
    }

    #[test]
    fn content_is_exported_only_if_enabled_for_spans() {
        for (asked, has_content, is_warned) in [
            ("true", true, false),
            ("Span_Only", true, false),
            ("SPAN_AND_EVENT", true, true),
            ("EVENT_ONLY", false, true),
            ("NO_CONTENT", false, false),
            ("false", false, false),
            ("yes please", false, true),
        ] {
            let settings = of(&[ENDPOINT, (CAPTURE, asked)]);
            let is_warned_so = !settings.warnings.is_empty();
            assert_eq!(
                (settings.content, is_warned_so),
                (has_content, is_warned),
                "{asked}"
            );
        }
        assert!(!of(&[("OTEL_METRICS_EXPORTER", "otlp"), (CAPTURE, "true")]).content);
    }

    #[test]
    fn unsupported_settings_are_reported_with_the_supported_ones() {
        let grpc = of(&[
            ENDPOINT,
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/json"),
        ]);
        assert!(!grpc.traces && grpc.metrics);
        assert!(grpc.warnings[0].contains("http/protobuf"), "{grpc:?}");
        let other = of(&[ENDPOINT, ("OTEL_TRACES_EXPORTER", "zipkin, console")]);
        assert!(!other.traces && other.metrics);
        assert!(
            other.warnings[0].contains("\"zipkin\", \"console\""),
            "{other:?}"
        );
        assert!(
            of(&[("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")])
                .warnings
                .is_empty()
        );
    }
}
