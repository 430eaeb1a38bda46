//! Compares products with sums in float64 and in integers, for every kind of instructions and source of rows.

use super::finish::{Output, Rule};
use super::geometry::{Geometry, Problem};
use super::packing::{Merging, Packing};
use super::problem::in_groups;
use super::product::{Compute, Memory, Product};
use super::unit::{Factors, Unit};
use crate::low_precision::block::{PANEL, SQUARE};
use half::bf16;
use mxrs_processor::Isa;
use mxrs_testkit::AlignedBuffer;
use mxrs_testkit::conformance::team;

/// Numbers from -1 to 1 with three digits, or integers over the whole range of their type.
fn numbers(n: usize, factors: Factors, is_weight: bool, seed: u32) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let number = |x: u32| match factors {
        Factors::Bf16 => bf16::from_f64(f64::from(x % 2001) / 1000.0 - 1.0).to_f64(),
        Factors::Unsigned if !is_weight => f64::from(x % 256),
        _ => f64::from(x % 256) - 128.0,
    };
    (0..n).map(|_| number(next())).collect()
}

fn bytes(values: impl Iterator<Item = f64>, factors: Factors) -> Vec<u8> {
    let of = |x: f64| match factors {
        Factors::Bf16 => bf16::from_f64(x).to_bits().to_le_bytes().to_vec(),
        _ => vec![if x < 0.0 { (x as i8).cast_unsigned() } else { x as u8 }],
    };
    values.flat_map(of).collect()
}

fn conv(n: usize, c: usize, k: usize, size: [usize; 2], [window, stride, pad, dilate]: [usize; 4]) -> Problem {
    let out = size.map(|size| (size + 2 * pad - (window - 1) * dilate - 1) / stride + 1);
    let both = |x| [x, x];
    Problem {
        n,
        groups: 1,
        c,
        k,
        input: size,
        output: out,
        window: both(window),
        stride: both(stride),
        pad: both(pad),
        dilate: both(dilate),
    }
}

/// Packs row-major weights.
fn packed(packing: Packing, sizes: [usize; 4], weights: &[u8]) -> AlignedBuffer {
    let mxrs_types::Layout::Opaque { size_bytes, .. } = packing.layout(sizes) else { panic!("packed weights") };
    let mut buffer = AlignedBuffer::zeroed(size_bytes);
    let Merging { n, k, .. } = packing.merging(sizes);
    let (of_group, columns) = (packing.panels_bytes(sizes), k.next_multiple_of(SQUARE));
    let (panels, corrections) = buffer.bytes_mut().split_at_mut(n * of_group);
    for (group, panels) in panels.chunks_mut(of_group).enumerate() {
        for (i, panel) in panels.chunks_mut(of_group / columns * PANEL).enumerate() {
            let of_panel = packing.pack(sizes, weights, [group, i], panel);
            let all = of_panel.iter().take(columns - i * PANEL).flat_map(|x| x.to_le_bytes());
            corrections.iter_mut().skip((group * columns + i * PANEL) * 4).zip(all).for_each(|(to, x)| *to = x);
        }
    }
    buffer
}

/// Runs a problem, whose channels are divided into `groups`, and compares every output.
fn check(p: Problem, groups: usize, factors: Factors, unit: Unit, planes: bool, threads: usize) {
    let merged = p.dilate[1] == 1;
    let packing = Packing { bytes: factors != Factors::Bf16, merged, depthwise: false, groups: groups as u32 };
    let sizes = [p.k, p.c / groups, p.window[0], p.window[1]];
    let [h, w] = p.input;
    let data = numbers(p.n * p.c * h * w, factors, false, 7);
    let weights = numbers(sizes.iter().product(), factors, true, 9);
    let order = (0..data.len()).map(|i| match planes {
        true => data[i],
        false => data[((i / (h * w * p.c)) * p.c + i % p.c) * h * w + i / p.c % (h * w)],
    });
    let src = AlignedBuffer::from_bytes(&bytes(order, factors));
    let weights_of = packed(packing, sizes, &bytes(weights.iter().copied(), factors));
    let rule = if factors == Factors::Bf16 { Rule::Bf16 } else { Rule::Sums };
    // The last group may be read as a whole panel.
    let k = p.k + PANEL;
    let scales = vec![1.0f32; k];
    let bias: Vec<f32> = (0..k as i32)
        .map(|c| if rule == Rule::Sums { f32::from_bits((c - 5).cast_unsigned()) } else { c as f32 * 0.5 })
        .collect();
    let mut out = AlignedBuffer::poisoned(p.pixels() * p.k * if rule == Rule::Sums { 4 } else { 2 });
    let output = Output {
        dst: out.bytes_mut().as_mut_ptr(),
        channels: p.k,
        row_step: p.k,
        past_caches: p.k == 64,
        scales: scales.as_ptr(),
        bias: bias.as_ptr(),
        sum: std::ptr::null(),
        sum_scale: 1.0,
        low: f32::NEG_INFINITY,
        high: f32::INFINITY,
    };
    let geometry = Geometry::new(in_groups(p, groups as u32), packing.number_bytes(), merged, planes, threads);
    let product = Product::with_unit(geometry, factors, rule, unit, Isa::best(), threads).expect("the rule is known");
    let mut scratch = AlignedBuffer::poisoned(product.scratch_bytes());
    let memory = Memory {
        data: src.bytes().as_ptr(),
        weights: weights_of.bytes().as_ptr(),
        output: &output,
        scratch: scratch.bytes_mut().as_mut_ptr(),
    };
    // SAFETY: all buffers have the sizes and layouts of the problem.
    unsafe { product.run(&memory, &team(threads)) };
    let what = format!("{p:?} {factors:?} {} {threads} threads", unit.name());
    assert!(out.guard_is_intact() && scratch.guard_is_intact(), "{what}: wrote behind the end");
    let got = out.to_f64(if rule == Rule::Sums { mxrs_types::DType::I32 } else { mxrs_types::DType::BF16 });
    for (i, got) in got.into_iter().enumerate() {
        let (channel, pixel) = (i % p.k, i / p.k);
        let (sum, magnitude) = sum_of(&p, groups, &data, &weights, pixel, channel);
        match rule {
            Rule::Sums => assert_eq!(got, sum + channel as f64 - 5.0, "{what}: output {i}"),
            _ => {
                let want = sum + channel as f64 * 0.5;
                // The bound of the module: one rounding of each partial sum, and one to bfloat16.
                let n = (p.c * p.window[0] * p.window[1]) as f64;
                let bound = n * magnitude * 2f64.powi(-24) + want.abs() * 2f64.powi(-8);
                assert!((got - want).abs() <= bound + 1e-30, "{what}: output {i} is {got}, not {want}");
            }
        }
    }
}

