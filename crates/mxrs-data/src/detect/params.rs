//! Reads the augmentation of images with objects from MXNet's parameters.

use super::{CropEmit, CropSampler, DetectAugment, DetectResize, RandomShift};
use crate::InterMethod;
use crate::param_map::ParamMap;
use mxrs_types::{Error, Result};
use std::str::FromStr;

/// Parameters of `ImageDetRecordIter` in addition to those of all record iterators.
pub(crate) const NAMES: &[&str] = &[
    "label_pad_width",
    "label_pad_value",
    "rand_crop_prob",
    "min_crop_scales",
    "max_crop_scales",
    "min_crop_aspect_ratios",
    "max_crop_aspect_ratios",
    "min_crop_overlaps",
    "max_crop_overlaps",
    "min_crop_sample_coverages",
    "max_crop_sample_coverages",
    "min_crop_object_coverages",
    "max_crop_object_coverages",
    "num_crop_sampler",
    "crop_emit_mode",
    "emit_overlap_thresh",
    "max_crop_trials",
    "rand_pad_prob",
    "max_pad_scale",
    "max_random_hue",
    "random_hue_prob",
    "max_random_saturation",
    "random_saturation_prob",
    "max_random_illumination",
    "random_illumination_prob",
    "max_random_contrast",
    "random_contrast_prob",
    "rand_mirror_prob",
    "fill_value",
    "inter_method",
    "resize_mode",
];

/// Reads the augmentation from the parameters.
pub(crate) fn read_augment(map: &ParamMap<'_>) -> Result<DetectAugment> {
    let default = DetectAugment::default();
    let shift = |name: &str| {
        let most = map.number(&format!("max_random_{name}"))?.unwrap_or(0.0);
        let probability = map.number(&format!("random_{name}_prob"))?.unwrap_or(0.0);
        Ok::<_, Error>(RandomShift { most, probability })
    };
    let probability = |name: &str| Ok::<f64, Error>(map.number(name)?.unwrap_or(0.0));
    let emit = match map.text("crop_emit_mode") {
        None | Some("center") => CropEmit::Center,
        Some("overlap") => CropEmit::Overlap(map.number("emit_overlap_thresh")?.unwrap_or(0.3)),
        Some(_) => return Err(map.wrong("crop_emit_mode", "center or overlap")),
    };
    let mode = match map.text("resize_mode") {
        None | Some("force") => DetectResize::Force,
        Some("shrink") => DetectResize::Shrink,
        Some("fit") => DetectResize::Fit,
        Some(_) => return Err(map.wrong("resize_mode", "force, shrink or fit")),
    };
    // A probability below 0 means 0; NaN stays NaN, which the check refuses.
    let rand_crop_prob = probability("rand_crop_prob")?;
    let rand_crop_prob = if rand_crop_prob < 0.0 { 0.0 } else { rand_crop_prob };
    let method = InterMethod::from_number(map.number("inter_method")?.unwrap_or(1));
    Ok(DetectAugment {
        hue: shift("hue")?,
        saturation: shift("saturation")?,
        illumination: shift("illumination")?,
        contrast: shift("contrast")?,
        rand_mirror_prob: probability("rand_mirror_prob")?,
        rand_pad_prob: probability("rand_pad_prob")?,
        max_pad_scale: map.number("max_pad_scale")?.unwrap_or(default.max_pad_scale),
        rand_crop_prob,
        crop_samplers: samplers(map)?,
        crop_emit: emit,
        resize_mode: mode,
        fill_value: map.number("fill_value")?.unwrap_or(default.fill_value),
        inter_method: method.map_err(|_| map.wrong("inter_method", InterMethod::NUMBERS))?,
    })
}

/// Creates `num_crop_sampler` samplers. A list of values has one value per sampler, or one for all.
fn samplers(map: &ParamMap<'_>) -> Result<Vec<CropSampler>> {
    let n = map.number::<i64>("num_crop_sampler")?.unwrap_or(1).max(0) as usize;
    if n > 1 << 16 {
        return Err(map.wrong("num_crop_sampler", "at most 65536"));
    }
    let mut all = vec![CropSampler::default(); n];
    let ends = |name: String| values::<f32>(map, &name, n, "numbers, such as (0.1, 0.3)");
    type Field = fn(&mut CropSampler) -> &mut (f32, f32);
    let fields: [(&str, Field); 5] = [
        ("scales", |sampler| &mut sampler.scales),
        ("aspect_ratios", |sampler| &mut sampler.aspect_ratios),
        ("overlaps", |sampler| &mut sampler.overlaps),
        ("sample_coverages", |sampler| &mut sampler.sample_coverages),
        ("object_coverages", |sampler| &mut sampler.object_coverages),
    ];
    for (name, field) in fields {
        for (i, value) in ends(format!("min_crop_{name}"))?.into_iter().enumerate() {
            field(&mut all[i]).0 = value;
        }
        for (i, value) in ends(format!("max_crop_{name}"))?.into_iter().enumerate() {
            field(&mut all[i]).1 = value;
        }
    }
    let trials = values::<usize>(map, "max_crop_trials", n, "whole numbers of at least 0, such as (10, 30)")?;
    for (i, value) in trials.into_iter().enumerate() {
        all[i].max_trials = value;
    }
    Ok(all)
}

/// The values of a list parameter, one for each of `n` samplers; empty if the parameter is absent.
fn values<T: FromStr + Copy>(map: &ParamMap<'_>, name: &str, n: usize, expected: &str) -> Result<Vec<T>> {
    let Some(values) = map.list::<T>(name, expected)? else { return Ok(Vec::new()) };
    match values.len() {
        1 => Ok(values.repeat(n)),
        len if len == n => Ok(values),
        _ => Err(map.wrong(name, format!("1 value, or {n} as num_crop_sampler says"))),
    }
}
