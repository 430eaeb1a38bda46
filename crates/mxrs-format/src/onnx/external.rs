//! Arrays whose elements are in other files. Finds the file of each array, checks the range of the elements against the sizes
//! of the array and the length of the file, and reads the elements into the model.
//!
//! The model names the files, and a malicious model could name any file of the machine. So a name is a relative path without
//! `..`, and the file that it leads to, after all symbolic links, must be in the folder of the model.

use super::tensor::described;
use super::{Bytes, ModelProto, TensorProto};
use crate::{Limits, fault};
use mxrs_types::{Error, FormatErrorKind, Result, ResultExt};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The value of `data_location` for elements in another file.
pub(super) const EXTERNAL: i32 = 1;
/// The longest location in bytes.
const MOST_LOCATION: usize = 4096;
/// Arrays with the same elements as other arrays have together at most this many bytes more than the files.
const MOST_SHARED: u64 = 1 << 30;

/// Reads the elements that are in other files of `folder`. After that, the model contains the elements of all its arrays.
///
/// # Errors
/// Returns an error that names the array and the file for a path that leaves the folder; for a file that is missing or not a
/// regular file; for a range that is not in the file, or does not have the size of the array; for arrays that are together
/// larger than their file, because their ranges overlap without being equal; and for too many arrays with equal ranges.
pub(super) fn read(model: &mut ModelProto, folder: &Path, limits: &Limits) -> Result<()> {
    let Some(graph) = &mut model.graph else { return Ok(()) };
    let of_nodes = graph.node.iter_mut().flat_map(|node| node.attribute.iter_mut());
    let of_nodes = of_nodes.filter_map(|attribute| attribute.t.as_deref_mut());
    let arrays = graph.initializer.iter_mut().chain(of_nodes);
    let arrays: Vec<&mut TensorProto> = arrays.filter(|array| array.data_location == EXTERNAL).collect();
    let n_arrays = arrays.len() as u64;
    if n_arrays > limits.max_tensors {
        let kind = FormatErrorKind::LimitExceeded { value: n_arrays, max: limits.max_tensors };
        return Err(fault::whole(kind, "arrays of an ONNX model with elements in other files"));
    }
    if arrays.is_empty() {
        return Ok(());
    }
    let mut files = Files::new(folder)?;
    for array in arrays {
        let elements = files.elements(array, limits);
        let elements = elements.context(|| format!("reading the elements of array {}", quoted(&array.name)))?;
        array.raw_data = Some(elements);
        array.external_data.clear();
        array.data_location = 0;
    }
    Ok(())
}

/// A text of the file for an error message: cut at 120 characters, with escapes for characters that cannot be printed.
fn quoted(text: &str) -> String {
    format!("`{}`", text.chars().take(120).flat_map(char::escape_debug).collect::<String>())
}

fn invalid(context: impl Into<String>) -> Error {
    fault::whole(FormatErrorKind::InvalidValue, context)
}

/// Where the elements of an array are.
struct Place {
    /// Path of the file, relative to the folder of the model.
    location: String,
    /// Byte at which the elements begin.
    offset: u64,
    /// Number of bytes; `None` if the elements reach to the end of the file.
    length: Option<u64>,
}

impl Place {
    /// Reads the place from the keys `location`, `offset` and `length`. The key `checksum` is ignored.
    fn of(array: &TensorProto) -> Result<Self> {
        let (mut location, mut offset, mut length) = (None, None, None);
        for entry in &array.external_data {
            let slot: &mut Option<&str> = match entry.key.as_str() {
                "location" => &mut location,
                "offset" => &mut offset,
                "length" => &mut length,
                "checksum" => continue,
                other => {
                    let known = "expected `location`, `offset`, `length` or `checksum`";
                    return Err(invalid(format!("key {} in `external_data`, {known}", quoted(other))));
                }
            };
            if slot.replace(&entry.value).is_some() {
                return Err(fault::whole(
                    FormatErrorKind::Duplicate,
                    format!("key `{}` in `external_data`", entry.key),
                ));
            }
        }
        let number = |key: &str, text: &str| {
            text.parse::<u64>().map_err(|_| invalid(format!("`{key}` is {}, expected a number of bytes", quoted(text))))
        };
        let Some(location) = location else {
            return Err(invalid("`external_data` has no `location`, expected the path of a file"));
        };
        Ok(Self {
            location: location.to_owned(),
            offset: offset.map_or(Ok(0), |text| number("offset", text))?,
            length: length.map(|text| number("length", text)).transpose()?,
        })
    }

