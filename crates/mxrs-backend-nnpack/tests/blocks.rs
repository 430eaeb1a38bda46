//! Tests the operators between convolutions on data in blocks of channels against the reference kernels, with shapes of
//! known networks and odd ones, and with infinities and NaN.

mod common;
mod copies;

use common::{backends, check};
use mxrs_backend_nnpack::Nnpack;
use mxrs_op::{Fill, Sample};
use mxrs_sync::Team;
use mxrs_testkit::conformance::Prepared;
use mxrs_types::DType;

fn image(name: &'static str, attrs: &[(&str, &str)], sizes: [usize; 4]) -> Sample {
    Sample { attrs: attrs.iter().copied().collect(), ..Sample::new(name, [], &[&sizes]) }
}

fn pool(kernel: &str, stride: &str, pad: &str, others: &[(&str, &str)], sizes: [usize; 4]) -> Sample {
    let mut attrs = vec![("kernel", kernel), ("stride", stride), ("pad", pad)];
    attrs.extend(others);
    image("pool", &attrs, sizes)
}

/// Windows of known networks, and special cases: output sizes rounded up, windows that lie entirely in the padding, and
/// channels that do not fill a block.
fn pools() -> Vec<Sample> {
    let (avg, sum) = (("pool_type", "avg"), ("pool_type", "sum"));
    let (full, cells) = (("pooling_convention", "full"), ("count_include_pad", "False"));
    let global = ("global_pool", "True");
    vec![
        // AlexNet and VGG.
        pool("(3, 3)", "(2, 2)", "(0, 0)", &[], [1, 96, 54, 54]),
        pool("(3, 3)", "(2, 2)", "(0, 0)", &[], [2, 32, 26, 26]),
        pool("(3, 3)", "(2, 2)", "(0, 0)", &[], [1, 32, 12, 12]),
        pool("(2, 2)", "(2, 2)", "(0, 0)", &[], [1, 16, 56, 56]),
        // ResNet.
        pool("(3, 3)", "(2, 2)", "(1, 1)", &[], [1, 16, 112, 112]),
        pool("(7, 7)", "(1, 1)", "(0, 0)", &[global, avg], [2, 64, 7, 7]),
        // Inception.
        pool("(3, 3)", "(2, 2)", "(0, 0)", &[], [1, 16, 73, 73]),
        pool("(3, 3)", "(1, 1)", "(1, 1)", &[avg], [1, 32, 35, 35]),
        pool("(3, 3)", "(1, 1)", "(1, 1)", &[], [2, 32, 7, 7]),
        pool("(8, 8)", "(1, 1)", "(0, 0)", &[avg], [1, 32, 8, 8]),
        // Windows that no known network has.
        pool("(2, 3)", "(3, 1)", "(1, 2)", &[], [2, 20, 9, 5]),
        pool("(2, 3)", "(3, 1)", "(1, 2)", &[avg, cells], [2, 20, 9, 5]),
        pool("(4, 5)", "(2, 3)", "(1, 0)", &[avg, full], [1, 17, 10, 12]),
        pool("(3, 3)", "(2, 2)", "(1, 1)", &[avg, full, cells], [1, 3, 8, 6]),
        pool("(3, 3)", "(2, 2)", "(1, 1)", &[full], [1, 40, 8, 6]),
        pool("(2, 2)", "(5, 5)", "(1, 1)", &[full], [1, 18, 6, 6]),
        pool("(2, 2)", "(2, 2)", "(3, 3)", &[], [1, 21, 2, 2]),
        pool("(2, 2)", "(2, 2)", "(3, 3)", &[avg, cells], [1, 21, 2, 2]),
        pool("(3, 1)", "(1, 1)", "(0, 0)", &[sum], [3, 16, 5, 4]),
        pool("(1, 1)", "(1, 1)", "(0, 0)", &[global], [3, 33, 1, 1]),
        pool("(2, 2)", "(1, 1)", "(0, 0)", &[global, avg], [2, 5, 130, 120]),
        pool("(2, 2)", "(1, 1)", "(0, 0)", &[global, sum], [1, 48, 3, 9]),
    ]
}

#[test]
fn pooling_agrees_with_the_reference() {
    for (backend, team) in backends() {
        for sample in pools() {
            let n = sample.inputs[0].shape.n_elements();
            check("Pooling", &sample, &backend, &team);
            // Few different values, all negative, so that an empty window or counted padding changes the result.
            let values = (0..n).map(|i| -1.0 - (i * 7 % 11) as f64).collect();
            check("Pooling", &sample.fill(0, Fill::Values(values)), &backend, &team);
        }
    }
}

