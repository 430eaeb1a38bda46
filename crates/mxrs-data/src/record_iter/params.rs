//! Reads the settings of a record iterator from MXNet's parameters.

use super::ImageRecordIterBuilder;
use crate::detect::{self, Detection};
use crate::param_map::ParamMap;
use crate::{Augment, InterMethod, PixelType};
use mxrs_types::{Error, Result};

/// Parameters of both `ImageRecordIter` and `ImageDetRecordIter`.
const SHARED: &[&str] = &[
    "path_imgrec",
    "path_imglist",
    "path_imgidx",
    "aug_seq",
    "label_width",
    "data_shape",
    "preprocess_threads",
    "verbose",
    "num_parts",
    "part_index",
    "shuffle_chunk_size",
    "shuffle_chunk_seed",
    "seed_aug",
    "shuffle",
    "seed",
    "batch_size",
    "round_batch",
    "prefetch_buffer",
    "ctx",
    "dtype",
    "resize",
    "mean_img",
    "mean_r",
    "mean_g",
    "mean_b",
    "mean_a",
    "std_r",
    "std_g",
    "std_b",
    "std_a",
    "scale",
    "max_bad_records",
    "data_name",
    "label_name",
];

/// Parameters of `ImageRecordIter` in addition to the shared ones.
const AUGMENT: &[&str] = &[
    "device_id",
    "rand_crop",
    "random_resized_crop",
    "max_rotate_angle",
    "max_aspect_ratio",
    "min_aspect_ratio",
    "max_shear_ratio",
    "max_crop_size",
    "min_crop_size",
    "max_random_scale",
    "min_random_scale",
    "max_random_area",
    "min_random_area",
    "max_img_size",
    "min_img_size",
    "brightness",
    "contrast",
    "saturation",
    "pca_noise",
    "random_h",
    "random_s",
    "random_l",
    "rotate",
    "rotate_list",
    "fill_value",
    "inter_method",
    "pad",
    "mirror",
    "rand_mirror",
    "max_random_contrast",
    "max_random_illumination",
];

impl ImageRecordIterBuilder {
    /// Reads the parameters of MXNet's `ImageRecordIter`, given as text: `("data_shape", "(3, 224, 224)")`, `("shuffle",
    /// "1")`.
    ///
    /// `path_imgrec`, `data_shape` and `batch_size` are required. `verbose`, `device_id` and `ctx` are accepted and have no
    /// effect; `aug_seq` can only be `aug_default`. `max_bad_records`, `data_name` and `label_name` are accepted in addition
    /// to MXNet's parameters.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::Attribute`] with the name of the parameter: for an unknown name, with the most
    /// similar valid one; for a missing required parameter; and for a value that cannot be parsed. Values that contradict
    /// each other are reported by [`Self::build`].
    pub fn from_params(params: &[(&str, &str)]) -> Result<Self> {
        Self::read(params, "ImageRecordIter", None)
    }

    /// Reads the parameters of `ImageRecordIter`, `ImageRecordUInt8Iter` or `ImageRecordInt8Iter`; for the last two, `fixed`
    /// is the element type.
    pub(crate) fn read(params: &[(&str, &str)], owner: &'static str, fixed: Option<PixelType>) -> Result<Self> {
        let map = ParamMap::new(owner, params, &[SHARED, AUGMENT])?;
        let mut builder = Self::of_required(&map)?;
        builder.read_source(&map, "aug_default")?;
        builder.label_width = map.number("label_width")?;
        builder.read_numbers(&map, fixed)?;
        builder.augment = read_augment(&map)?;
        Ok(builder)
    }

