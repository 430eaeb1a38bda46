//! Log lines on stderr, by default in the format of MXNet's tools: `INFO:root:<message>`.

use crate::args::{LogFormat, Logging};
use mxrs::env::{OsSource, Settings};
use std::fmt;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt as lines};

/// Installs the logger on stderr. `DMLC_LOG_DEBUG=1` has the same effect as `--verbose`; an invalid value is reported later.
pub fn start(logging: &Logging) {
    let debug = || Settings::from_source(&OsSource).is_ok_and(|(settings, _)| settings.log.debug);
    let ours = match (logging.quiet, logging.verbose || debug()) {
        (true, _) => LevelFilter::ERROR,
        (false, true) => LevelFilter::DEBUG,
        (false, false) => LevelFilter::INFO,
    };
    let filter = Targets::new().with_target("mxrs", ours).with_default(LevelFilter::WARN.min(ours));
    let layer = lines::layer().with_writer(std::io::stderr).with_ansi(false);
    let layer = match logging.log_format {
        LogFormat::Json => layer.json().flatten_event(true).boxed(),
        LogFormat::Mxnet => layer.event_format(Lines::Python).boxed(),
        LogFormat::Time => layer.event_format(Lines::Time).boxed(),
        LogFormat::Plain => layer.event_format(Lines::Plain).boxed(),
    };
    tracing_subscriber::registry().with(layer.with_filter(filter)).init();
}

/// Text formats of a log line.
#[derive(Clone, Copy)]
enum Lines {
    /// Python's default format with the logger `root`, as in MXNet's tools.
    Python,
    /// Time in UTC, level and message.
    Time,
    /// Only the message.
    Plain,
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, ctx: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let level = python_level(*event.metadata().level());
        match self {
            Self::Python => write!(writer, "{level}:root:")?,
            Self::Time => {
                SystemTime.format_time(&mut writer)?;
                write!(writer, " {level} ")?;
            }
            Self::Plain => {}
        }
        if *event.metadata().level() == Level::INFO {
            let mut message = Message(writer.by_ref(), Ok(()));
            event.record(&mut message);
            message.1?;
        } else {
            ctx.format_fields(writer.by_ref(), event)?;
        }
        writeln!(writer)
    }
}

/// Writes only the message of an info event, worded as in MXNet. The event's other fields are only in the JSON format.
struct Message<'w>(Writer<'w>, fmt::Result);

impl Visit for Message<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.1 = write!(self.0, "{value:?}");
        }
    }
}

/// Python's name of a log level.
fn python_level(level: Level) -> &'static str {
    match level {
        Level::ERROR => "ERROR",
        Level::WARN => "WARNING",
        Level::INFO => "INFO",
        _ => "DEBUG",
    }
}