/// The gradient of each layer of [`pools`], for these values of the data. The result of max pooling, which its gradient
/// reads, is that of the reference kernel.
fn check_pooling_gradient(layer: &Sample, values: Vec<f64>, backend: &Nnpack, team: &Team) -> String {
    let ops = mxrs_ops::catalog();
    let layer = layer.clone().fill(0, Fill::Values(values.clone()));
    let op = ops.get("Pooling").expect("it is in the catalog");
    let prepared = Prepared::new(op, &layer, DType::F32).expect("the reference runs it");
    let [data, pooled] = [&prepared.inputs[0], &prepared.outputs[0]].map(|desc| desc.shape.to_vec());
    let gradient = |inputs: &[&[usize]]| Sample { attrs: layer.attrs.clone(), ..Sample::new("pool", [], inputs) };
    if ["avg", "sum"].contains(&layer.attrs.get("pool_type").unwrap_or("max")) {
        return check("_backward_Pooling_average", &gradient(&[&pooled, &data]), backend, team);
    }
    let sample = gradient(&[&pooled, &data, &pooled]).fill(1, Fill::Values(values));
    let sample = sample.fill(2, Fill::Values(prepared.expected[0].to_f64(DType::F32)));
    check("_backward_Pooling", &sample, backend, team)
}

#[test]
fn gradients_of_pooling_agree_with_the_reference() {
    for (backend, team) in backends() {
        for layer in pools() {
            let n = layer.inputs[0].shape.n_elements();
            // Few different values, so that many windows have several largest pixels, and some of them are NaN.
            let few = |i: usize| -1.0 - (i * 7 % 11) as f64;
            let special = |i: usize| [f64::NAN, f64::NEG_INFINITY, f64::INFINITY, 0.0][i / 9 % 4];
            let with_special = |i: usize| if i.is_multiple_of(9) { special(i) } else { few(i) };
            for values in [(0..n).map(few).collect::<Vec<f64>>(), (0..n).map(with_special).collect()] {
                let what = check_pooling_gradient(&layer, values, &backend, &team);
                assert!(what.contains("_pool_gradient"), "{what}");
            }
        }
    }
}

/// A gradient so large that it is stored directly to memory, bypassing the caches.
#[test]
fn a_gradient_of_pooling_larger_than_the_caches_agrees_with_the_reference() {
    let (backend, team) = backends().pop().expect("one at least");
    let large = pool("(3, 3)", "(2, 2)", "(1, 1)", &[], [9, 64, 112, 100]);
    let n = large.inputs[0].shape.n_elements();
    check_pooling_gradient(&large, (0..n).map(|i| (i * 7919 % 1009) as f64).collect(), &backend, &team);
}

#[test]
fn maxima_keep_what_is_no_number() {
    let special =
        [1.0, f64::NEG_INFINITY, f64::NAN, 2.0, f64::INFINITY, -3.0, f64::NEG_INFINITY, 0.5, -1.0, 4.0, -0.25];
    for (backend, team) in backends() {
        for (kernel, stride, pad) in [("(2, 2)", "(2, 2)", "(0, 0)"), ("(3, 2)", "(1, 2)", "(1, 1)")] {
            for rare in [1, 5, 40] {
                let sizes = [2, 20, 6, 7];
                // NaN is first, in the middle or last in a window, alone or together with infinities.
                let value =
                    |i: usize| if i.is_multiple_of(rare) { special[i / rare % special.len()] } else { (i % 13) as f64 };
                let values = (0..sizes.iter().product()).map(value).collect();
                let sample = pool(kernel, stride, pad, &[], sizes).fill(0, Fill::Values(values));
                check("Pooling", &sample, &backend, &team);
            }
        }
        let lowest = Fill::Values(vec![f64::NEG_INFINITY; 16 * 16]);
        check("Pooling", &pool("(2, 2)", "(2, 2)", "(0, 0)", &[], [1, 16, 4, 4]).fill(0, lowest), &backend, &team);
    }
}

fn normalized(name: &'static str, attrs: &[(&str, &str)], sizes: &[usize], channels: usize) -> Sample {
    let c: &[usize] = &[channels];
    let sample = Sample { attrs: attrs.iter().copied().collect(), ..Sample::new(name, [], &[sizes, c, c, c, c]) };
    sample.fill(1, Fill::Uniform(-2.0, 2.0)).fill(4, Fill::Uniform(0.1, 2.0))
}

