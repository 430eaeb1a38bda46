//! Collects the log lines of a piece of code.

use std::cell::RefCell;
use std::fmt;
use std::sync::{Mutex, Once};
use std::time::{Duration, Instant};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

thread_local! {
    /// Log lines of this thread while [`log_lines`] runs; otherwise `None`.
    static LINES: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Warnings of threads that do not collect lines, such as those of an engine.
static OF_OTHERS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A warning that contains `text`, from a thread that does not collect lines.
pub fn line_of_others(text: &str) -> Option<String> {
    init();
    OF_OTHERS.lock().unwrap().iter().find(|line| line.contains(text)).cloned()
}

/// Like [`line_of_others`], but waits for the line; `None` after ten seconds.
pub fn await_line_of_others(text: &str) -> Option<String> {
    let until = Instant::now() + Duration::from_secs(10);
    while line_of_others(text).is_none() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    line_of_others(text)
}

/// Installs one subscriber for the process. Tests run at the same time, so each collects the lines of its own thread.
fn init() {
    static INIT: Once = Once::new();
    INIT.call_once(|| {
        let subscriber = tracing_subscriber::registry().with(Collector);
        tracing::subscriber::set_global_default(subscriber).expect("there is no other subscriber");
    });
}

/// Runs `run` and returns the lines that it logged on this thread, as `LEVEL message`, without traces.
pub fn log_lines<R>(run: impl FnOnce() -> R) -> (R, Vec<String>) {
    init();
    LINES.set(Some(Vec::new()));
    let result = run();
    (result, LINES.take().expect("set above"))
}

struct Collector;

impl<S: Subscriber> Layer<S> for Collector {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let level = *event.metadata().level();
        if level > Level::DEBUG {
            return;
        }
        let mut message = Message(String::new());
        event.record(&mut message);
        LINES.with_borrow_mut(|lines| {
            let line = format!("{level} {}", message.0);
            match lines {
                Some(lines) => lines.push(line),
                None if level <= Level::WARN => OF_OTHERS.lock().unwrap().push(line),
                None => {}
            }
        });
    }
}

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}
