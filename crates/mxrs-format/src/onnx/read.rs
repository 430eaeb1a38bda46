//! Bounded and checked reading of a model, without copying its arrays.

use super::scan::scan;
use super::{Bytes, MAX_LEN_BYTES, ModelProto, check, external};
use crate::{Loaded, Options, fault};
use mxrs_types::{Error, FormatErrorKind, Result};
use prost::Message;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Reads a model from memory. The elements of all its arrays must be in the model.
///
/// # Errors
/// Returns `Truncated`, `InvalidValue` or `LimitExceeded` if the bytes are not well-formed messages, and the errors of
/// [`check`].
pub fn from_bytes(bytes: &[u8], options: &Options) -> Result<Loaded<ModelProto>> {
    checked(decode(Bytes::copy_from_slice(bytes), options)?, options)
}

/// Reads a model from a file. Elements of arrays that are in other files are read from the folder of the model, or from folders
/// in it. The model must not name files elsewhere, and symbolic links must not lead out of the folder.
///
/// # Errors
/// Returns the errors of [`from_bytes`] with the path, and I/O errors. For elements in other files, the error names the file and
/// the array: `InvalidValue` for a path that leaves the folder, `Truncated` for a range beyond the end, `Inconsistent` for a
/// range that does not have the size of the array or overlaps with others, and `LimitExceeded` for too many arrays with equal
/// ranges.
pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Loaded<ModelProto>> {
    let path = path.as_ref();
    let mut bytes = Vec::new();
    let mut read_all = || {
        let file = File::open(path)?;
        // Reads one byte more than allowed, so that a longer file is noticed.
        file.take(MAX_LEN_BYTES + 1).read_to_end(&mut bytes)
    };
    read_all().map_err(|e| Error::io(path, &e))?;
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let read = || {
        let mut model = decode(bytes.into(), options)?;
        external::read(&mut model, folder, &options.limits)?;
        checked(model, options)
    };
    read().map_err(|e| e.with_path(path))
}

/// Decodes the messages of a model.
fn decode(bytes: Bytes, options: &Options) -> Result<ModelProto> {
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
    ModelProto::decode(bytes).map_err(|e| fault::whole(FormatErrorKind::InvalidValue, format!("ONNX model: {e}")))
}

/// Checks a model that was decoded.
fn checked(model: ModelProto, options: &Options) -> Result<Loaded<ModelProto>> {
    let warnings = check(&model, options)?;
    Ok(Loaded { value: model, warnings })
}
