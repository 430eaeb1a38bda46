//! Samples of batch normalization and of its gradient.

use mxrs_op::{Fill, Sample};

pub(super) fn backward_samples() -> Vec<Sample> {
    let of = |name, attrs: &[(&str, &str)], data: &[usize], channels: usize, is_train| {
        let c: &[usize] = &[channels];
        let attrs = attrs.iter().copied().collect();
        let sample = Sample { attrs, is_train, ..Sample::plain(name, &[data, data, c, c, c]) };
        sample.fill(2, Fill::Uniform(0.5, 2.0)).fill(3, Fill::Uniform(-0.1, 0.1)).fill(4, Fill::Uniform(1.0, 2.0))
    };
    let free = [("fix_gamma", "False")];
    vec![
        of("training", &free, &[4, 3, 5, 5], 3, true),
        of("training_sixteen", &free, &[2, 16, 5, 5], 16, true),
        of("training_fixed_gamma", &[("eps", "2e-05")], &[2, 5, 6, 7], 5, true),
        of("training_global", &[("use_global_stats", "True"), ("fix_gamma", "False")], &[2, 3, 4, 4], 3, true),
        of("inference", &free, &[2, 3, 4, 4], 3, false),
        of("matrix", &free, &[4, 7], 7, true),
        of("last_axis", &[("axis", "-1"), ("fix_gamma", "False")], &[2, 4, 5, 6], 6, true),
        of("no_images", &free, &[0, 3, 4, 4], 3, true),
        of("one_element", &free, &[1, 1, 1, 1], 1, true),
    ]
}

pub(crate) fn sample<const N: usize>(
    name: &'static str,
    attrs: [(&str, &str); N],
    data: &[usize],
    channels: usize,
) -> Sample {
    let c: &[usize] = &[channels];
    Sample::new(name, attrs, &[data, c, c, c, c]).fill(1, Fill::Uniform(0.5, 2.0)).fill(4, Fill::Uniform(0.1, 2.0))
}

pub(super) fn samples() -> Vec<Sample> {
    let free = [("fix_gamma", "False")];
    vec![
        sample("fixed_gamma", [("eps", "2e-05")], &[2, 5, 6, 7], 5),
        sample("free_gamma", free, &[2, 16, 5, 5], 16),
        sample("matrix", free, &[4, 7], 7),
        sample("three_axes", free, &[2, 3, 5], 3),
        sample("five_axes", free, &[1, 3, 2, 4, 5], 3),
        sample("last_axis", [("axis", "-1"), ("fix_gamma", "False")], &[2, 4, 5, 6], 6),
        sample("statistics", [("output_mean_var", "True"), ("fix_gamma", "False")], &[2, 3, 4, 4], 3),
        Sample { is_train: true, ..sample("training", free, &[4, 3, 5, 5], 3) },
        Sample { is_train: true, ..sample("training_fixed_gamma", [("momentum", "0.5")], &[3, 2, 4], 2) },
        Sample {
            is_train: true,
            ..sample("training_global", [("use_global_stats", "True"), ("fix_gamma", "False")], &[2, 3, 4, 4], 3)
        },
        sample("no_images", free, &[0, 3, 4, 4], 3),
        sample("one_element", free, &[1, 1, 1, 1], 1),
    ]
}
