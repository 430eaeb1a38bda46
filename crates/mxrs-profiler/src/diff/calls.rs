//! The calls of operators in a trace.

use super::series::Groups;
use crate::reader::{self, Footer, Loose};
use mxrs_types::{Error, ErrorKind, FormatErrorKind, Result};
use rustc_hash::{FxHashMap, FxHasher};
use serde::Deserialize;
use std::hash::Hasher;
use std::path::Path;

/// The most calls that are read from one trace.
const MOST_CALLS: usize = 20_000_000;
/// The most begin events that may wait for their end events.
const MOST_OPEN: usize = 1 << 20;

/// A call of an operator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) begin_us: f64,
    pub(super) us: f32,
    /// The operator and the node, as a number that [`Groups`] has given to this pair.
    pub(super) group: u32,
}

/// The calls of one trace, in the order in which they begin.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) calls: Vec<Call>,
    pub(super) footer: Footer,
    /// The number of begin events without an end, and of end events without a begin.
    pub(super) n_unpaired: usize,
}

#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    name: Loose,
    #[serde(default)]
    cat: Loose,
    #[serde(default)]
    ph: Loose,
    #[serde(default)]
    ts: Loose,
    #[serde(default)]
    dur: Loose,
    #[serde(default)]
    pid: Loose,
    #[serde(default)]
    tid: Loose,
    args: Option<Arguments>,
}

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    node: Loose,
}

/// A begin event that waits for its end event.
struct Open {
    operator: String,
    group: u32,
    begin_us: f64,
}

#[derive(Default)]
struct Pairing {
    calls: Vec<Call>,
    /// The open begin events, by process and thread.
    open: FxHashMap<(u64, u64), Vec<Open>>,
    n_open: usize,
    n_unpaired: usize,
}

impl Run {
    /// Reads the calls of a trace.
    ///
    /// # Errors
    /// As [`super::compare`].
    pub(super) fn read(path: &Path, groups: &mut Groups) -> Result<Self> {
        let mut pairing = Pairing::default();
        let footer = reader::read(path, |event: Event| pairing.take(event, path, groups))?;
        let Pairing { mut calls, n_open, n_unpaired, .. } = pairing;
        calls.sort_by(|x, y| x.begin_us.total_cmp(&y.begin_us));
        Ok(Self { calls, footer, n_unpaired: n_unpaired + n_open })
    }
}

impl Pairing {
    fn take(&mut self, event: Event, path: &Path, groups: &mut Groups) -> Result<()> {
        let (Loose::Text(ph), Loose::Text(cat)) = (&event.ph, &event.cat) else { return Ok(()) };
        if !matches!(cat.as_str(), "operator" | "Custom Operator") || !matches!(ph.as_str(), "B" | "E" | "X") {
            return Ok(());
        }
        let (Some(at_us), name) = (event.ts.float(), event.name.text()) else { return Ok(()) };
        let thread = (key(&event.pid), key(&event.tid));
        if ph == "E" {
            return self.end(thread, name.as_deref(), at_us, path);
        }
        let operator = name.unwrap_or_default();
        let node = event.args.and_then(|args| args.node.text()).unwrap_or_default();
        let group = groups.number(&operator, &node).ok_or_else(|| {
            limit(path, groups.len(), super::series::MOST_GROUPS, "the number of different nodes of the traces")
        })?;
        if ph == "X" {
            return event.dur.float().map_or(Ok(()), |us| self.add(at_us, us, group, path));
        }
        if self.n_open == MOST_OPEN {
            return Err(limit(path, self.n_open + 1, MOST_OPEN, "the number of calls that are open at the same time"));
        }
        self.n_open += 1;
        self.open.entry(thread).or_default().push(Open { operator, group, begin_us: at_us });
        Ok(())
    }

    /// Ends the innermost open call of this name, or of any name if the event does not have one. Calls that are still open
    /// inside it count as calls without an end.
    fn end(&mut self, thread: (u64, u64), name: Option<&str>, at_us: f64, path: &Path) -> Result<()> {
        let stack = self.open.get_mut(&thread);
        let fits = |open: &Open| name.is_none_or(|name| name == open.operator);
        let Some((stack, at)) = stack.and_then(|stack| stack.iter().rposition(fits).map(|at| (stack, at))) else {
            self.n_unpaired += 1;
            return Ok(());
        };
        self.n_open -= stack.len() - at;
        self.n_unpaired += stack.len() - at - 1;
        let (group, begin_us) = (stack[at].group, stack[at].begin_us);
        stack.truncate(at);
        self.add(begin_us, at_us - begin_us, group, path)
    }

    fn add(&mut self, begin_us: f64, us: f64, group: u32, path: &Path) -> Result<()> {
        if us < 0.0 {
            self.n_unpaired += 1;
            return Ok(());
        }
        if self.calls.len() == MOST_CALLS {
            return Err(limit(path, MOST_CALLS + 1, MOST_CALLS, "the number of calls of operators"));
        }
        self.calls.push(Call { begin_us, us: us as f32, group });
        Ok(())
    }
}

fn limit(path: &Path, value: usize, max: usize, what: &str) -> Error {
    let kind = FormatErrorKind::LimitExceeded { value: value as u64, max: max as u64 };
    Error::new(ErrorKind::Format { path: Some(path.into()), offset: None, kind, context: what.to_owned() })
}

/// A number that stands for a process or thread. In a trace, these are given by a number or a text.
fn key(value: &Loose) -> u64 {
    match value {
        Loose::Whole(number) => *number,
        Loose::Number(number) => number.to_bits(),
        Loose::Text(text) => {
            let mut hasher = FxHasher::default();
            hasher.write(text.as_bytes());
            hasher.finish()
        }
        Loose::Other => 0,
    }
}
