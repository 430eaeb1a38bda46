//! Reads what a worker says, and refuses what is not well-formed before memory is taken for it.

use super::state::About;
use crate::limits;
use crate::messages::{Frame, Head, KeyPart, SetUpdater};
use mxrs_kvstore::{Compression, Key};
use mxrs_types::{DType, Shape};
use std::time::Duration;
use tonic::{Status, Streaming};

pub fn invalid(what: &str, got: impl ToString, expected: &str) -> Status {
    Status::invalid_argument(format!("{what}: got {}, expected {expected}", got.to_string()))
}

/// Reads which key a request is about, with its shape, type and part.
///
/// # Errors
/// Fails if there is none, if the name is too long, if the shape overflows, or if the part is not within the value.
pub fn about(part: Option<&KeyPart>) -> Result<About, Status> {
    let part = part.ok_or_else(|| invalid("request", "no key", "a key"))?;
    let key =
        part.key.as_ref().and_then(|key| key.key()).ok_or_else(|| invalid("key", "none", "a number or a text"))?;
    if let Key::Text(text) = &key
        && text.len() > limits::NAME_BYTES
    {
        return Err(invalid("name of a key", format!("{} bytes", text.len()), "at most 4096 bytes"));
    }
    let dtype =
        DType::from_flag(part.dtype).ok_or_else(|| invalid("type of a value", part.dtype, "a type of MXNet"))?;
    if part.shape.len() > limits::AXES {
        return Err(invalid("shape of a value", format!("{} axes", part.shape.len()), "at most 32 axes"));
    }
    let axes: Option<Vec<usize>> = part.shape.iter().map(|axis| usize::try_from(*axis).ok()).collect();
    let axes = axes.ok_or_else(|| invalid("shape of a value", "an axis above 2^64", "sizes"))?;
    let shape = Shape::from(axes.as_slice());
    let n_elements = shape.checked_size_bytes(dtype).map(|n| n / dtype.size_of());
    let n_elements = n_elements.map_err(|error| Status::invalid_argument(format!("shape of key {key}: {error}")))?;
    let range = (usize::try_from(part.begin).ok()).zip(usize::try_from(part.end).ok());
    let range = range.filter(|(begin, end)| begin <= end && *end <= n_elements);
    let (begin, end) = range.ok_or_else(|| {
        let got = format!("elements {} to {}", part.begin, part.end);
        invalid("part of a key", got, &format!("elements of {shape}"))
    })?;
    Ok(About { key, number: part.number, shape, dtype, part: begin..end })
}

/// The compression of a gradient.
///
/// # Errors
/// Fails for another number of bits, or for a threshold that does not fit.
pub fn compression(head: &Head) -> Result<Option<Compression>, Status> {
    let kind = match head.code_bits {
        0 => return Ok(None),
        1 => "1bit",
        2 => "2bit",
        other => return Err(invalid("bits of a code", other, "0, 1 or 2")),
    };
    let made = Compression::new(kind, f64::from(head.threshold));
    made.map(Some).map_err(|error| Status::invalid_argument(error.to_string()))
}

/// Checks the sizes of settings.
///
/// # Errors
/// Fails if there are too many, or if one is too long.
pub fn check_settings(updater: &SetUpdater) -> Result<(), Status> {
    if updater.settings.len() > limits::SETTINGS {
        return Err(invalid("settings of the updater", updater.settings.len(), "at most 4096"));
    }
    let texts = updater.settings.iter().flat_map(|setting| [&setting.name, &setting.value]).chain([&updater.name]);
    match texts.map(String::len).max() {
        Some(longest) if longest > limits::NAME_BYTES => {
            Err(invalid("settings of the updater", format!("a text of {longest} bytes"), "at most 4096 bytes"))
        }
        _ => Ok(()),
    }
}

/// Reads the frames after `first` until `n_bytes` have arrived. Memory grows as bytes arrive, so a wrong length cannot
/// exhaust it.
///
/// # Errors
/// Fails if the stream has fewer or more bytes, or if the worker is silent for too long.
pub async fn frames(
    first: Frame,
    stream: &mut Streaming<Frame>,
    n_bytes: usize,
    silence: Duration,
) -> Result<Vec<u8>, Status> {
    let mut bytes = Vec::with_capacity(n_bytes.min(limits::FRAME_BYTES));
    let mut next = Some(first);
    loop {
        match next {
            Some(frame) if frame.data.len() <= n_bytes - bytes.len() => bytes.extend_from_slice(&frame.data),
            Some(frame) => {
                let got = bytes.len().saturating_add(frame.data.len());
                return Err(invalid("value", format!("at least {got} bytes"), &format!("{n_bytes} bytes")));
            }
            None if bytes.len() == n_bytes => return Ok(bytes),
            None => return Err(invalid("value", format!("{} bytes", bytes.len()), &format!("{n_bytes} bytes"))),
        }
        next = frame(stream, silence).await?;
        if next.as_ref().is_some_and(|frame| frame.head.is_some() || frame.data.is_empty()) {
            return Err(invalid("stream", "a second head, or an empty frame", "bytes of the value"));
        }
    }
}

/// The next frame.
///
/// # Errors
/// Fails if the worker is silent for too long, or the connection ends.
pub async fn frame(stream: &mut Streaming<Frame>, silence: Duration) -> Result<Option<Frame>, Status> {
    let late = |_| Status::deadline_exceeded(format!("the worker has sent nothing for {:.1} s", silence.as_secs_f64()));
    tokio::time::timeout(silence, stream.message()).await.map_err(late)?
}