#[test]
fn batch_normalization_agrees_with_the_reference() {
    let free = [("fix_gamma", "False"), ("eps", "2e-05")];
    for (backend, team) in backends() {
        for name in ["BatchNorm", "_sg_bn_relu"] {
            for (sizes, c) in [
                ([1, 64, 56, 56], 64),
                ([2, 48, 7, 7], 48),
                ([1, 3, 30, 31], 3),
                ([3, 20, 3, 5], 20),
                ([2, 33, 1, 1], 33),
            ] {
                let what = check(name, &normalized("free", &free, &sizes, c), &backend, &team);
                assert!(what.starts_with("nnpack:b"), "{what}");
                check(name, &normalized("fixed", &[], &sizes, c), &backend, &team);
                let n = sizes.iter().product::<usize>();
                let value = |i: usize| [0.5, f64::NAN, -7.0, f64::INFINITY, -0.1, f64::NEG_INFINITY, 3.0][i * 5 % 7];
                let special =
                    normalized("special", &free, &sizes, c).fill(0, Fill::Values((0..n).map(value).collect()));
                check(name, &special, &backend, &team);
            }
            // Row-major data, with channels on any axis.
            check(name, &normalized("matrix", &free, &[5, 37], 37), &backend, &team);
            check(name, &normalized("last", &[("axis", "-1")], &[2, 3, 4, 19], 19), &backend, &team);
            check(name, &normalized("five", &free, &[2, 3, 2, 4, 5], 3), &backend, &team);
        }
    }
}

#[test]
fn response_normalization_agrees_with_the_reference() {
    let of = |beta: &'static str, nsize: &'static str, knorm: &'static str| {
        [("alpha", "0.3"), ("beta", beta), ("knorm", knorm), ("nsize", nsize)]
    };
    let settings = [("0.75", "5", "2"), ("0.5", "3", "1"), ("0.6", "7", "2"), ("0.75", "33", "1"), ("1.0", "1", "1")];
    for (backend, team) in backends() {
        for (beta, nsize, knorm) in settings {
            for sizes in [[1, 96, 6, 7], [2, 20, 5, 5], [1, 3, 1, 2], [2, 17, 4, 9]] {
                let sample = image("lrn", &of(beta, nsize, knorm), sizes).fill(0, Fill::Uniform(-4.0, 4.0));
                check("LRN", &sample, &backend, &team);
                let gradient = Sample::new("lrn", of(beta, nsize, knorm), &[&sizes, &sizes]);
                let gradient = gradient.fill(1, Fill::Uniform(-4.0, 4.0));
                let what = check("_backward_LRN", &gradient, &backend, &team);
                assert!(what.starts_with("nnpack:lrn_gradient"), "{what}");
            }
        }
        // Padding channels must stay 0 if the last channels contain NaN, and if the sum of `knorm` and the squares is
        // 0.
        let n = 18 * 9;
        let special = Fill::Values((0..n).map(|i| [f64::NAN, 1.0, f64::INFINITY, 2.0, -3.0][i % 5]).collect());
        for fill in [special, Fill::Values(vec![0.0; n])] {
            let sample = image("lrn", &of("0.75", "5", "0"), [1, 18, 3, 3]).fill(0, fill);
            check("LRN", &sample, &backend, &team);
        }
    }
}

#[test]
fn concatenation_agrees_with_the_reference() {
    for (backend, team) in backends() {
        for channels in [&[64, 96, 32][..], &[16], &[3, 1, 7], &[20, 40, 16, 5], &[17, 15, 33], &[320, 192]] {
            let shapes: Vec<[usize; 4]> = channels.iter().map(|c| [2, *c, 4, 5]).collect();
            let shapes: Vec<&[usize]> = shapes.iter().map(|shape| &shape[..]).collect();
            let n = channels.len().to_string();
            let sample = Sample::new("channels", [("num_args", n.as_str())], &shapes);
            let what = check("Concat", &sample, &backend, &team);
            assert!(what.starts_with("nnpack:concat"), "{what}");
        }
    }
}

/// Convolutions with groups and with dilation, with every epilogue.
#[test]
fn groups_and_dilation_agree_with_the_reference() {
    // Groups; input and output channels of one group; image size; dilation.
    for (groups, c, k, size, dilate) in [
        (2, 48, 64, (9, 8), (1, 1)),
        (32, 4, 4, (7, 6), (1, 1)),
        (8, 4, 4, (9, 30), (1, 2)),
        (6, 8, 8, (8, 13), (1, 1)),
        (2, 16, 16, (7, 19), (2, 1)),
        (32, 1, 1, (8, 9), (1, 1)),
        (37, 1, 1, (5, 13), (2, 3)),
        (16, 1, 1, (4, 2), (1, 1)),
        (24, 1, 2, (5, 5), (2, 1)),
        (3, 5, 7, (6, 5), (1, 1)),
        (5, 16, 16, (6, 7), (1, 2)),
        (1, 20, 33, (11, 9), (2, 3)),
        (1, 3, 16, (8, 12), (2, 2)),
    ] {
        let (n_groups, filters, dilate) = (groups.to_string(), (groups * k).to_string(), format!("{dilate:?}"));
        let attrs = [
            ("kernel", "(3, 3)"),
            ("stride", "(2, 1)"),
            ("pad", "(1, 2)"),
            ("num_filter", filters.as_str()),
            ("num_group", n_groups.as_str()),
            ("dilate", dilate.as_str()),
            ("with_sum", "True"),
            ("act", "relu"),
        ];
        let reach = |dilate: usize| 2 * dilate + 1;
        let dilation: Vec<usize> = dilate.trim_matches(['(', ')']).split(", ").map(|d| d.parse().unwrap()).collect();
        let (oh, ow) = ((size.0 + 2 - reach(dilation[0])) / 2 + 1, size.1 + 4 - reach(dilation[1]) + 1);
        let sample = Sample::new(
            "groups",
            attrs,
            &[&[2, groups * c, size.0, size.1], &[groups * k, c, 3, 3], &[groups * k], &[2, groups * k, oh, ow]],
        );
        for (backend, team) in backends() {
            check("_sg_conv", &sample, &backend, &team);
        }
    }
}