    /// Checks that an array of `need` bytes fits in a file of `len` bytes.
    fn check_range(&self, need: u64, len: u64) -> Result<()> {
        let Some(have) = len.checked_sub(self.offset) else {
            let context = format!("the elements begin behind the end of the file, which has {len} bytes");
            return Err(fault::truncated(self.offset, self.length.unwrap_or(need), 0, context));
        };
        let length = self.length.unwrap_or(have);
        if length > have {
            return Err(fault::truncated(self.offset, length, have, "elements of an array"));
        }
        if length != need {
            let context = format!("{length} bytes are given to the array, its sizes ask for {need}");
            return Err(fault::at(self.offset, FormatErrorKind::Inconsistent, context));
        }
        Ok(())
    }
}

/// Checks that a location is a relative path that stays in its folder. The rules are the same on every system: a backslash
/// separates folders, as on Windows.
fn check_location(location: &str) -> Result<()> {
    let parts = || location.split(['/', '\\']);
    let problem = if location.contains('\0') {
        "it contains a NUL character"
    } else if location.contains(char::is_control) {
        "it contains a control character"
    } else if location.len() > MOST_LOCATION {
        "it is too long"
    } else if location.starts_with(['/', '\\']) {
        "it is an absolute path"
    } else if location.as_bytes().get(1) == Some(&b':') {
        "it begins with a drive"
    } else if parts().any(|part| part == "..") {
        "it contains `..`"
    } else if parts().all(|part| matches!(part, "" | ".")) {
        "it names no file"
    } else {
        return Ok(());
    };
    let expected = "expected a path in the folder of the model, such as `weights.bin`";
    Err(invalid(format!("location {}: {problem}, {expected}", quoted(location))))
}

/// An open file.
struct Opened {
    location: String,
    path: PathBuf,
    file: File,
    len: u64,
}

/// The files in the folder of a model.
struct Files {
    /// The folder, without symbolic links.
    root: PathBuf,
    /// The file that was read last. Only one file is open at a time, because a model may have a file for each array.
    last: Option<Opened>,
    /// The elements that were read, by file, offset and length. Arrays with the same range share them.
    ranges: HashMap<(PathBuf, u64, u64), Bytes>,
    /// Number of bytes that were read of each file.
    n_read: HashMap<PathBuf, u64>,
    /// Length of these files together.
    all_len: u64,
    /// Number of bytes of the arrays with the same elements as other arrays.
    n_shared: u64,
}

impl Files {
    fn new(folder: &Path) -> Result<Self> {
        let root = fs::canonicalize(folder).map_err(|e| Error::io(folder, &e))?;
        Ok(Self { root, last: None, ranges: HashMap::new(), n_read: HashMap::new(), all_len: 0, n_shared: 0 })
    }

    /// Reads the elements of an array.
    fn elements(&mut self, array: &TensorProto, limits: &Limits) -> Result<Bytes> {
        let (dtype, shape) = described(array, limits)?;
        // The product does not overflow: `described` has checked it.
        let need = (shape.n_elements() * dtype.size_of()) as u64;
        if has_elements(array) {
            let context = "elements both in the model and in another file, expected them in one place";
            return Err(fault::whole(FormatErrorKind::Inconsistent, context));
        }
        let place = Place::of(array)?;
        let opened = match self.last.take() {
            Some(last) if last.location == place.location => last,
            _ => self.open(&place.location)?,
        };
        let opened = self.last.insert(opened);
        place.check_range(need, opened.len).map_err(|e| e.with_path(&opened.path))?;
        if need == 0 {
            return Ok(Bytes::new());
        }
        let range = (opened.path.clone(), place.offset, need);
        if let Some(same) = self.ranges.get(&range) {
            // The elements are copied for each array that is used, so a small file could fill the memory by a million arrays with
            // the same range.
            self.n_shared = self.n_shared.saturating_add(need);
            let max = self.all_len.saturating_add(MOST_SHARED);
            if self.n_shared > max {
                let kind = FormatErrorKind::LimitExceeded { value: self.n_shared, max };
                let context = "bytes of arrays with the same elements as other arrays";
                return Err(fault::at(place.offset, kind, context).with_path(&opened.path));
            }
            return Ok(same.clone());
        }
        // Without this limit, a small file could fill the memory: a million arrays could overlap in it.
        let n_read = self.n_read.entry(opened.path.clone()).or_default();
        if *n_read == 0 {
            self.all_len = self.all_len.saturating_add(opened.len);
        }
        *n_read = n_read.saturating_add(need);
        if *n_read > opened.len {
            let context = format!(
                "arrays overlap: together they have {n_read} bytes or more, the file has {}; expected equal ranges, or \
                 ranges without common bytes",
                opened.len
            );
            return Err(fault::at(place.offset, FormatErrorKind::Inconsistent, context).with_path(&opened.path));
        }
        let bytes = read_range(&mut opened.file, place.offset, need).map_err(|e| Error::io(&opened.path, &e))?;
        let bytes = Bytes::from(bytes);
        self.ranges.insert(range, bytes.clone());
        Ok(bytes)
    }

