//! Image lists of the files in a folder.

use crate::random::Random;
use mxrs_format::recordio::{ImageList, ListEntry};
use mxrs_types::{Error, Result};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Settings for finding and listing images, with the names and defaults of MXNet's `im2rec.py`.
#[derive(Clone, Debug, PartialEq)]
pub struct ListSettings {
    /// Extensions of image files, including the dot. Case is ignored.
    pub exts: Vec<String>,
    /// Number of shares into which the images are divided, each with its own lists; default 1.
    pub chunks: usize,
    /// Fraction of each share that goes into `_train.lst`; default 1, which makes one list without that suffix.
    pub train_ratio: f64,
    /// Fraction of each share that goes into `_test.lst`; default 0. The rest goes into `_val.lst`.
    pub test_ratio: f64,
    /// Whether subfolders are searched; each folder with images is then a class.
    pub recursive: bool,
    /// Whether images are shuffled. The shuffled order is always the same. Default yes.
    pub shuffle: bool,
}

impl Default for ListSettings {
    fn default() -> Self {
        Self {
            exts: [".jpeg", ".jpg", ".png"].map(Into::into).to_vec(),
            chunks: 1,
            train_ratio: 1.0,
            test_ratio: 0.0,
            recursive: false,
            shuffle: true,
        }
    }
}

/// Result of [`make_lists`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Folders with images, relative to the root. The label of a folder is its index. Empty unless `recursive` is set.
    pub classes: Vec<String>,
    /// Paths of the lists that were written.
    pub lists: Vec<PathBuf>,
    /// Number of images in all lists.
    pub n_images: usize,
}

/// Lists the images under `root` in `<prefix>.lst`, or in several lists as the settings specify. Symbolic links are
/// followed, except a link to a folder that contains the link.
///
/// # Errors
/// Returns [`mxrs_types::ErrorKind::Io`] if the root cannot be read or a list cannot be written;
/// [`mxrs_types::ErrorKind::InvalidValue`] for settings that contradict each other, if there are no images, and for a file
/// name that a list cannot contain.
pub fn make_lists(prefix: &Path, root: &Path, settings: &ListSettings) -> Result<Listed> {
    if settings.chunks == 0 {
        return Err(Error::invalid("chunks", 0, "at least 1"));
    }
    let (train, test) = (settings.train_ratio, settings.test_ratio);
    if !((0.0..=1.0).contains(&train) && (0.0..=1.0).contains(&test) && (train == 1.0 || train + test <= 1.0 + 1e-9)) {
        let got = format!("train {train}, test {test}");
        return Err(Error::invalid("train-ratio and test-ratio", got, "parts from 0 to 1 with a sum of at most 1"));
    }
    let mut search =
        Search { root, settings, entries: Vec::new(), classes: Vec::new(), n_folders: 0, within: Vec::new() };
    search.folder(root)?;
    let Search { mut entries, classes, n_folders, .. } = search;
    if entries.is_empty() {
        let hint = match settings.recursive {
            false if n_folders > 0 => format!("; it has {n_folders} folders, which --recursive searches as well"),
            _ => String::new(),
        };
        let expected = format!("at least one file ending in {}{hint}", settings.exts.join(", "));
        return Err(Error::invalid(format!("images in {}", root.display()), 0, expected));
    }
    if settings.shuffle {
        Random::keyed(&[100]).shuffle(&mut entries);
    }
    let mut listed = Listed {
        classes: if settings.recursive { classes } else { Vec::new() },
        n_images: entries.len(),
        lists: vec![],
    };
    let share = entries.len().div_ceil(settings.chunks);
    let mut save = |name: String, entries: &[ListEntry]| {
        let mut path = OsString::from(prefix);
        path.push(name);
        let path = PathBuf::from(path);
        ImageList { entries: entries.to_vec(), n_skipped: 0 }.save(&path)?;
        listed.lists.push(path);
        Ok::<(), Error>(())
    };
    for chunk in 0..settings.chunks {
        let start = (chunk * share).min(entries.len());
        let part = &entries[start..(start + share).min(entries.len())];
        let name = if settings.chunks > 1 { format!("_{chunk}") } else { String::new() };
        if train == 1.0 {
            save(format!("{name}.lst"), part)?;
            continue;
        }
        let bound = |ratio: f64| ((share as f64 * ratio) as usize).min(part.len());
        let n_test = bound(test);
        let n_train = bound(train).min(part.len() - n_test);
        if test > 0.0 {
            save(format!("{name}_test.lst"), &part[..n_test])?;
        }
        if train + test < 1.0 {
            save(format!("{name}_val.lst"), &part[n_test + n_train..])?;
        }
        save(format!("{name}_train.lst"), &part[n_test..n_test + n_train])?;
    }
    Ok(listed)
}

/// A search through folders: first the files of a folder, then its subfolders, both sorted by name.
struct Search<'a> {
    root: &'a Path,
    settings: &'a ListSettings,
    entries: Vec<ListEntry>,
    classes: Vec<String>,
    n_folders: usize,
    /// The folders on the current path from the root, as canonical paths without links.
    within: Vec<PathBuf>,
}

impl Search<'_> {
    fn folder(&mut self, folder: &Path) -> Result<()> {
        let io = |e: std::io::Error| Error::io(folder, &e);
        let real = fs::canonicalize(folder).map_err(io)?;
        if self.within.contains(&real) {
            return Ok(());
        }
        let mut names = fs::read_dir(folder).map_err(io)?.map(|entry| entry.map(|e| e.file_name())).collect::<Vec<_>>();
        names.sort_by(|a, b| a.as_ref().ok().cmp(&b.as_ref().ok()));
        let mut class = None;
        let mut folders = Vec::new();
        for name in names {
            let path = folder.join(name.map_err(io)?);
            // A file whose type cannot be read, such as a broken link, is not listed.
            let Ok(kind) = fs::metadata(&path) else { continue };
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && self.is_image(&path) {
                let label = match class {
                    Some(label) => label,
                    None => *class.insert(self.add_class(folder)?),
                };
                let labels = vec![if self.settings.recursive { label as f32 } else { 0.0 }];
                let path = self.relative(&path)?;
                self.entries.push(ListEntry { index: self.entries.len() as u64, labels, path });
            }
        }
        self.n_folders += folders.len();
        if self.settings.recursive {
            self.within.push(real);
            for path in folders {
                self.folder(&path)?;
            }
            self.within.pop();
        }
        Ok(())
    }

    fn add_class(&mut self, folder: &Path) -> Result<usize> {
        let name = self.relative(folder)?;
        self.classes.push(if name.is_empty() { ".".into() } else { name });
        Ok(self.classes.len() - 1)
    }

    fn relative(&self, path: &Path) -> Result<String> {
        let relative = path.strip_prefix(self.root).unwrap_or(path);
        let text = relative.to_str().filter(|text| !text.contains(['\t', '\n', '\r']));
        let expected = "UTF-8 without tabs and line ends, for a list to hold it";
        text.map(Into::into).ok_or_else(|| Error::invalid("file name", relative.display(), expected))
    }

    fn is_image(&self, path: &Path) -> bool {
        let Some(ext) = path.extension().and_then(|ext| ext.to_str()) else { return false };
        self.settings.exts.iter().any(|known| known.trim_start_matches('.').eq_ignore_ascii_case(ext))
    }
}
