//! Calls of the public interface, which MXNet calls its C API.

use crate::{Count, Event, Kinds, Label, SpanGuard, SpanInfo, SpanKind, is_on, now_ns, record, span};
// The standard library's atomics even in tests with loom, because loom's atomics cannot live in statics.
use std::sync::atomic::{AtomicU64, Ordering};

/// The category of the calls and of their counters, as MXNet names it.
pub const API_CATEGORY: &str = "MXNET_C_API";

static N_CALLS: AtomicU64 = AtomicU64::new(0);
static N_RUNNING: AtomicU64 = AtomicU64::new(0);

/// A call that is being recorded; it ends when this value is dropped.
#[derive(Debug)]
#[must_use = "the call ends when this is dropped"]
pub struct ApiCall {
    _span: SpanGuard,
}

/// Records a call of the public interface. Like MXNet, it also records two counters: the calls so far, and the calls that
/// are running now. `None` while calls are not recorded.
#[inline]
pub fn api_call(name: &'static str) -> Option<ApiCall> {
    is_on(Kinds::API).then(|| start(name))
}

#[cold]
fn start(name: &str) -> ApiCall {
    count("MXNet C API Calls", N_CALLS.fetch_add(1, Ordering::Relaxed) + 1);
    count("MXNet C API Concurrency", N_RUNNING.fetch_add(1, Ordering::Relaxed) + 1);
    ApiCall { _span: span(SpanInfo::new(SpanKind::Api, Label::of(name))) }
}

impl Drop for ApiCall {
    fn drop(&mut self) {
        count("MXNet C API Concurrency", N_RUNNING.fetch_sub(1, Ordering::Relaxed).saturating_sub(1));
    }
}

fn count(name: &str, value: u64) {
    let (name, category) = (Label::of(name), Label::of(API_CATEGORY));
    record(Event::Count(Count { name, category, at_ns: now_ns(), value, kinds: Kinds::API }));
}
