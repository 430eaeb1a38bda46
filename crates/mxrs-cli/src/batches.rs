//! Batches of a record file for training and evaluation, prefetched. Errors name command-line flags instead of iterator
//! parameters.

use crate::exit::{Failure, Outcome};
use mxrs::data::{DataIter, ImageRecordIterBuilder};
use mxrs::types::{Error, ErrorKind};

/// Names and values of the iterator's parameters.
pub type Parameters = Vec<(&'static str, String)>;

/// Names of the iterator's parameters, each with the flag that sets it.
pub const FLAGS: [(&str, &str); 33] = [
    ("data_shape", "--image-shape"),
    ("batch_size", "--batch-size"),
    ("preprocess_threads", "--data-nthreads"),
    ("seed", "--seed"),
    ("seed_aug", "--seed"),
    ("mean_r", "--rgb-mean"),
    ("mean_g", "--rgb-mean"),
    ("mean_b", "--rgb-mean"),
    ("std_r", "--rgb-std"),
    ("std_g", "--rgb-std"),
    ("std_b", "--rgb-std"),
    ("rand_crop", "--random-crop"),
    ("rand_mirror", "--random-mirror"),
    ("random_resized_crop", "--random-resized-crop"),
    ("min_random_area", "--min-random-area"),
    ("max_random_area", "--max-random-area"),
    ("min_aspect_ratio", "--min-random-aspect-ratio"),
    ("max_aspect_ratio", "--max-random-aspect-ratio"),
    ("brightness", "--brightness"),
    ("contrast", "--contrast"),
    ("saturation", "--saturation"),
    ("pca_noise", "--pca-noise"),
    ("random_h", "--max-random-h"),
    ("random_s", "--max-random-s"),
    ("random_l", "--max-random-l"),
    ("max_rotate_angle", "--max-random-rotate-angle"),
    ("max_shear_ratio", "--max-random-shear-ratio"),
    ("min_random_scale", "--min-random-scale"),
    ("max_random_scale", "--max-random-scale"),
    ("min_crop_size", "--min-crop-size"),
    ("max_crop_size", "--max-crop-size"),
    ("pad", "--pad-size"),
    ("fill_value", "--fill-value"),
];

/// The parameter that limits how many bad records may be skipped: 0 if `strict`, otherwise any number.
pub fn max_bad_records(strict: bool) -> (&'static str, String) {
    ("max_bad_records", if strict { 0 } else { u64::MAX }.to_string())
}

/// Opens the record file and returns an iterator over its batches, which are decoded ahead.
///
/// # Errors
/// [`Failure::Usage`] that names the flag if a value is not valid; [`Failure::Input`] if a file is missing or malformed.
pub fn open(parameters: &Parameters) -> Outcome<Box<dyn DataIter>> {
    let parameters: Vec<(&str, &str)> = parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let builder = ImageRecordIterBuilder::from_params(&parameters).map_err(opening)?;
    Ok(Box::new(builder.build_prefetching().map_err(opening)?))
}

/// Logs how many bad records the iterator has skipped.
pub fn tell_bad_records(data: &dyn DataIter) {
    let n = data.n_bad_records();
    if n > 0 {
        tracing::warn!("bad records left out: {n}");
    }
}

/// Converts an error from opening the record file: an invalid parameter value is a usage error that names the flag; everything
/// else is an input error.
fn opening(error: Error) -> Failure {
    let (what, got, expected) = match error.kind() {
        ErrorKind::InvalidValue { what, got, expected } => (what, got, expected),
        ErrorKind::Attribute { name, got, expected, .. } => (name, got, expected),
        ErrorKind::Overflow { .. } => return Failure::Usage(format!("--batch-size, --image-shape: {error}")),
        _ => return Failure::input(error),
    };
    let flags = in_flags(what);
    if flags == *what {
        return Failure::input(error);
    }
    Failure::Usage(format!("{flags}: got {got}, expected {}", in_flags(expected)))
}

/// Replaces names of iterator parameters in the text by their flags.
fn in_flags(text: &str) -> String {
    let is_other = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    let pieces = text.split_inclusive(is_other).map(|piece| {
        let word = piece.trim_end_matches(is_other);
        let flag = FLAGS.iter().find(|(name, _)| *name == word).map_or(word, |(_, flag)| *flag);
        format!("{flag}{}", &piece[word.len()..])
    });
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_in_the_words_of_the_flags() {
        let gray = Error::invalid("random_h or pca_noise", "a gray image", "colors (data_shape of 3 channels)");
        let Failure::Usage(text) = opening(gray) else { panic!("it is bad usage") };
        assert_eq!(
            text,
            "--max-random-h or --pca-noise: got a gray image, expected colors (--image-shape of 3 channels)"
        );
        let area = Error::invalid("min_random_area", 2, "at most max_random_area (1)");
        let Failure::Usage(text) = opening(area) else { panic!("it is bad usage") };
        assert_eq!(text, "--min-random-area: got 2, expected at most --max-random-area (1)");
        assert!(matches!(opening(Error::invalid("entries of the index", 2, "3")), Failure::Input(_)));
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        assert!(matches!(opening(Error::io("x.rec", &missing)), Failure::Input(_)));
    }

    #[test]
    fn a_value_that_is_none_is_told_with_its_flag() {
        for (name, flag) in FLAGS {
            let base = [("path_imgrec", "none.rec"), ("data_shape", "(3,4,4)"), ("batch_size", "1")];
            let others = base.into_iter().filter(|(other, _)| *other != name);
            let parameters: Vec<(&str, &str)> = others.chain([(name, "x")]).collect();
            let read = ImageRecordIterBuilder::from_params(&parameters).map_err(opening);
            let Err(Failure::Usage(text)) = read else { panic!("{name}: x is not bad usage") };
            assert!(text.starts_with(flag), "{text}");
        }
    }
}
