//! Creation of iterators by their MXNet names.

use crate::record_iter::ImageRecordIterBuilder;
use crate::{CsvIter, DataIter, LibSvmSettings, MnistIter, PixelType};
use mxrs_types::{Error, Result};

/// Names of iterators that [`create`] accepts.
const NAMES: [&str; 7] = [
    "ImageRecordIter",
    "ImageRecordUInt8Iter",
    "ImageRecordInt8Iter",
    "ImageDetRecordIter",
    "MNISTIter",
    "CSVIter",
    "LibSVMIter",
];

/// Creates the iterator with this name from MXNet's parameters as text, as MXNet's scripts pass them. Iterators over record
/// files read batches ahead.
///
/// ```
/// let e = mxrs_data::create("ImageRecordItr", &[]).map(|_| ()).unwrap_err();
/// assert!(e.to_string().contains("ImageRecordIter"));
/// let e = mxrs_data::create("MNISTIter", &[("batchsize", "8")]).map(|_| ()).unwrap_err();
/// assert!(e.to_string().contains("`batch_size`"));
/// ```
///
/// # Errors
/// Returns [`mxrs_types::ErrorKind::InvalidValue`], with the most similar name, for an unknown iterator;
/// [`mxrs_types::ErrorKind::Attribute`] with the name of a bad parameter; and the errors of opening the files.
pub fn create(name: &str, params: &[(&str, &str)]) -> Result<Box<dyn DataIter>> {
    let records = |owner, fixed| -> Result<Box<dyn DataIter>> {
        Ok(Box::new(ImageRecordIterBuilder::read(params, owner, fixed)?.build_prefetching()?))
    };
    match name {
        "ImageRecordIter" => records("ImageRecordIter", None),
        "ImageRecordUInt8Iter" => records("ImageRecordUInt8Iter", Some(PixelType::U8)),
        "ImageRecordInt8Iter" => records("ImageRecordInt8Iter", Some(PixelType::I8)),
        "ImageDetRecordIter" => {
            Ok(Box::new(ImageRecordIterBuilder::from_detection_params(params)?.build_prefetching()?))
        }
        "ImageIter" | "ImageDetIter" => {
            let expected = "ImageRecordIter, or ImageDetRecordIter; for images with transforms of their own DataLoader \
                            with transform::Transformed";
            Err(Error::invalid("name of an iterator", name, expected))
        }
        "MNISTIter" => Ok(Box::new(MnistIter::from_params(params)?.build()?)),
        "CSVIter" => Ok(Box::new(CsvIter::from_params(params)?.build()?)),
        "LibSVMIter" => Ok(Box::new(LibSvmSettings::from_params(params)?.build()?)),
        _ => {
            let near = |known: &&str| strsim::jaro_winkler(known, name);
            let nearest = NAMES.iter().max_by(|a, b| near(a).total_cmp(&near(b))).unwrap_or(&NAMES[0]);
            let expected = format!("{}; nearest is {nearest}", NAMES.join(", "));
            Err(Error::invalid("name of an iterator", name, expected))
        }
    }
}