    /// Opens the file at a location in the folder.
    fn open(&self, location: &str) -> Result<Opened> {
        check_location(location)?;
        let given = self.root.join(location);
        let path = fs::canonicalize(&given).map_err(|e| Error::io(&given, &e))?;
        if !path.starts_with(&self.root) {
            let context = format!(
                "a symbolic link leads out of the folder of the model, to {}; copy the file into the folder",
                path.display()
            );
            return Err(invalid(context).with_path(given));
        }
        let open = || {
            // This check is made twice: opening a device can have effects, and the file could be replaced meanwhile.
            require_regular(&fs::symlink_metadata(&path)?)?;
            let file = open_without_waiting(&path)?;
            let metadata = file.metadata()?;
            require_regular(&metadata)?;
            if !is_in(&file, &self.root) {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "its folder was replaced while it was opened"));
            }
            Ok((file, metadata.len()))
        };
        let (file, len) = open().map_err(|e| Error::io(&path, &e))?;
        Ok(Opened { location: location.to_owned(), path, file, len })
    }
}

/// Whether the model itself contains elements of the array.
fn has_elements(array: &TensorProto) -> bool {
    array.raw_data.as_ref().is_some_and(|raw| !raw.is_empty())
        || !array.float_data.is_empty()
        || !array.int32_data.is_empty()
        || !array.string_data.is_empty()
        || !array.int64_data.is_empty()
        || !array.double_data.is_empty()
        || !array.uint64_data.is_empty()
}

/// Checks that a file is a regular file.
fn require_regular(metadata: &fs::Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let what = if metadata.is_dir() { "a folder" } else { "a device or a pipe" };
    let message = format!("it is {what}, expected a file with elements of arrays");
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

/// Whether an open file is in the folder `root`. A folder on its path could have been replaced by a link since the path was
/// checked; Linux shows the path of an open file. Returns true on other systems, and if the path is not shown.
#[cfg(target_os = "linux")]
fn is_in(file: &File, root: &Path) -> bool {
    use std::os::fd::AsRawFd;
    let place = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
    place.ok().is_none_or(|place| place.starts_with(root))
}

#[cfg(not(target_os = "linux"))]
fn is_in(_: &File, _: &Path) -> bool {
    true
}

/// Opens a file whose path contains no links. Does not wait for the writer of a pipe. If the file was replaced by a link since
/// its path was checked, opening fails.
#[cfg(unix)]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW).open(path)
}

#[cfg(not(unix))]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Reads `len` bytes from `offset` on. The caller has compared the range with the length of the file.
fn read_range(file: &mut File, offset: u64, len: u64) -> io::Result<Vec<u8>> {
    let n_bytes = usize::try_from(len).map_err(io::Error::other)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(n_bytes).map_err(|e| io::Error::new(io::ErrorKind::OutOfMemory, e))?;
    file.seek(SeekFrom::Start(offset))?;
    file.take(len).read_to_end(&mut bytes)?;
    if bytes.len() < n_bytes {
        let message = format!("only {} of {len} bytes could be read: the file became shorter meanwhile", bytes.len());
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_stay_in_the_folder() {
        for good in ["weights.bin", "./weights.bin", "sub/w.0", "a..b", "...", "sub//w", "sub/./w"] {
            assert!(check_location(good).is_ok(), "{good}");
        }
        for (bad, words) in [
            ("../w", "`..`"),
            ("sub/../../w", "`..`"),
            ("sub\\..\\w", "`..`"),
            ("/etc/passwd", "absolute"),
            ("\\\\server\\w", "absolute"),
            ("C:\\w", "drive"),
            ("c:w", "drive"),
            ("w\0", "NUL"),
            ("w\u{1b}[2J", "a control character"),
            ("", "no file"),
            (".", "no file"),
            ("./", "no file"),
        ] {
            let error = check_location(bad).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("expected a path"), "{bad:?}: {error}");
        }
        let long = check_location(&"w".repeat(MOST_LOCATION + 1)).unwrap_err().to_string();
        assert!(long.contains("too long") && long.len() < 1000, "{long}");
    }

    #[test]
    fn ranges_have_the_size_of_the_array_and_lie_in_the_file() {
        let check = |offset, length, need, len| {
            Place { location: "w".into(), offset, length }.check_range(need, len).map_err(|error| error.to_string())
        };
        assert_eq!(check(0, None, 8, 8), Ok(()));
        assert_eq!(check(4, Some(4), 4, 8), Ok(()));
        assert_eq!(check(8, None, 0, 8), Ok(()));
        for (offset, length, need, len, words) in [
            (9, None, 0, 8, "behind the end"),
            (u64::MAX, Some(u64::MAX), 8, 8, "behind the end"),
            (1, Some(8), 8, 8, "7 left"),
            (1, Some(u64::MAX), 8, 8, "7 left"),
            (0, None, 4, 8, "8 bytes are given to the array, its sizes ask for 4"),
            (0, Some(4), 8, 8, "ask for 8"),
        ] {
            let error = check(offset, length, need, len).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