    /// Reads the parameters of MXNet's `ImageDetRecordIter`, like [`Self::from_params`]. `aug_seq` can only be
    /// `det_aug_default`. A `std` of 0 means 1, and a `rand_crop_prob` below 0 means 0.
    ///
    /// # Errors
    /// Returns the errors of [`Self::from_params`].
    pub fn from_detection_params(params: &[(&str, &str)]) -> Result<Self> {
        let map = ParamMap::new("ImageDetRecordIter", params, &[SHARED, detect::NAMES])?;
        let mut builder = Self::of_required(&map)?;
        builder.read_source(&map, "det_aug_default")?;
        builder.read_numbers(&map, None)?;
        builder.image.std = builder.image.std.map(|std| if std > 0.0 { std } else { 1.0 });
        // The values 0 and -1 mean that no width is set.
        let width = |name: &str| match map.number::<i64>(name)? {
            None | Some(0 | -1) => Ok(None),
            Some(width) => usize::try_from(width).map(Some).map_err(|_| map.wrong(name, "a width, 0 or -1")),
        };
        builder.label_width = width("label_width")?;
        builder.detection = Some(Detection {
            augment: detect::read_augment(&map)?,
            pad_width: width("label_pad_width")?,
            pad_value: map.number("label_pad_value")?.unwrap_or(-1.0),
        });
        Ok(builder)
    }

    /// Creates a builder from the required parameters.
    fn of_required(map: &ParamMap<'_>) -> Result<Self> {
        map.required("path_imgrec")?;
        map.required("batch_size")?;
        map.required("data_shape")?;
        let shape = map.sizes("data_shape")?.unwrap_or_default();
        let Ok(data_shape) = <[usize; 3]>::try_from(shape) else {
            return Err(map.wrong("data_shape", "three sizes: channels, height, width"));
        };
        let batch_size = map.number("batch_size")?.unwrap_or(0);
        Ok(Self::new(map.required("path_imgrec")?.into(), data_shape, batch_size))
    }

    fn read_source(&mut self, map: &ParamMap<'_>, aug_seq: &str) -> Result<()> {
        self.path_imglist = map.text("path_imglist").map(Into::into);
        self.path_imgidx = map.text("path_imgidx").map(Into::into);
        if map.text("aug_seq").is_some_and(|seq| seq != aug_seq) {
            return Err(map.wrong("aug_seq", aug_seq));
        }
        self.preprocess_threads = map.number("preprocess_threads")?.unwrap_or(self.preprocess_threads);
        self.num_parts = map.number("num_parts")?.unwrap_or(1);
        self.part_index = map.number("part_index")?.unwrap_or(0);
        self.round_batch = map.flag("round_batch", true)?;
        self.prefetch_buffer = map.number("prefetch_buffer")?.unwrap_or(self.prefetch_buffer);
        self.max_bad_records = map.number("max_bad_records")?.unwrap_or(0);
        // Seeds may be negative; their bit pattern is used.
        let seed = |name: &str| Ok::<u64, Error>(map.number::<i64>(name)?.unwrap_or(0) as u64);
        self.shuffle.seed = map.flag("shuffle", false)?.then_some(seed("seed")?);
        self.seed_aug = seed("seed_aug")?;
        let chunk = map.number::<u64>("shuffle_chunk_size")?.unwrap_or(0);
        if chunk > 0 && !(4..=4096).contains(&chunk) {
            return Err(map.wrong("shuffle_chunk_size", "4 to 4096 MB, or 0"));
        }
        *self = self.clone().shuffle_chunks(chunk, seed("shuffle_chunk_seed")?);
        map.flag("verbose", true)?;
        map.number::<i64>("device_id")?;
        if map.text("ctx").is_some_and(|ctx| !["cpu", "gpu", "cpu_pinned"].contains(&ctx)) {
            return Err(map.wrong("ctx", "cpu, gpu or cpu_pinned"));
        }
        self.data_name = map.text("data_name").unwrap_or(&self.data_name).into();
        self.label_name = map.text("label_name").unwrap_or(&self.label_name).into();
        Ok(())
    }

