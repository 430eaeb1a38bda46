//! Record iterators: image decoding, preprocessing and batches with padding, as in MXNet's `ImageRecordIter`.
//!
//! This crate contains no device arrays or operators: a [`DataBatch`] holds plain tensors in host memory, which the `mxrs`
//! crate copies to the device.
//!
//! ```
//! use mxrs_data::{DecodeLimits, Image, ImageOptions, decode, prepare};
//!
//! // A network for gray images of 1 x 2 pixels in the range 0 to 1.
//! let options = ImageOptions { scale: 1.0 / 255.0, ..ImageOptions::new([1, 1, 2]) };
//! let image = Image::new(1, 2, 1, vec![0, 255])?;
//! let mut input = [0.0; 2];
//! prepare(&image, &options, &mut input)?;
//! assert_eq!(input, [0.0, 1.0]);
//!
//! let e = decode(b"GIF89a", 3, &DecodeLimits::default()).unwrap_err();
//! assert!(e.to_string().contains("expected a JPEG or PNG image"));
//! # Ok::<(), mxrs_types::Error>(())
//! ```
//!
//! Read next: [`DataIter`] for the interface of all iterators, [`ImageRecordIter`] for record files, [`Augment`] for random
//! augmentation, [`transform`] for Gluon's transforms, [`prepare`] for the preprocessing of one image.

// The only unsafe code is in `wide`, which calls functions compiled for AVX2 after checking that the processor has it.
#![allow(unsafe_code)]

mod augment;
mod batch;
mod create;
mod decode;
mod detect;
mod encode;
mod fault;
mod idx_ubyte;
pub mod im2rec;
mod image;
mod iter;
mod loader;
mod mnist_iter;
mod nd_array_iter;
mod normalize;
mod options;
mod param_map;
mod prefetching_iter;
mod prepare;
mod random;
mod record_iter;
mod record_source;
pub mod record_tools;
mod resample;
mod resize_iter;
mod text;
mod threads;
pub mod transform;
mod wide;

/// Parsers of untrusted bytes, for the targets in `fuzz/`.
#[cfg(fuzzing)]
pub mod fuzzing {
    pub use crate::idx_ubyte::read as idx_ubyte;
    pub use crate::text::fuzzing::{csv, libsvm};
}

pub use augment::Augment;
pub use batch::Batch;
pub use create::create;
pub use decode::{DecodeLimits, MAX_IMAGE_FILE_BYTES, decode};
pub use detect::{CropEmit, CropSampler, DetectAugment, DetectResize, RandomShift};
pub use encode::{Encoding, encode};
pub use image::Image;
pub use iter::{DataBatch, DataDesc, DataIter};
pub use loader::{
    BatchSampler, DataLoader, DataLoaderBuilder, DataLoaderIter, Dataset, LastSamples, Sampler, is_loader_thread, stack,
};
pub use mnist_iter::MnistIter;
pub use nd_array_iter::{LastBatch, NdArrayIter, NdArrayIterBuilder};
pub use normalize::PixelType;
pub use options::ImageOptions;
pub use prefetching_iter::PrefetchingIter;
pub use prepare::{prepare, prepare_on};
pub use random::Random;
pub use record_iter::{ImageRecordIter, ImageRecordIterBuilder};
pub use resample::{InterMethod, Interpolation, resize, resize_on};
pub use resize_iter::ResizeIter;
pub use text::{CsvIter, LibSvmIter, LibSvmSettings};
pub use threads::ImageThreads;
