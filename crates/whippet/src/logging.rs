//! Captures what user code logs with `log` and `tracing`, step by step, for the report of a finding.
//!
//! The features `log` and `tracing` of this crate install a logger, unless the test has its own one. What is logged during
//! a search is dropped; what is logged while a finding is shown becomes part of its trace.

#[cfg(feature = "log")]
mod with_log {
    use whippet_model::{add_output, captures_output};

    pub(super) struct Logger;

    impl log::Log for Logger {
        fn enabled(&self, _: &log::Metadata<'_>) -> bool {
            captures_output()
        }

        fn log(&self, record: &log::Record<'_>) {
            add_output(format!("{} {}: {}", record.level(), record.target(), record.args()));
        }

        fn flush(&self) {}
    }
}

#[cfg(feature = "tracing")]
mod with_tracing {
    use std::fmt::{Debug, Write};
    use tracing_core::field::{Field, Visit};
    use tracing_core::span::{Attributes, Current, Id, Record};
    use tracing_core::subscriber::{Interest, Subscriber};
    use tracing_core::{Event, Metadata};
    use whippet_model::{add_output, captures_output};

    pub(super) struct Collector;

    /// The fields of an event as text: the message first, then the others with their names.
    #[derive(Default)]
    struct Text {
        message: String,
        fields: String,
    }

    impl Visit for Text {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            // Writing to a string does not fail.
            let _ = match field.name() {
                "message" => write!(self.message, "{value:?}"),
                name => write!(self.fields, " {name}={value:?}"),
            };
        }
    }

    impl Subscriber for Collector {
        fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
            // It depends on the thread.
            Interest::sometimes()
        }

        fn enabled(&self, _: &Metadata<'_>) -> bool {
            captures_output()
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            let mut text = Text::default();
            event.record(&mut text);
            let metadata = event.metadata();
            add_output(format!("{} {}: {}{}", metadata.level(), metadata.target(), text.message, text.fields));
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}

        fn current_span(&self) -> Current {
            Current::none()
        }
    }
}

/// Installs the loggers of the features that are on, unless there are others.
pub(crate) fn install() {
    #[cfg(feature = "log")]
    if log::set_logger(&with_log::Logger).is_ok() {
        log::set_max_level(log::LevelFilter::Trace);
    }
    #[cfg(feature = "tracing")]
    {
        // A test that has a subscriber of its own keeps it.
        let _ = tracing_core::dispatcher::set_global_default(tracing_core::Dispatch::new(with_tracing::Collector));
    }
}
