//! The flags of data and augmentation, and the iterator parameters that they set.

use super::kind::Defaults;
use crate::args::{Rgb, image_shape, positive_rgb, rgb, switch};
use crate::batches::Parameters;
use crate::exit::{Failure, Outcome};
use mxrs::types::Shape;
use std::path::PathBuf;

/// Options of the training data and of its augmentation.
#[derive(clap::Args, Clone, Debug)]
pub struct Data {
    /// The training data (.rec)
    #[arg(long, value_name = "FILE")]
    pub data_train: Option<PathBuf>,
    /// The training index data (.idx)
    #[arg(long, value_name = "FILE")]
    pub data_train_idx: Option<PathBuf>,
    /// The validation data (.rec); without it there is no validation
    #[arg(long, value_name = "FILE")]
    pub data_val: Option<PathBuf>,
    /// The validation index data (.idx)
    #[arg(long, value_name = "FILE")]
    pub data_val_idx: Option<PathBuf>,
    /// Mean of red, green and blue, subtracted from the pixel values [default: 123.68,116.779,103.939]
    #[arg(long, value_name = "R,G,B", value_parser = rgb)]
    pub rgb_mean: Option<Rgb>,
    /// Standard deviation of red, green and blue, by which the pixel values are divided [default: 1,1,1]
    #[arg(long, value_name = "R,G,B", value_parser = positive_rgb)]
    pub rgb_std: Option<Rgb>,
    /// Image shape fed into the network [default: imagenet 3,224,224; mnist 1,28,28; cifar10 3,28,28]
    #[arg(long, alias = "image_shape", value_name = "C,H,W", value_parser = image_shape)]
    pub image_shape: Option<Shape>,
    /// Number of classes [default: 1000; mnist and cifar10: 10]
    #[arg(long, value_name = "N")]
    pub num_classes: Option<usize>,
    /// Number of training examples, for the steps of the learning rate; the number of records in the file is used if it is
    /// known
    #[arg(long, value_name = "N")]
    pub num_examples: Option<u64>,
    /// Number of threads for data decoding [default: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub data_nthreads: Option<u16>,
    /// If 1, train on one batch of synthetic data to measure the speed
    #[arg(long, value_name = "0|1", default_value = "0", default_missing_value = "1", num_args = 0..=1, value_parser = switch)]
    pub benchmark: bool,
    /// Stop at the first record that cannot be decoded, instead of counting and skipping it
    #[arg(long)]
    pub strict: bool,
    /// Options of the augmentation.
    #[command(flatten)]
    pub augmentation: Augmentation,
}