/// The exact sum of an output, and the sum of the absolute values of its terms.
fn sum_of(p: &Problem, groups: usize, data: &[f64], weights: &[f64], pixel: usize, k: usize) -> (f64, f64) {
    let [oh, ow] = p.output;
    let (image, y, x) = (pixel / (oh * ow), pixel / ow % oh, pixel % ow);
    let (mut sum, mut magnitude) = (0.0, 0.0);
    for tap in 0..p.window[0] * p.window[1] {
        let (ky, kx) = (tap / p.window[1], tap % p.window[1]);
        let row = (y * p.stride[0] + ky * p.dilate[0]).wrapping_sub(p.pad[0]);
        let column = (x * p.stride[1] + kx * p.dilate[1]).wrapping_sub(p.pad[1]);
        if row >= p.input[0] || column >= p.input[1] {
            continue;
        }
        let n = p.c / groups;
        for c in 0..n {
            let channel = k / (p.k / groups) * n + c;
            let value = data[((image * p.c + channel) * p.input[0] + row) * p.input[1] + column];
            let term = value * weights[(k * n + c) * p.window[0] * p.window[1] + tap];
            sum += term;
            magnitude += term.abs();
        }
    }
    (sum, magnitude)
}

fn everywhere(p: Problem, planes: bool) {
    in_all_ways(p, 1, planes);
}

fn in_all_ways(p: Problem, groups: usize, planes: bool) {
    for factors in [Factors::Bf16, Factors::Unsigned, Factors::Signed] {
        for unit in Unit::available(factors, Isa::best()) {
            for threads in [1, 3] {
                check(p, groups, factors, unit, planes, threads);
            }
        }
    }
}

#[test]
fn windows_with_padding_are_products_of_strips() {
    everywhere(conv(2, 64, 40, [9, 20], [3, 1, 1, 1]), false);
    everywhere(conv(1, 48, 33, [11, 6], [5, 1, 2, 1]), false);
    everywhere(conv(1, 20, 16, [13, 19], [3, 2, 1, 1]), false);
}

#[test]
fn narrow_images_are_one_line_and_several_are_computed_together() {
    everywhere(conv(5, 40, 48, [7, 7], [3, 1, 1, 1]), false);
    everywhere(conv(3, 64, 17, [3, 8], [3, 1, 1, 1]), false);
    everywhere(conv(2, 96, 32, [2, 2], [3, 1, 1, 1]), false);
}

#[test]
fn whole_steps_without_padding_are_read_in_place() {
    everywhere(conv(2, 64, 70, [5, 7], [1, 1, 0, 1]), false);
    everywhere(conv(2, 64, 16, [9, 11], [1, 2, 0, 1]), false);
    everywhere(conv(1, 64, 32, [8, 21], [3, 1, 0, 1]), false);
    everywhere(Problem::dense(70, 256, 50), false);
}

#[test]
fn incomplete_steps_are_copied() {
    everywhere(Problem::dense(1, 200, 100), false);
    everywhere(Problem::dense(37, 30, 64), false);
    everywhere(conv(2, 10, 30, [6, 5], [1, 1, 0, 1]), false);
}

#[test]
fn dilated_windows_have_a_run_for_each_tap() {
    everywhere(conv(2, 5, 19, [11, 12], [3, 1, 2, 2]), false);
    everywhere(conv(1, 64, 16, [9, 9], [3, 1, 0, 3]), false);
}

#[test]
fn the_first_layer_reads_row_major_images() {
    everywhere(conv(2, 3, 24, [15, 22], [7, 2, 3, 1]), true);
    everywhere(conv(1, 1, 8, [6, 6], [3, 1, 1, 1]), true);
}

#[test]
fn groups_are_merged_into_whole_panels() {
    in_all_ways(conv(2, 24, 24, [9, 10], [3, 1, 1, 1]), 6, false);
    in_all_ways(conv(1, 36, 72, [7, 7], [3, 2, 1, 1]), 9, false);
    in_all_ways(conv(1, 80, 120, [6, 5], [1, 1, 0, 1]), 2, false);
    in_all_ways(conv(1, 12, 6, [8, 9], [3, 1, 2, 2]), 3, false);
}
