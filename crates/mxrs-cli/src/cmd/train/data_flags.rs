//! The flags of data and augmentation, and the parameters of the record iterator they become.

use super::kind::Defaults;
use crate::args::{Rgb, image_shape, positive_rgb, rgb, switch};
use crate::batches::Parameters;
use crate::exit::{Failure, Outcome};
use mxrs::types::Shape;
use std::path::PathBuf;

/// Where examples come from, and what is done to them.
#[derive(clap::Args, Clone, Debug)]
pub struct Data {
    /// Record file to train on
    #[arg(long, value_name = "FILE")]
    pub data_train: Option<PathBuf>,
    /// Its index
    #[arg(long, value_name = "FILE")]
    pub data_train_idx: Option<PathBuf>,
    /// Record file to validate with; no validation without
    #[arg(long, value_name = "FILE")]
    pub data_val: Option<PathBuf>,
    /// Its index
    #[arg(long, value_name = "FILE")]
    pub data_val_idx: Option<PathBuf>,
    /// Mean of red, green and blue, in pixel values [default: 123.68,116.779,103.939]
    #[arg(long, value_name = "R,G,B", value_parser = rgb)]
    pub rgb_mean: Option<Rgb>,
    /// Divisor of red, green and blue [default: 1,1,1]
    #[arg(long, value_name = "R,G,B", value_parser = positive_rgb)]
    pub rgb_std: Option<Rgb>,
    /// Shape of an image that the network takes [default: imagenet 3,224,224; mnist 1,28,28; cifar10 3,28,28]
    #[arg(long, alias = "image_shape", value_name = "C,H,W", value_parser = image_shape)]
    pub image_shape: Option<Shape>,
    /// Classes [default: 1000; mnist and cifar10: 10]
    #[arg(long, value_name = "N")]
    pub num_classes: Option<usize>,
    /// Examples of an epoch, for the learning rate's steps; counted in the record file where it is not given or differs
    #[arg(long, value_name = "N")]
    pub num_examples: Option<u64>,
    /// Threads that decode [default: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub data_nthreads: Option<u16>,
    /// Train on one synthetic batch, to see how fast that is
    #[arg(long, value_name = "0|1", default_value = "0", default_missing_value = "1", num_args = 0..=1, value_parser = switch)]
    pub benchmark: bool,
    /// Stop at the first record that cannot be decoded, instead of counting and skipping it
    #[arg(long)]
    pub strict: bool,
    /// How images are varied.
    #[command(flatten)]
    pub augmentation: Augmentation,
}

/// How images are varied. Flags that are not given have the value of [`Data::parameters`].
#[derive(clap::Args, Clone, Debug, Default, PartialEq)]
#[command(next_help_heading = "Augmentation")]
pub struct Augmentation {
    /// The set of values used for ImageNet, where a flag does not say otherwise
    #[arg(long, value_name = "0|1", default_value = "0", default_missing_value = "1", num_args = 0..=1, value_parser = switch)]
    pub use_imagenet_data_augmentation: bool,
    /// Crop at a random place [default: 0]
    #[arg(long, value_name = "0|1", default_missing_value = "1", num_args = 0..=1, value_parser = switch)]
    pub random_crop: Option<bool>,
    /// Mirror every other image [default: 0]
    #[arg(long, value_name = "0|1", default_missing_value = "1", num_args = 0..=1, value_parser = switch)]
    pub random_mirror: Option<bool>,
    /// Crop a random area of random aspect, resized [default: 0]
    #[arg(long, value_name = "0|1", default_missing_value = "1", num_args = 0..=1, value_parser = switch)]
    pub random_resized_crop: Option<bool>,
    /// Least share of the area [default: 1]
    #[arg(long, value_name = "X")]
    pub min_random_area: Option<f32>,
    /// Largest share of the area [default: 1]
    #[arg(long, value_name = "X")]
    pub max_random_area: Option<f32>,
    /// Least aspect ratio [default: none]
    #[arg(long, value_name = "X")]
    pub min_random_aspect_ratio: Option<f32>,
    /// Largest aspect ratio, or change of it without a least one [default: 0]
    #[arg(long, value_name = "X")]
    pub max_random_aspect_ratio: Option<f32>,
    /// Change of brightness [default: 0]
    #[arg(long, value_name = "X")]
    pub brightness: Option<f32>,
    /// Change of contrast [default: 0]
    #[arg(long, value_name = "X")]
    pub contrast: Option<f32>,
    /// Change of saturation [default: 0]
    #[arg(long, value_name = "X")]
    pub saturation: Option<f32>,
    /// Deviation of the noise along the colors' principal components [default: 0]
    #[arg(long, value_name = "X")]
    pub pca_noise: Option<f32>,
    /// Change of hue, 0 to 180 [default: 0]
    #[arg(long, value_name = "N")]
    pub max_random_h: Option<i32>,
    /// Change of saturation, 0 to 255 [default: 0]
    #[arg(long, value_name = "N")]
    pub max_random_s: Option<i32>,
    /// Change of lightness, 0 to 255 [default: 0]
    #[arg(long, value_name = "N")]
    pub max_random_l: Option<i32>,
    /// Largest angle of a rotation, in degrees [default: 0]
    #[arg(long, value_name = "N")]
    pub max_random_rotate_angle: Option<i32>,
    /// Largest ratio of shearing [default: 0]
    #[arg(long, value_name = "X")]
    pub max_random_shear_ratio: Option<f32>,
    /// Least scale [default: 1]
    #[arg(long, value_name = "X")]
    pub min_random_scale: Option<f32>,
    /// Largest scale [default: 1]
    #[arg(long, value_name = "X")]
    pub max_random_scale: Option<f32>,
    /// Least edge of a random crop; -1 is none [default: -1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub min_crop_size: Option<i32>,
    /// Largest edge of a random crop; -1 is none [default: -1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub max_crop_size: Option<i32>,
    /// Pixels added at each edge before the crop [default: 0; cifar10: 4]
    #[arg(long, value_name = "N")]
    pub pad_size: Option<usize>,
    /// Value of the pixels added [default: 127]
    #[arg(long, value_name = "N")]
    pub fill_value: Option<u8>,
}

