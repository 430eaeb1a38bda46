//! The mean image of a data set: read from a file, or computed and saved to it.

use super::row::{Row, RowSettings};
use super::{BATCH_OF_MEAN, ImageRecordIter};
use crate::PixelType;
use mxrs_format::{ArrayFile, Options, Tensor};
use mxrs_types::{Error, ErrorKind, FormatErrorKind, Result, Shape};
use std::path::Path;

/// Name of the array in the saved file.
const KEY: &str = "mean_img";

/// Reads the mean image; the file must contain exactly one array, with the shape `data_shape`.
pub(super) fn read(path: &Path, data_shape: [usize; 3]) -> Result<Vec<f32>> {
    let bad = |context: String| {
        Error::new(ErrorKind::Format {
            path: Some(path.into()),
            offset: None,
            kind: FormatErrorKind::Inconsistent,
            context,
        })
    };
    let file = ArrayFile::open(path, &Options::strict())?.value;
    let mut arrays = file.arrays.iter().map(|(_, array)| array);
    let (Some(array), None) = (arrays.next(), arrays.next()) else {
        return Err(bad(format!("{} arrays, expected one mean image", file.arrays.len())));
    };
    let array = array.as_dense().map_err(|e| e.context(format!("reading {}", path.display())))?;
    let want = Shape::from(data_shape);
    if *array.shape() != want {
        return Err(bad(format!("mean image of shape {}, expected data_shape {want}", array.shape())));
    }
    Ok(array.to_f32_vec())
}

/// Computes the mean of all images after augmentation and before normalization, reading in file order, and saves it at
/// `path`.
pub(super) fn compute(iter: &mut ImageRecordIter, path: &Path) -> Result<Vec<f32>> {
    tracing::info!("no mean image at {}: it is computed from all images of the set", path.display());
    let mut settings = iter.settings.clone();
    (settings.pixel_type, settings.keep_images, settings.augment.mirror) = (PixelType::U8, false, false);
    settings.augment.rand_mirror = false;
    let row_len = settings.image.n_elements()?;
    let mut sums = vec![0.0_f64; row_len];
    let mut n_images = 0_u64;
    let mut bytes = vec![0; row_len];
    let (mut labels, mut id) = (vec![0.0; iter.label_width], 0);
    iter.source.start(0, 0)?;
    while let Some(record) = iter.source.next_record()? {
        let shared = RowSettings {
            builder: &settings,
            list: iter.list.as_deref(),
            mean_image: None,
            epoch: 0,
            path: &settings.path_imgrec,
        };
        let mut row = Row { record: &record, data: &mut bytes, labels: &mut labels, id: &mut id, outcome: Ok(None) };
        row.fill(&shared);
        if let Err(e) = row.outcome {
            iter.bad.note(&settings.path_imgrec, record.offset, e)?;
            continue;
        }
        for (sum, pixel) in sums.iter_mut().zip(&bytes) {
            *sum += f64::from(*pixel);
        }
        n_images += 1;
        if n_images.is_multiple_of(BATCH_OF_MEAN) {
            tracing::info!("{n_images} images processed");
        }
    }
    if n_images == 0 {
        return Err(Error::invalid("images to take the mean of", 0, "at least 1"));
    }
    let mean: Vec<f32> = sums.iter().map(|sum| (sum / n_images as f64) as f32).collect();
    let tensor = Tensor::from_slice(settings.image.data_shape, &mean)?;
    ArrayFile::named([(KEY.to_owned(), tensor)]).save_params(path)?;
    tracing::info!("mean image of {n_images} images saved to {}", path.display());
    iter.source.start(0, 0)?;
    Ok(mean)
}