    fn read_numbers(&mut self, map: &ParamMap<'_>, fixed: Option<PixelType>) -> Result<()> {
        let pixel_type = match map.text("dtype") {
            Some(name) => Some(PixelType::from_name(name).map_err(|_| map.wrong("dtype", "float32, uint8 or int8"))?),
            None => None,
        };
        if let (Some(fixed), Some(given)) = (fixed, pixel_type)
            && fixed != given
        {
            return Err(map.wrong("dtype", format!("{}, the type of this iterator", fixed.dtype())));
        }
        self.pixel_type = fixed.or(pixel_type).unwrap_or_default();
        self.image.resize = match map.number::<i64>("resize")? {
            None | Some(-1) => None,
            Some(edge) => Some(usize::try_from(edge).map_err(|_| map.wrong("resize", "a length, or -1"))?),
        };
        self.image.scale = map.number("scale")?.unwrap_or(1.0);
        for (i, channel) in ["r", "g", "b", "a"].iter().enumerate() {
            self.image.mean[i] = map.number(&format!("mean_{channel}"))?.unwrap_or(0.0);
            self.image.std[i] = map.number(&format!("std_{channel}"))?.unwrap_or(1.0);
        }
        self.mean_img = map.text("mean_img").map(Into::into);
        Ok(())
    }
}

fn read_augment(map: &ParamMap<'_>) -> Result<Augment> {
    let default = Augment::default();
    let real = |name: &str, value: f32| Ok::<f32, Error>(map.number(name)?.unwrap_or(value));
    // Reads an integer, which scripts may write as 10 or 10.0.
    let whole = |name: &str| {
        let value = map.number::<f64>(name)?.unwrap_or(0.0);
        let fits = value.fract() == 0.0 && (-1.0..=f64::from(u32::MAX)).contains(&value);
        // Scripts may write -1 for "off", which is 0.
        if fits { Ok(value.max(0.0) as u32) } else { Err(map.wrong(name, "a whole number of at least 0")) }
    };
    let size = |name: &str| match map.number::<i64>(name)? {
        None | Some(-1) => Ok(None),
        Some(size) => usize::try_from(size).map(Some).map_err(|_| map.wrong(name, "a size, or -1")),
    };
    let angles = map.text("rotate_list").unwrap_or("").trim_matches(['(', ')', '[', ']']).split(',');
    let angles = angles.map(str::trim).filter(|angle| !angle.is_empty()).map(str::parse);
    let rotate_list = angles.collect::<std::result::Result<_, _>>();
    let method = map.number("inter_method")?.unwrap_or(1);
    Ok(Augment {
        inter_method: InterMethod::from_number(method).map_err(|_| map.wrong("inter_method", InterMethod::NUMBERS))?,
        rand_crop: map.flag("rand_crop", false)?,
        random_resized_crop: map.flag("random_resized_crop", false)?,
        max_rotate_angle: whole("max_rotate_angle")?,
        rotate: whole("rotate")?,
        rotate_list: rotate_list.map_err(|_| map.wrong("rotate_list", "whole numbers of degrees"))?,
        max_aspect_ratio: real("max_aspect_ratio", default.max_aspect_ratio)?,
        min_aspect_ratio: map.number("min_aspect_ratio")?,
        max_shear_ratio: real("max_shear_ratio", default.max_shear_ratio)?,
        max_crop_size: size("max_crop_size")?,
        min_crop_size: size("min_crop_size")?,
        max_random_scale: real("max_random_scale", default.max_random_scale)?,
        min_random_scale: real("min_random_scale", default.min_random_scale)?,
        max_random_area: real("max_random_area", default.max_random_area)?,
        min_random_area: real("min_random_area", default.min_random_area)?,
        max_img_size: real("max_img_size", default.max_img_size)?,
        min_img_size: real("min_img_size", default.min_img_size)?,
        brightness: real("brightness", default.brightness)?,
        contrast: real("contrast", default.contrast)?,
        saturation: real("saturation", default.saturation)?,
        pca_noise: real("pca_noise", default.pca_noise)?,
        random_h: whole("random_h")?,
        random_s: whole("random_s")?,
        random_l: whole("random_l")?,
        fill_value: map.number("fill_value")?.unwrap_or(default.fill_value),
        pad: map.number("pad")?.unwrap_or(default.pad),
        mirror: map.flag("mirror", false)?,
        rand_mirror: map.flag("rand_mirror", false)?,
        max_random_contrast: real("max_random_contrast", default.max_random_contrast)?,
        max_random_illumination: real("max_random_illumination", default.max_random_illumination)?,
    })
}