/// Values of the ImageNet set, by the names of the iterator's parameters.
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
/// The mean of each color in that set, which is taken for all.
const IMAGENET_MEAN: Rgb = Rgb([123.68, 116.779, 103.939]);
/// The divisor of each color in that set.
const IMAGENET_STD: Rgb = Rgb([58.393, 57.12, 57.375]);

impl Data {
    /// The divisor of each color.
    pub fn std(&self) -> Rgb {
        let of_set = if self.augmentation.use_imagenet_data_augmentation { IMAGENET_STD } else { Rgb([1.0; 3]) };
        self.rgb_std.unwrap_or(of_set)
    }

    /// Refuses what says which records are read, how they are decoded, normalized and varied: MNIST's files are always the same
    /// four, of plain pixels.
    ///
    /// # Errors
    /// [`Failure::Usage`] naming the first such flag.
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

    /// What normalizes pixels, in training and in validation.
    pub fn normalization(&self) -> Parameters {
        let (mean, std) = (self.rgb_mean.unwrap_or(IMAGENET_MEAN).0, self.std().0);
        let names = ["mean_r", "mean_g", "mean_b", "std_r", "std_g", "std_b"];
        names.into_iter().zip(mean.into_iter().chain(std)).map(|(name, value)| (name, value.to_string())).collect()
    }

    /// What varies images in training: only what differs from the iterator's own values, and what was asked for.
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

    /// A parameter that no flag stands for would have its error taken for the file's.
    #[test]
    fn every_parameter_has_its_flag() {
        let command = Line::command();
        let of_augmentation = command.get_arguments().filter(|arg| arg.get_help_heading() == Some("Augmentation"));
        let flags: Vec<&str> = of_augmentation.filter_map(|arg| arg.get_long()).collect();
        let given = flags.iter().map(|flag| format!("--{flag}=1"));
        let data = Line::parse_from(std::iter::once("train".to_owned()).chain(given)).data;
        let parameters = data.parameters(&Kind::Imagenet.defaults());
        // One flag stands for a set of the others.
        assert_eq!(parameters.len(), flags.len() - 1, "{flags:?} {parameters:?}");
        for (name, _) in parameters.into_iter().chain(data.normalization()) {
            let flag = FLAGS.iter().find(|(known, _)| *known == name).map(|(_, flag)| *flag);
            let flag = flag.unwrap_or_else(|| panic!("no flag is known for {name}"));
            let is_flag = |arg: &clap::Arg| arg.get_long().is_some_and(|long| flag == format!("--{long}"));
            assert!(command.get_arguments().any(is_flag), "there is no {flag}");
        }
    }
}
