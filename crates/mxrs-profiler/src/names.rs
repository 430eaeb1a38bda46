//! The names of categories, devices and processes in a trace, as MXNet writes them.

use crate::memory::Level;
use mxrs_trace::{Label, Span, SpanKind};
use mxrs_types::{Device, DeviceKind};
use std::borrow::Cow;

/// The category of memory counters.
pub(crate) const DEVICE_STORAGE: &str = "Device Storage";
/// The category of counters of the memory that pools hold.
pub(crate) const POOL_MEMORY: &str = "Pool Memory";
/// The category of calls of the public interface.
pub(crate) const API: &str = mxrs_trace::API_CATEGORY;
/// The category of tasks of the engine.
pub(crate) const ENGINE: &str = "engine";

/// The longest name or category in bytes; MXNet cuts longer ones.
const LONGEST: usize = 127;

/// The first bytes of a text, at most 127, cut between characters.
pub(crate) fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST)]
}

/// The category of a span.
pub(crate) fn category_of(span: &Span) -> Cow<'static, str> {
    Cow::Borrowed(match span.kind {
        SpanKind::Symbolic | SpanKind::Imperative if span.name.text().contains("::") => "Custom Operator",
        SpanKind::Symbolic | SpanKind::Imperative => "operator",
        SpanKind::Segment => "segment",
        SpanKind::Api => API,
        SpanKind::Run => ENGINE,
        SpanKind::Push => "engine,push",
        SpanKind::Complete => "engine,complete",
        SpanKind::Frame => return Cow::Owned(format!("{},frame", domain_of(span.category))),
        SpanKind::Event => "event",
        _ => domain_of(span.category),
    })
}

/// The category of the marks of a domain.
pub(crate) fn marks_of(domain: Label) -> String {
    format!("{},instant_marker", domain_of(domain))
}

/// The name of a domain.
pub(crate) fn domain_of(domain: Label) -> &'static str {
    cut(domain.text())
}

/// A device as MXNet's traces name it: `cpu/0`, `gpu/1`, `cpu pinned/`, `cpu shared/`.
pub(crate) fn device(device: Device) -> String {
    match device.kind {
        DeviceKind::Cpu => format!("cpu/{}", device.id),
        DeviceKind::Gpu => format!("gpu/{}", device.id),
        DeviceKind::CpuPinned => "cpu pinned/".to_owned(),
        DeviceKind::CpuShared => "cpu shared/".to_owned(),
    }
}

/// The counter that a change of memory belongs to: category, name, and its value.
pub(crate) fn counter_of(level: &Level) -> (&'static str, String, u64) {
    let device = device(level.device);
    match level.is_of_pool {
        true => (POOL_MEMORY, format!("Pool: {device}"), level.pool_bytes),
        false => (DEVICE_STORAGE, format!("Memory: {device}"), level.live_bytes),
    }
}

/// A text as a JSON string.
pub(crate) fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