/// Options of the augmentation. [`Data::parameters`] fills in the values of flags that are not given.
#[derive(clap::Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Augmentation")]
pub struct Augmentation {
    /// Use the ImageNet values for all augmentation flags that are not given
    #[arg(long, value_name = "0|1", default_value = "0", default_missing_value = "1", num_args = 0..=1, value_parser = switch)]
    pub use_imagenet_data_augmentation: bool,
    /// Randomly crop the image [default: 0]
    #[arg(long, value_name = "0|1", default_missing_value = "1", num_args = 0..=1, value_parser = switch)]
    pub random_crop: Option<bool>,
    /// Randomly flip the image horizontally [default: 0]
    #[arg(long, value_name = "0|1", default_missing_value = "1", num_args = 0..=1, value_parser = switch)]
    pub random_mirror: Option<bool>,
    /// Crop a random area with a random aspect ratio, and resize it to the image shape [default: 0]
    #[arg(long, value_name = "0|1", default_missing_value = "1", num_args = 0..=1, value_parser = switch)]
    pub random_resized_crop: Option<bool>,
    /// Minimum ratio of the randomly cropped area to the whole image [default: 1]
    #[arg(long, value_name = "X")]
    pub min_random_area: Option<f32>,
    /// Maximum ratio of the randomly cropped area to the whole image [default: 1]
    #[arg(long, value_name = "X")]
    pub max_random_area: Option<f32>,
    /// Minimum aspect ratio of the crop [default: none]
    #[arg(long, value_name = "X")]
    pub min_random_aspect_ratio: Option<f32>,
    /// Maximum aspect ratio of the crop; without a minimum, the maximum change of the aspect ratio [default: 0]
    #[arg(long, value_name = "X")]
    pub max_random_aspect_ratio: Option<f32>,
    /// Maximum change of brightness, as a ratio [default: 0]
    #[arg(long, value_name = "X")]
    pub brightness: Option<f32>,
    /// Maximum change of contrast, as a ratio [default: 0]
    #[arg(long, value_name = "X")]
    pub contrast: Option<f32>,
    /// Maximum change of saturation, as a ratio [default: 0]
    #[arg(long, value_name = "X")]
    pub saturation: Option<f32>,
    /// Standard deviation of the PCA noise added to the colors [default: 0]
    #[arg(long, value_name = "X")]
    pub pca_noise: Option<f32>,
    /// Maximum change of hue, in the range 0 to 180 [default: 0]
    #[arg(long, value_name = "N")]
    pub max_random_h: Option<i32>,
    /// Maximum change of saturation in HSL, in the range 0 to 255 [default: 0]
    #[arg(long, value_name = "N")]
    pub max_random_s: Option<i32>,
    /// Maximum change of lightness in HSL, in the range 0 to 255 [default: 0]
    #[arg(long, value_name = "N")]
    pub max_random_l: Option<i32>,
    /// Maximum angle of rotation, in degrees [default: 0]
    #[arg(long, value_name = "N")]
    pub max_random_rotate_angle: Option<i32>,
    /// Maximum ratio of shearing [default: 0]
    #[arg(long, value_name = "X")]
    pub max_random_shear_ratio: Option<f32>,
    /// Minimum ratio of scaling [default: 1]
    #[arg(long, value_name = "X")]
    pub min_random_scale: Option<f32>,
    /// Maximum ratio of scaling [default: 1]
    #[arg(long, value_name = "X")]
    pub max_random_scale: Option<f32>,
    /// Minimum edge of a random crop in pixels; -1 means no limit [default: -1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub min_crop_size: Option<i32>,
    /// Maximum edge of a random crop in pixels; -1 means no limit [default: -1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub max_crop_size: Option<i32>,
    /// Number of pixels to pad at each edge before the crop [default: 0; cifar10: 4]
    #[arg(long, value_name = "N")]
    pub pad_size: Option<usize>,
    /// Value of the padding pixels [default: 127]
    #[arg(long, value_name = "N")]
    pub fill_value: Option<u8>,
}

/// Values of `--use-imagenet-data-augmentation`, by the names of the iterator's parameters.
const IMAGENET: [(&str, &str); 11] = [
    ("rand_crop", "0"),
    ("rand_mirror", "1"),
    ("random_resized_crop", "1"),
    ("min_random_area", "0.08"),
    ("max_random_area", "1"),
    ("min_aspect_ratio", "0.75"),
    ("max_aspect_ratio", "1.3333333333333333"),
    ("brightness", "0.4"),
    ("contrast", "0.4"),
    ("saturation", "0.4"),
    ("pca_noise", "0.1"),
];
/// ImageNet's mean of each color, used for all data if `--rgb-mean` is not given.
const IMAGENET_MEAN: Rgb = Rgb([123.68, 116.779, 103.939]);
/// ImageNet's standard deviation of each color, used with `--use-imagenet-data-augmentation`.
const IMAGENET_STD: Rgb = Rgb([58.393, 57.12, 57.375]);

impl Data {
    /// The standard deviation of each color, by which pixels are divided.
    pub fn std(&self) -> Rgb {
        let of_set = if self.augmentation.use_imagenet_data_augmentation { IMAGENET_STD } else { Rgb([1.0; 3]) };
        self.rgb_std.unwrap_or(of_set)
    }

    /// Refuses flags that select, decode, normalize or augment records: `train mnist` always reads the same four files
    /// without decoding.
    ///
    /// # Errors
    /// [`Failure::Usage`] that names the first of these flags that is given.
    pub fn refuse_records(&self) -> Outcome {
        let flags = [
            ("--data-train", self.data_train.is_some()),
            ("--data-train-idx", self.data_train_idx.is_some()),
            ("--data-val", self.data_val.is_some()),
            ("--data-val-idx", self.data_val_idx.is_some()),
            ("--rgb-mean", self.rgb_mean.is_some()),
            ("--rgb-std", self.rgb_std.is_some()),
            ("--data-nthreads", self.data_nthreads.is_some()),
            ("--strict", self.strict),
        ];
        if let Some((flag, _)) = flags.iter().find(|(_, is_given)| *is_given) {
            return Err(Failure::Usage(format!(
                "{flag}: `train mnist` reads the four files of MNIST in the folder data, as they are; leave the flag out"
            )));
        }
        if self.augmentation != Augmentation::default() {
            return Err(Failure::Usage("`train mnist` has no augmentation; leave its flags out".into()));
        }
        Ok(())
    }

