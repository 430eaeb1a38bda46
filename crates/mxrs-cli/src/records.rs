//! Reads images from a record file or from image files, in batches that are ready for a network.

use mxrs::Result;
use mxrs::data::{Image, ImageOptions, ImageRecordIter, MAX_IMAGE_FILE_BYTES, decode, prepare};
use mxrs::format::read_file;
use mxrs::types::ResultExt;
use std::path::{Path, PathBuf};

/// Images of one batch.
pub struct ImageBatch {
    /// Pixels, prepared for the network: one row per image, in the order (channel, height, width).
    pub data: Vec<f32>,
    /// First label of each image, if the source has labels.
    pub labels: Option<Vec<f32>>,
    /// The decoded images, if requested. Only the first `n` belong to rows of `data`; further ones may follow.
    pub images: Vec<Image>,
    /// File of each image, if the images are files.
    pub files: Vec<PathBuf>,
    /// Number of images, which is the number of rows of `data`.
    pub n: usize,
}

/// A source of batches.
pub enum ImageSource {
    /// Records of one file, in file order.
    Records(Box<ImageRecordIter>),
    /// Image files, in the order given.
    Files {
        /// Paths of all files.
        paths: Vec<PathBuf>,
        /// Number of files that were read.
        done: usize,
        /// How images are prepared for the network.
        options: Box<ImageOptions>,
        /// Number of rows of a batch.
        batch_size: usize,
    },
}

impl ImageSource {
    /// The records of a file. The last batch may be smaller: it is not filled up from the beginning of the file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened, or if settings contradict each other.
    pub fn records(path: &Path, options: &ImageOptions, batch_size: usize, threads: usize) -> Result<Self> {
        let mut builder = ImageRecordIter::builder(path, options.data_shape, batch_size)
            .round_batch(false)
            .preprocess_threads(threads)
            .keep_images(true)
            .scale(options.scale)
            .mean(options.mean)
            .std(options.std);
        if let Some(edge) = options.resize {
            builder = builder.resize(edge);
        }
        Ok(Self::Records(Box::new(builder.build()?)))
    }

    /// A source of image files.
    ///
    /// # Errors
    /// Returns an error if settings contradict each other.
    pub fn files(paths: &[PathBuf], options: &ImageOptions, batch_size: usize) -> Result<Self> {
        options.check()?;
        Ok(Self::Files { paths: paths.to_vec(), done: 0, options: Box::new(options.clone()), batch_size })
    }

    /// Number of images, if it is known without reading all of them.
    pub fn known_len(&self) -> Option<u64> {
        match self {
            Self::Records(records) => records.known_len(),
            Self::Files { paths, .. } => Some(paths.len() as u64),
        }
    }
}

impl Iterator for ImageSource {
    type Item = Result<ImageBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Records(records) => Some(records.next()?.map(|batch| {
                let n = batch.n_valid();
                let row_len = batch.data.len() / batch.n.max(1);
                let labels = (0..n).map(|row| batch.labels_of(row).first().copied().unwrap_or(f32::NAN)).collect();
                let mut data = batch.data;
                data.truncate(n * row_len);
                ImageBatch { data, labels: Some(labels), images: batch.images, files: Vec::new(), n }
            })),
            Self::Files { paths, done, options, batch_size } => {
                let files: Vec<PathBuf> = paths.iter().skip(*done).take(*batch_size).cloned().collect();
                if files.is_empty() {
                    return None;
                }
                *done += files.len();
                Some(read_files(files, options))
            }
        }
    }
}

fn read_files(files: Vec<PathBuf>, options: &ImageOptions) -> Result<ImageBatch> {
    let row_len = options.n_elements()?;
    let n = files.len();
    let mut data = vec![0.0; n * row_len];
    let mut images = Vec::with_capacity(n);
    for (path, row) in files.iter().zip(data.chunks_exact_mut(row_len)) {
        let bytes = read_file(path, MAX_IMAGE_FILE_BYTES)?;
        let image = decode(&bytes, options.data_shape[0], &options.limits).map_err(|error| error.with_path(path))?;
        prepare(&image, options, row).context(|| format!("preparing {}", path.display()))?;
        images.push(image);
    }
    Ok(ImageBatch { data, labels: None, images, files, n })
}
