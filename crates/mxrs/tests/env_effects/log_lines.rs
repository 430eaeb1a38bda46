//! What a piece of code logs.

use std::cell::RefCell;
use std::fmt;
use std::sync::{Mutex, Once};
use std::time::{Duration, Instant};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

thread_local! {
    /// Lines of this thread, while somebody collects them.
    static LINES: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Warnings of the threads that collect nothing, such as those of an engine.
static OF_OTHERS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A warning with `text` in it, from a thread that collects nothing.
pub fn line_of_others(text: &str) -> Option<String> {
    init();
    OF_OTHERS.lock().unwrap().iter().find(|line| line.contains(text)).cloned()
}

/// The same, waited for; `None` if none comes for a while.
pub fn await_line_of_others(text: &str) -> Option<String> {
    let until = Instant::now() + Duration::from_secs(10);
    while line_of_others(text).is_none() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    line_of_others(text)
}

/// One subscriber for the process: tests run at the same time, and each collects on its own thread.
fn init() {
    static INIT: Once = Once::new();
    INIT.call_once(|| {
        let subscriber = tracing_subscriber::registry().with(Collector);
        tracing::subscriber::set_global_default(subscriber).expect("nobody else sets one");
    });
}

/// Runs `run` and returns what it logged on this thread, each line as `LEVEL message`, traces left out.
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
