//! Reads traces in the format of chrome://tracing, one event at a time, so that a file may be larger than memory.
//!
//! Accepts traces of this profiler and of others, such as MXNet: an object with the list `traceEvents`, or only the list. If the
//! end of a file is missing because its program was killed, the events before the end are read.

mod input;
mod loose;

pub(crate) use loose::Loose;

use input::{Input, Progress};
use mxrs_types::{Error, ErrorKind, FormatErrorKind, Result};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::error::Category;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::path::Path;
use std::rc::Rc;

/// What a trace says about itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Footer {
    /// The start of the times in the trace (moment 0), in nanoseconds since 1970, if the trace says it.
    pub(crate) zero_unix_ns: Option<u64>,
    /// The number of records that the profiler dropped; 0 if the trace does not say it.
    pub(crate) n_dropped: u64,
    /// What is missing or wrong at the end of the file, if something is.
    pub(crate) cut: Option<String>,
}

/// Calls `visit` with each event of a trace, in the order of the file. If the name ends in `.gz`, the file is unpacked.
/// Members of an event that `T` does not have are skipped.
///
/// # Errors
/// [`ErrorKind::Io`] if the file cannot be read; [`ErrorKind::Format`] with the line if it is not a trace; the error of `visit`.
pub(crate) fn read<T: DeserializeOwned>(path: &Path, visit: impl FnMut(T) -> Result<()>) -> Result<Footer> {
    let progress = Rc::new(Progress::default());
    let input = Input::open(path, Rc::clone(&progress)).map_err(|error| Error::io(path, &error))?;
    let mut json = serde_json::Deserializer::from_reader(input);
    let mut state = State { visit, progress, footer: Footer::default(), n_events: None, failed: None };
    let result = Root { state: &mut state, event: PhantomData::<T> }.deserialize(&mut json);
    let State { progress, mut footer, n_events, failed, .. } = state;
    if let Some(error) = failed {
        return Err(error);
    }
    match (result, n_events) {
        (Ok(()), Some(_)) => {
            if let Err(error) = json.end() {
                footer.cut = Some(format!("after its end there is more text, which was not read ({error})"));
            }
            Ok(footer)
        }
        (Ok(()), None) => Err(malformed(path, FormatErrorKind::Syntax, None, "there is no list `traceEvents`".into())),
        (Err(error), n_events) => match (n_events, is_cut(&error)) {
            _ if progress.is_exceeded() => Err(progress.exceeded(path, error.line())),
            (Some(n_events), true) => {
                footer.cut = Some(format!("it ends in the middle, after {n_events} events ({error})"));
                Ok(footer)
            }
            _ if error.classify() == Category::Io => Err(Error::io(path, &io::Error::from(error))),
            _ => Err(malformed(path, FormatErrorKind::Syntax, Some(error.line()), error.to_string())),
        },
    }
}

/// Whether an error means that the file ends too early. If a program is killed, the last member of its gzip file may also be
/// damaged.
fn is_cut(error: &serde_json::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    match error.classify() {
        Category::Eof => true,
        Category::Io => matches!(error.io_error_kind(), Some(UnexpectedEof | InvalidData | InvalidInput)),
        Category::Syntax | Category::Data => false,
    }
}

fn malformed(path: &Path, kind: FormatErrorKind, line: Option<usize>, found: String) -> Error {
    let context = format!("a trace in the format of chrome://tracing was expected; {found}");
    Error::new(ErrorKind::Format { path: Some(path.into()), offset: line.map(|line| line as u64), kind, context })
}

struct State<F> {
    visit: F,
    progress: Rc<Progress>,
    footer: Footer,
    /// The number of events so far; `None` before the list begins.
    n_events: Option<u64>,
    /// The error of `visit`.
    failed: Option<Error>,
}

/// Deserializes the whole file.
struct Root<'a, F, T> {
    state: &'a mut State<F>,
    event: PhantomData<T>,
}

/// Deserializes the list of events, and calls `visit` with each.
struct Events<'a, F, T> {
    state: &'a mut State<F>,
    event: PhantomData<T>,
}

impl<'de, T: DeserializeOwned, F: FnMut(T) -> Result<()>> DeserializeSeed<'de> for Root<'_, F, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: DeserializeOwned, F: FnMut(T) -> Result<()>> Visitor<'de> for Root<'_, F, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the list `traceEvents`, or a list of events")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "traceEvents" => map.next_value_seed(Events { state: &mut *self.state, event: self.event })?,
                "otherData" => {
                    let other: Other = map.next_value()?;
                    self.state.footer.zero_unix_ns = other.zero_unix_ns.number();
                    self.state.footer.n_dropped = other.dropped_records.number().unwrap_or(0);
                }
                _ => _ = map.next_value::<IgnoredAny>()?,
            }
            self.state.progress.restart();
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> std::result::Result<(), A::Error> {
        Events { state: self.state, event: self.event }.visit_seq(seq)
    }
}

impl<'de, T: DeserializeOwned, F: FnMut(T) -> Result<()>> DeserializeSeed<'de> for Events<'_, F, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: DeserializeOwned, F: FnMut(T) -> Result<()>> Visitor<'de> for Events<'_, F, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<(), A::Error> {
        let state = self.state;
        let mut n_events = state.n_events.unwrap_or(0);
        state.n_events = Some(n_events);
        while let Some(event) = seq.next_element::<T>()? {
            if let Err(error) = (state.visit)(event) {
                state.failed = Some(error);
                return Err(A::Error::custom("stopped"));
            }
            n_events += 1;
            state.n_events = Some(n_events);
            state.progress.restart();
        }
        Ok(())
    }
}

/// The member `otherData`. Numbers are texts there, because JavaScript would round them.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Other {
    zero_unix_ns: Loose,
    dropped_records: Loose,
}
