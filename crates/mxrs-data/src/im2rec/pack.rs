//! Packs the images of a list into a record file.

use crate::decode::stored_channels;
use crate::resample::resize_image;
use crate::{DecodeLimits, Encoding, Image, ImageThreads, Interpolation, MAX_IMAGE_FILE_BYTES, decode, encode};
use mxrs_format::recordio::{ImageList, ImageRecord, IndexedWriter, ListEntry};
use mxrs_format::{Options, read_file, write_atomically};
use mxrs_sync::{Mutex, Team, TeamConfig};
use mxrs_types::{Error, Result};
use std::ffi::OsString;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Settings for packing images, with the names and defaults of MXNet's `im2rec.py`.
#[derive(Clone, Debug, PartialEq)]
pub struct PackSettings {
    /// Whether the bytes of the image files are stored unchanged; default no.
    pub pass_through: bool,
    /// The length that the shorter edge is resized to; default none.
    pub resize: Option<usize>,
    /// Whether only the square in the center is used; default no.
    pub center_crop: bool,
    /// The number of channels: 3 for color, 1 for gray, `None` to keep that of the file; default 3.
    pub channels: Option<usize>,
    /// How images are encoded; default JPEG of quality 95.
    pub encoding: Encoding,
    /// Interpolation used for resizing; default linear.
    pub interpolation: Interpolation,
    /// Whether all labels of a line are stored; default no, which stores only the first.
    pub pack_label: bool,
    /// Number of threads that encode; default 1.
    pub num_thread: usize,
    /// The largest image that is decoded.
    pub limits: DecodeLimits,
}

impl Default for PackSettings {
    fn default() -> Self {
        Self {
            pass_through: false,
            resize: None,
            center_crop: false,
            channels: Some(3),
            encoding: Encoding::Jpeg { quality: 95 },
            interpolation: Interpolation::Linear,
            pack_label: false,
            num_thread: 1,
            limits: DecodeLimits::default(),
        }
    }
}

/// An image that could not be packed.
#[derive(Clone, Debug, PartialEq)]
pub struct Failed {
    /// Index of the image in the list.
    pub index: u64,
    /// Path of the image in the list.
    pub path: String,
    /// The reason why the image could not be packed.
    pub reason: Error,
}

/// Result of [`pack`]: numbers of packed images and skipped lines, and the images that failed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PackReport {
    /// Number of images in the record file.
    pub n_packed: u64,
    /// Number of lines in the list with too few fields.
    pub n_skipped_lines: u64,
    /// The images that could not be packed, in the order of the list. The file `<list>.failed` also lists them, with the
    /// reasons.
    pub failed: Vec<Failed>,
}

/// Number of images per thread that are read and encoded before the first of them is written.
const AHEAD: usize = 16;

/// All lists with a prefix: `<prefix>*.lst` in its folder, sorted by name.
///
/// # Errors
/// Returns I/O errors of reading the folder, and [`mxrs_types::ErrorKind::InvalidValue`] if it has no such list.
pub fn lists_of(prefix: &Path) -> Result<Vec<PathBuf>> {
    let folder = prefix.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let start = prefix.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let io = |e: std::io::Error| Error::io(folder, &e);
    let mut lists = Vec::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        let name = entry.map_err(io)?.file_name();
        if name.to_str().is_some_and(|name| name.starts_with(&start) && name.ends_with(".lst")) {
            lists.push(folder.join(name));
        }
    }
    lists.sort();
    match lists.is_empty() {
        true => Err(Error::invalid(format!("lists {}*.lst", prefix.display()), 0, "at least one; --list makes them")),
        false => Ok(lists),
    }
}

