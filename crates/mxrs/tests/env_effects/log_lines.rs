//! What a piece of code logs.

use std::cell::RefCell;
use std::fmt;
use std::sync::Once;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

thread_local! {
    /// Lines of this thread, while somebody collects them.
    static LINES: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Runs `run` and returns what it logged on this thread, each line as `LEVEL message`, traces left out.
pub fn log_lines<R>(run: impl FnOnce() -> R) -> (R, Vec<String>) {
    // One subscriber for the process: tests run at the same time, and each collects on its own thread.
    static INIT: Once = Once::new();
    INIT.call_once(|| {
        let subscriber = tracing_subscriber::registry().with(Collector);
        tracing::subscriber::set_global_default(subscriber).expect("nobody else sets one");
    });
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
            if let Some(lines) = lines {
                lines.push(format!("{level} {}", message.0));
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
