//! Bounded and checked reading of a model, without copying its arrays.

use super::scan::scan;
use super::{Bytes, MAX_LEN_BYTES, ModelProto, check};
use crate::{Loaded, Options, fault};
use mxrs_types::{Error, FormatErrorKind, Result};
use prost::Message;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Reads a model from memory.
///
/// # Errors
/// Returns `Truncated`, `InvalidValue` or `LimitExceeded` if the bytes are not well-formed messages, and the errors of
/// [`check`].
pub fn from_bytes(bytes: &[u8], options: &Options) -> Result<Loaded<ModelProto>> {
    decode(Bytes::copy_from_slice(bytes), options)
}

/// Reads a model from a file.
///
/// # Errors
/// Returns the errors of [`from_bytes`] with the path, and I/O errors.
pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Loaded<ModelProto>> {
    let path = path.as_ref();
    let mut bytes = Vec::new();
    let mut read = || {
        let file = File::open(path)?;
        // Reads one byte more than allowed, so that a longer file is noticed.
        file.take(MAX_LEN_BYTES + 1).read_to_end(&mut bytes)
    };
    read().map_err(|e| Error::io(path, &e))?;
    decode(bytes.into(), options).map_err(|e| e.with_path(path))
}

fn decode(bytes: Bytes, options: &Options) -> Result<Loaded<ModelProto>> {
    let len = bytes.len() as u64;
    if len > MAX_LEN_BYTES {
        let kind = FormatErrorKind::LimitExceeded { value: len, max: MAX_LEN_BYTES };
        return Err(fault::whole(kind, "bytes of an ONNX model"));
    }
    if let Some(what) = fault::looks_like(&bytes) {
        let context = format!("this is {what}, not an ONNX model");
        return Err(fault::at(0, FormatErrorKind::InvalidValue, context));
    }
    scan(&bytes, &options.limits)?;
    let model = ModelProto::decode(bytes)
        .map_err(|e| fault::whole(FormatErrorKind::InvalidValue, format!("ONNX model: {e}")))?;
    let warnings = check(&model, options)?;
    Ok(Loaded { value: model, warnings })
}