    /// Iterator parameters that normalize pixels in training and validation.
    pub fn normalization(&self) -> Parameters {
        let (mean, std) = (self.rgb_mean.unwrap_or(IMAGENET_MEAN).0, self.std().0);
        let names = ["mean_r", "mean_g", "mean_b", "std_r", "std_g", "std_b"];
        names.into_iter().zip(mean.into_iter().chain(std)).map(|(name, value)| (name, value.to_string())).collect()
    }

    /// Iterator parameters that augment training images: only those that differ from the iterator's defaults or were given.
    pub fn parameters(&self, defaults: &Defaults) -> Parameters {
        let mut parameters = Parameters::new();
        let a = &self.augmentation;
        if a.use_imagenet_data_augmentation {
            parameters.extend(IMAGENET.map(|(name, value)| (name, value.to_owned())));
        }
        let mut set = |name: &'static str, value: Option<String>| {
            let Some(value) = value else { return };
            parameters.retain(|(other, _)| *other != name);
            parameters.push((name, value));
        };
        let bit = |value: Option<bool>| value.map(|on| u8::from(on).to_string());
        let number = |value: Option<f32>| value.map(|x| x.to_string());
        let whole = |value: Option<i32>| value.map(|x| x.to_string());
        set("rand_crop", bit(a.random_crop));
        set("rand_mirror", bit(a.random_mirror));
        set("random_resized_crop", bit(a.random_resized_crop));
        set("min_random_area", number(a.min_random_area));
        set("max_random_area", number(a.max_random_area));
        set("min_aspect_ratio", number(a.min_random_aspect_ratio));
        set("max_aspect_ratio", number(a.max_random_aspect_ratio));
        set("brightness", number(a.brightness));
        set("contrast", number(a.contrast));
        set("saturation", number(a.saturation));
        set("pca_noise", number(a.pca_noise));
        set("random_h", whole(a.max_random_h));
        set("random_s", whole(a.max_random_s));
        set("random_l", whole(a.max_random_l));
        set("max_rotate_angle", whole(a.max_random_rotate_angle));
        set("max_shear_ratio", number(a.max_random_shear_ratio));
        set("min_random_scale", number(a.min_random_scale));
        set("max_random_scale", number(a.max_random_scale));
        set("min_crop_size", whole(a.min_crop_size));
        set("max_crop_size", whole(a.max_crop_size));
        set("pad", Some(a.pad_size.unwrap_or(defaults.pad_size).to_string()));
        set("fill_value", Some(a.fill_value.unwrap_or(127).to_string()));
        parameters
    }
}

#[cfg(test)]
mod tests {
    use super::super::kind::Kind;
    use super::*;
    use crate::batches::FLAGS;
    use clap::{CommandFactory, Parser};

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        data: Data,
    }

    /// If a parameter had no flag, an invalid value would be reported as an error of the record file.
    #[test]
    fn every_parameter_has_its_flag() {
        let command = Line::command();
        let of_augmentation = command.get_arguments().filter(|arg| arg.get_help_heading() == Some("Augmentation"));
        let flags: Vec<&str> = of_augmentation.filter_map(|arg| arg.get_long()).collect();
        let given = flags.iter().map(|flag| format!("--{flag}=1"));
        let data = Line::parse_from(std::iter::once("train".to_owned()).chain(given)).data;
        let parameters = data.parameters(&Kind::Imagenet.defaults());
        // `--use-imagenet-data-augmentation` sets several parameters and has none itself.
        assert_eq!(parameters.len(), flags.len() - 1, "{flags:?} {parameters:?}");
        for (name, _) in parameters.into_iter().chain(data.normalization()) {
            let flag = FLAGS.iter().find(|(known, _)| *known == name).map(|(_, flag)| *flag);
            let flag = flag.unwrap_or_else(|| panic!("no flag is known for {name}"));
            let is_flag = |arg: &clap::Arg| arg.get_long().is_some_and(|long| flag == format!("--{long}"));
            assert!(command.get_arguments().any(is_flag), "there is no {flag}");
        }
    }
}
