//! Labels from an image list, which replace those of the records with the same id.

use mxrs_format::Options;
use mxrs_format::recordio::{ImageList, ImageRecord};
use mxrs_types::{Error, Result};
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

/// The labels of an image list, by id.
pub(super) struct ListLabels {
    /// The range of `values` that belongs to each id.
    rows: HashMap<u64, Range<usize>>,
    values: Vec<f32>,
}

impl ListLabels {
    /// Reads a list whose lines have `width` labels each, or any number if `width` is `None`.
    ///
    /// # Errors
    /// Returns the errors of reading the list, and [`mxrs_types::ErrorKind::InvalidValue`], with the index in the line, if a
    /// line has another number of labels or its index occurs twice.
    pub(super) fn open(path: &Path, width: Option<usize>) -> Result<Self> {
        let loaded = ImageList::open(path, &Options::strict())?;
        for warning in &loaded.warnings {
            tracing::warn!("{}: {warning}", path.display());
        }
        let mut labels = Self { rows: HashMap::new(), values: Vec::new() };
        for entry in loaded.value.entries {
            let named = |e: Error| e.context(format!("reading {}", path.display()));
            if let Some(width) = width.filter(|width| entry.labels.len() != *width) {
                let what = format!("labels of image {} in the list", entry.index);
                return Err(named(Error::invalid(what, entry.labels.len(), format!("label_width {width}"))));
            }
            let row = labels.values.len()..labels.values.len() + entry.labels.len();
            if labels.rows.insert(entry.index, row).is_some() {
                return Err(named(Error::invalid("index in the list", entry.index, "each index once")));
            }
            labels.values.extend(entry.labels);
        }
        Ok(labels)
    }

    /// Largest number of labels in a line.
    pub(super) fn longest(&self) -> usize {
        self.rows.values().map(Range::len).max().unwrap_or(0)
    }

    pub(super) fn of(&self, id: u64) -> Result<&[f32]> {
        let row = self
            .rows
            .get(&id)
            .ok_or_else(|| Error::invalid("id of a record", id, "an index of the image list (path_imglist)"))?;
        Ok(&self.values[row.clone()])
    }
}

/// The labels of a record: from the list, by the record's id, if there is a list; otherwise those of the record.
pub(super) fn labels_of<'a>(
    list: Option<&'a ListLabels>,
    record: &'a ImageRecord<'_>,
    width: usize,
) -> Result<&'a [f32]> {
    match list {
        Some(list) => list.of(record.id),
        None => record.labels_of_width(width),
    }
}