/// Packs the images of a list into `<list>.rec` and `<list>.idx` next to it, in the order of the list. The paths in the list
/// are absolute or relative to `root`. The files do not depend on the number of threads. Calls `progress` with the number of
/// images done so far; an error from it stops packing and leaves no files.
///
/// # Errors
/// Returns the errors of reading the list, of the settings, of writing, and of `progress`, and an error if `root` is not a
/// folder. An image that cannot be read or encoded is not an error: it is listed in the report.
pub fn pack(
    list: &Path,
    root: &Path,
    settings: &PackSettings,
    progress: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<PackReport> {
    pack_lines(list, root, &list.with_extension("rec"), (0, 1), &|path| root.join(path), settings, progress)
}

/// Packs images like [`pack`], but with the conventions of MXNet's C++ tool: part number `part` of `n_parts` of the lines is
/// written to the record file `rec`. The index has the same name with the extension `.idx` instead of `.rec`, and the list
/// of failures has `.failed`. The path of an image is `root` followed by the path in its line, even if the path in the line
/// begins with a slash. A slash is inserted if there is none between the two.
///
/// # Errors
/// Returns the errors of [`pack`], and [`mxrs_types::ErrorKind::InvalidValue`] unless `part < n_parts`.
pub fn pack_part(
    list: &Path,
    root: &Path,
    rec: &Path,
    (part, n_parts): (usize, usize),
    settings: &PackSettings,
    progress: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<PackReport> {
    pack_lines(list, root, rec, (part, n_parts), &|path| concatenated(root, path), settings, progress)
}

/// Concatenates `root` and `path`, and inserts a slash if there is none between them.
fn concatenated(root: &Path, path: &str) -> PathBuf {
    let mut whole = OsString::from(root);
    if !root.as_os_str().as_encoded_bytes().ends_with(b"/") && !path.starts_with('/') {
        whole.push("/");
    }
    whole.push(path);
    PathBuf::from(whole)
}

/// Packs part number `part` of the lines; `place` converts the path in a line to the path of the image file.
fn pack_lines(
    list: &Path,
    root: &Path,
    rec: &Path,
    (part, n_parts): (usize, usize),
    place: &(dyn Fn(&str) -> PathBuf + Sync),
    settings: &PackSettings,
    progress: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<PackReport> {
    settings.encoding.check()?;
    if part >= n_parts {
        return Err(Error::invalid("part", part, format!("below nsplit ({n_parts})")));
    }
    let Some(threads) = NonZeroUsize::new(settings.num_thread) else {
        return Err(Error::invalid("num-thread", 0, "at least 1"));
    };
    if !fs::metadata(root).map_err(|e| Error::io(root, &e))?.is_dir() {
        return Err(Error::invalid("root of images", root.display(), "a folder"));
    }
    let loaded = ImageList::open(list, &Options::strict())?;
    let ImageList { entries, n_skipped } = loaded.value;
    let bound = |part: usize| (entries.len() as u128 * part as u128 / n_parts as u128) as usize;
    let entries = &entries[bound(part)..bound(part + 1)];
    let beside = |extension: &str| match rec.extension().is_some_and(|e| e == "rec") {
        true => rec.with_extension(extension),
        false => PathBuf::from(format!("{}.{extension}", rec.display())),
    };
    let mut writer = IndexedWriter::create(rec, beside("idx"))?;
    let team = Team::new(TeamConfig { threads, cpus: None })?;
    let mut report = PackReport { n_skipped_lines: n_skipped, ..PackReport::default() };
    let mut done = 0;
    for block in entries.chunks(AHEAD * threads.get()) {
        let payloads: Vec<Mutex<Result<Vec<u8>>>> = block.iter().map(|_| Mutex::new(Ok(Vec::new()))).collect();
        team.run(block.len(), &|i| *payloads[i].lock() = make(&block[i], &place(&block[i].path), settings));
        for (entry, payload) in block.iter().zip(payloads) {
            match payload.into_inner() {
                Ok(payload) => {
                    writer.write(entry.index, &payload)?;
                    report.n_packed += 1;
                }
                Err(reason) => {
                    report.failed.push(Failed { index: entry.index, path: entry.path.clone(), reason });
                }
            }
            done += 1;
        }
        progress(done)?;
    }
    write_failed(&beside("failed"), &report.failed)?;
    writer.finish()?;
    Ok(report)
}

/// Writes the list of failures. If there are no failures, removes the list of an earlier run.
fn write_failed(path: &Path, failed: &[Failed]) -> Result<()> {
    if failed.is_empty() {
        return match fs::remove_file(path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io(path, &e)),
            _ => Ok(()),
        };
    }
    let one_line = |reason: &Error| reason.to_string().replace(['\t', '\n', '\r'], " ");
    write_atomically(path, |sink| {
        for Failed { index, path: image, reason } in failed {
            writeln!(sink, "{index}\t{image}\t{}", one_line(reason)).map_err(|e| Error::io(path, &e))?;
        }
        Ok(())
    })
}

/// Builds the payload of the record of one line, whose image is the file at `path`.
fn make(entry: &ListEntry, path: &Path, settings: &PackSettings) -> Result<Vec<u8>> {
    let bytes = read_file(path, MAX_IMAGE_FILE_BYTES)?;
    let encoded = if settings.pass_through {
        bytes
    } else {
        let image = shape(&bytes, settings).map_err(|e| e.with_path(path))?;
        encode(&image, settings.encoding)?
    };
    if encoded.is_empty() {
        return Err(Error::invalid(format!("bytes of {}", path.display()), 0, "an image"));
    }
    let first = entry.labels.first().copied().unwrap_or(0.0);
    let all = settings.pack_label && entry.labels.len() > 1;
    let record = ImageRecord {
        label: if all { 0.0 } else { first },
        labels: if all { entry.labels.clone() } else { Vec::new() },
        id: entry.index,
        id2: 0,
        image: &encoded,
    };
    Ok(record.pack())
}

/// Decodes the image and applies crop and resize.
fn shape(bytes: &[u8], settings: &PackSettings) -> Result<Image> {
    let channels = match settings.channels {
        Some(channels) => channels,
        None => stored_channels(bytes)?,
    };
    let mut image = decode(bytes, channels, &settings.limits)?;
    if settings.center_crop {
        image = center(&image)?;
    }
    let Some(edge) = settings.resize else { return Ok(image) };
    let (h, w) = (image.height(), image.width());
    let longer =
        |long: usize, short: usize| usize::try_from(long as u128 * edge as u128 / short as u128).unwrap_or(usize::MAX);
    let (height, width) = if h > w { (longer(h, w), edge) } else { (edge, longer(w, h)) };
    resize_image(&ImageThreads::calling(), image, height, width, settings.interpolation, &settings.limits)
}

/// Cuts out the square in the center of the image.
fn center(image: &Image) -> Result<Image> {
    let (h, w, c) = (image.height(), image.width(), image.channels());
    let side = h.min(w);
    let (top, left) = ((h - side) / 2, (w - side) / 2);
    let rows = (top..top + side).flat_map(|y| image.row(y)[left * c..(left + side) * c].to_vec());
    Image::new(side, side, c, rows.collect())
}