/// Depthwise convolutions of every width and stride that has code of its own, and of others.
#[test]
fn depthwise_convolutions_agree_with_the_reference() {
    for (window, stride, pad, size) in [
        ((3, 3), (1, 1), (1, 1), (7, 7)),
        ((3, 3), (2, 2), (1, 1), (9, 31)),
        ((5, 5), (1, 1), (2, 2), (7, 7)),
        ((5, 5), (2, 2), (2, 2), (6, 40)),
        ((7, 7), (1, 1), (3, 3), (10, 23)),
        ((7, 7), (2, 2), (3, 3), (8, 5)),
        ((3, 3), (1, 3), (0, 4), (5, 20)),
        ((5, 4), (3, 1), (4, 0), (4, 21)),
        ((3, 3), (1, 1), (3, 3), (1, 1)),
    ] {
        let text = |(a, b): (usize, usize)| format!("({a}, {b})");
        let texts = [window, stride, pad].map(text);
        for (channels, act) in [("24", "clip"), ("32", "silu"), ("20", "sigmoid")] {
            let attrs = [
                ("kernel", texts[0].as_str()),
                ("stride", &texts[1]),
                ("pad", &texts[2]),
                ("num_filter", channels),
                ("num_group", channels),
                ("act", act),
                ("a_max", "0.5"),
            ];
            let c: usize = channels.parse().unwrap();
            let shapes: [&[usize]; 3] = [&[2, c, size.0, size.1], &[c, 1, window.0, window.1], &[c]];
            for (backend, team) in backends() {
                check("_sg_conv", &Sample::new("depthwise", attrs, &shapes), &backend, &team);
            }
        }
    }
}

/// Pairs of convolutions on images that take one band and on images that take several.
#[test]
fn pairs_of_convolutions_agree_with_the_reference() {
    for (window, stride, size, [c, k], [act, dw_act]) in [
        ("(3, 3)", "(1, 1)", (7, 7), [16, 96], ["clip", "clip"]),
        ("(3, 3)", "(2, 2)", (40, 56), [24, 40], ["silu", "silu"]),
        ("(5, 5)", "(2, 2)", (15, 14), [40, 72], ["none", "hard_swish"]),
        ("(3, 3)", "(1, 1)", (40, 112), [16, 20], ["relu", "clip"]),
        ("(5, 5)", "(1, 1)", (12, 19), [20, 33], ["silu", "sigmoid"]),
    ] {
        let (channels, pad) = (k.to_string(), if window == "(3, 3)" { "(1, 1)" } else { "(2, 2)" });
        let attrs = [
            ("kernel", "(1, 1)"),
            ("num_filter", channels.as_str()),
            ("act", act),
            ("a_max", "0.5"),
            ("dw_kernel", window),
            ("dw_stride", stride),
            ("dw_pad", pad),
            ("dw_act", dw_act),
            ("dw_a_max", "0.25"),
        ];
        let taps = if window == "(3, 3)" { 3 } else { 5 };
        let shapes: [&[usize]; 5] = [&[1, c, size.0, size.1], &[k, c, 1, 1], &[k], &[k, 1, taps, taps], &[k]];
        for (backend, team) in backends() {
            let what = check("_sg_conv_depthwise", &Sample::new("pair", attrs, &shapes), &backend, &team);
            assert!(what.starts_with("nnpack:conv_depthwise"), "{what}");
        }
    }
}

/// One factor per image and channel, before or after the images.
#[test]
fn products_with_factors_agree_with_the_reference() {
    for [n, c, h, w] in [[2, 32, 5, 7], [3, 20, 4, 4], [1, 8, 1, 9]] {
        let (image, factors): (&[usize], &[usize]) = (&[n, c, h, w], &[n, c, 1, 1]);
        for shapes in [[image, factors], [factors, image]] {
            for (backend, team) in backends() {
                let what = check("broadcast_mul", &Sample::new("factors", [("a", "b"); 0], &shapes), &backend, &team);
                assert!(what.starts_with("nnpack:scale"), "{what}");
            }
        }
    }
}
