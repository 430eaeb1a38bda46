//! Labels that take the place of those in the records: an image list, by id.

use mxrs_format::Options;
use mxrs_format::recordio::{ImageList, ImageRecord};
use mxrs_types::{Error, Result};
use std::collections::HashMap;
use std::path::Path;

/// The labels of an image list.
pub(super) struct ListLabels {
    width: usize,
    /// Which row of `values` belongs to an id.
    rows: HashMap<u64, usize>,
    values: Vec<f32>,
}

impl ListLabels {
    /// Reads a list each line of which has `width` labels.
    ///
    /// # Errors
    /// Those of reading it; [`mxrs_types::ErrorKind::InvalidValue`] naming the line's index when it has another number of
    /// labels or comes twice.
    pub(super) fn open(path: &Path, width: usize) -> Result<Self> {
        let loaded = ImageList::open(path, &Options::strict())?;
        for warning in &loaded.warnings {
            tracing::warn!("{}: {warning}", path.display());
        }
        let mut labels = Self { width, rows: HashMap::new(), values: Vec::new() };
        for (row, entry) in loaded.value.entries.into_iter().enumerate() {
            let named = |e: Error| e.context(format!("reading {}", path.display()));
            if entry.labels.len() != width {
                let what = format!("labels of image {} in the list", entry.index);
                return Err(named(Error::invalid(what, entry.labels.len(), format!("label_width {width}"))));
            }
            if labels.rows.insert(entry.index, row).is_some() {
                return Err(named(Error::invalid("index in the list", entry.index, "each index once")));
            }
            labels.values.extend(entry.labels);
        }
        Ok(labels)
    }

    fn of(&self, id: u64) -> Result<&[f32]> {
        let row = self
            .rows
            .get(&id)
            .ok_or_else(|| Error::invalid("id of a record", id, "an index of the image list (path_imglist)"))?;
        Ok(&self.values[row * self.width..][..self.width])
    }
}

/// The labels of a record: from the list by its id, if there is one, or its own.
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
