//! Compares operators that move, gather, select and sort elements with the reference, on sizes that kernels cut: for blocks,
//! for chunks, for threads.

use mxrs_backend_cpu::{CpuBackend, Level};
use mxrs_op::{Attrs, Backend, Fill, Sample};
use mxrs_testkit::conformance::{Prepared, Runner, team};
use mxrs_types::DType;

/// A call: an operator, its attributes, the shapes of its inputs, and what some inputs hold.
struct Case<'a>(&'a str, &'a [(&'a str, &'a str)], &'a [&'a [usize]], Vec<(usize, Fill)>);

/// Runs a case on each dtype with the widest instructions, and on the first dtype with those that every processor has; on
/// one thread and on three.
fn check(Case(name, attrs, shapes, fills): Case<'_>, dtypes: &[DType]) {
    let (team, ops) = (team(3), mxrs_ops::catalog());
    let op = ops.get(name).unwrap_or_else(|_| panic!("{name} is in the catalog"));
    let none: [(&str, &str); 0] = [];
    let mut sample = Sample { attrs: attrs.iter().copied().collect::<Attrs>(), ..Sample::new("cut", none, shapes) };
    for (input, fill) in fills {
        sample = sample.fill(input, fill);
    }
    for (level, dtypes) in [(Level::best(), dtypes), (Level::PORTABLE, &dtypes[..1])] {
        let backend = CpuBackend::with_level(&team, level);
        for dtype in dtypes {
            let context = || format!("{name} {attrs:?} {shapes:?} {dtype} {}", level.name());
            let prepared = Prepared::new(op, &sample, *dtype).unwrap_or_else(|e| panic!("{}: {e}", context()));
            let is_constant = vec![false; prepared.inputs.len()];
            let answer = backend.offer(&prepared.call(op, &is_constant)).map(drop);
            answer.unwrap_or_else(|reason| panic!("{}: {reason}", context()));
            Runner::new(&*backend, op, &prepared, &is_constant, &team)
                .and_then(|runner| runner.check_all(&team))
                .unwrap_or_else(|what| panic!("{}: {what}", context()));
        }
    }
}

const TWO: [DType; 2] = [DType::F32, DType::F16];

fn of(name: &str, attrs: &[(&str, &str)], shapes: &[&[usize]]) {
    check(Case(name, attrs, shapes, Vec::new()), &TWO);
}

#[test]
fn ranges_and_reversed_axes() {
    for (begin, end, step) in [
        ("(1, 3)", "(None, -2)", "()"),
        ("(None, 5)", "(None, 200)", "(2, 3)"),
        ("(None, -1)", "(None, 0)", "(-1, -5)"),
    ] {
        let attrs = [("begin", begin), ("end", end), ("step", step)];
        of("slice", &attrs, &[&[130, 257, 3]]);
    }
    let step = [("begin", "(0, 1)"), ("end", "(300, 250)"), ("step", "(3, 2)")];
    of("_backward_slice", &step, &[&[100, 125], &[300, 257]]);
    of("_backward_slice", &[("begin", "(2,)"), ("end", "(None,)"), ("step", "(-1,)")], &[&[3, 9000], &[5, 9000]]);
    of("slice_like", &[], &[&[300, 257], &[99, 255]]);
    of("_backward_slice_like", &[], &[&[99, 255], &[300, 257], &[99, 255]]);
    of("reverse", &[("axis", "(1,)")], &[&[33, 1030]]);
    of("reverse", &[("axis", "(0, 2)")], &[&[33, 5, 130]]);
    of("_backward_reverse", &[("axis", "(0,)")], &[&[300, 257], &[300, 257]]);
    of("_npi_flip", &[("axis", "(0, 1)")], &[&[70, 1030]]);
    of("_np_roll", &[("shift", "(70000,)")], &[&[300, 257]]);
    of("_np_roll", &[("shift", "(-7, 130)"), ("axis", "(0, 1)")], &[&[300, 257]]);
    of("_backward_np_roll", &[("shift", "(5,)"), ("axis", "(1,)")], &[&[300, 257], &[300, 257]]);
}

#[test]
fn permuted_axes() {
    for shape in [&[300, 257][..], &[17, 9], &[8, 4000], &[4000, 3]] {
        of("SwapAxis", &[("dim1", "0"), ("dim2", "1")], &[shape]);
        for k in ["1", "2", "3"] {
            of("_npi_rot90", &[("k", k), ("axes", "(0, 1)")], &[shape]);
        }
    }
    of("SwapAxis", &[("dim1", "0"), ("dim2", "2")], &[&[65, 3, 130]]);
    of("_np_transpose", &[("axes", "(0, 2, 3, 1)")], &[&[3, 70, 17, 19]]);
    of("_backward_np_transpose", &[("axes", "(0, 2, 1)")], &[&[3, 130, 70], &[3, 70, 130]]);
    of("_np_moveaxis", &[("source", "(0,)"), ("destination", "(-1,)")], &[&[3, 70, 130]]);
    of("_np_moveaxis", &[("source", "(2,)"), ("destination", "(0,)")], &[&[70, 130, 3]]);
    of("depth_to_space", &[("block_size", "2")], &[&[2, 20, 33, 35]]);
    of("space_to_depth", &[("block_size", "2")], &[&[2, 5, 66, 70]]);
    of("depth_to_space", &[("block_size", "5")], &[&[1, 50, 33, 21]]);
    of("_backward_space_to_depth", &[("block_size", "3")], &[&[1, 45, 22, 30], &[1, 5, 66, 90]]);
}

#[test]
fn repeated_elements_and_their_sums() {
    for (reps, shape) in [("(2, 3)", &[70, 257][..]), ("(4, 1, 2)", &[3, 1500]), ("(1000,)", &[33, 1])] {
        of("tile", &[("reps", reps)], &[shape]);
    }
    of("_backward_tile", &[("reps", "(4, 3)")], &[&[280, 771], &[70, 257]]);
    of("_backward_tile", &[("reps", "(50, 1)")], &[&[150, 700], &[3, 700]]);
    for (repeats, axis, n) in [("2", "1", 514), ("3", "1", 771), ("4", "1", 1028), ("7", "1", 1799)] {
        of("repeat", &[("repeats", repeats), ("axis", axis)], &[&[70, 257]]);
        of("_backward_repeat", &[("repeats", repeats), ("axis", axis)], &[&[70, n], &[70, 257]]);
    }
    of("repeat", &[("repeats", "3")], &[&[70, 257]]);
    of("broadcast_to", &[("shape", "(70, 5, 257)")], &[&[70, 1, 257]]);
    of("broadcast_axis", &[("axis", "(2,)"), ("size", "300")], &[&[70, 5, 1]]);
    let nearest = [("scale", "2"), ("sample_type", "nearest"), ("num_args", "1")];
    of("UpSampling", &nearest, &[&[2, 7, 33, 41]]);
    of("_backward_UpSampling", &nearest, &[&[2, 7, 66, 82], &[2, 7, 33, 41]]);
    let several = [("scale", "3"), ("sample_type", "nearest"), ("num_args", "2")];
    of("UpSampling", &several, &[&[2, 3, 11, 20], &[2, 5, 33, 60]]);
}

#[test]
fn borders() {
    let width = ("pad_width", "(0,0,0,0,3,5,2,7)");
    for mode in ["constant", "edge", "reflect"] {
        let attrs = [("mode", mode), width, ("constant_value", "1.5")];
        of("Pad", &attrs, &[&[2, 7, 33, 70]]);
        of("_backward_Pad", &attrs, &[&[2, 7, 41, 79], &[2, 7, 33, 70]]);
    }
    of("Pad", &[("mode", "edge"), ("pad_width", "(1,2,3,4)")], &[&[130, 500]]);
    of("_backward_Pad", &[("mode", "edge"), ("pad_width", "(1,2,3,4)")], &[&[133, 507], &[130, 500]]);
    of("diag", &[("k", "1")], &[&[300, 257]]);
    of("diag", &[("k", "-2")], &[&[300]]);
    of("_backwarddiag", &[], &[&[257], &[300, 257]]);
}

#[test]
fn joins_and_cuts() {
    of("Concat", &[("num_args", "3")], &[&[50, 300, 3], &[50, 1, 3], &[50, 777, 3]]);
    of("stack", &[("num_args", "2"), ("axis", "1")], &[&[50, 300], &[50, 300]]);
    of("stack", &[("num_args", "3"), ("axis", "-1")], &[&[50, 300], &[50, 300], &[50, 300]]);
    of("_npi_stack", &[("num_args", "2"), ("axis", "0")], &[&[300, 70], &[300, 70]]);
    of("_npi_hstack", &[("num_args", "2")], &[&[50, 300], &[50, 5]]);
    of("_npi_concatenate", &[("num_args", "2"), ("axis", "None")], &[&[50, 300], &[7]]);
    of("_npi_column_stack", &[("num_args", "2")], &[&[3000], &[3000, 4]]);
    of("SliceChannel", &[("num_outputs", "3")], &[&[50, 300, 3]]);
    of("SliceChannel", &[("num_outputs", "3"), ("axis", "2"), ("squeeze_axis", "True")], &[&[50, 300, 3]]);
    of("_split_v2", &[("indices", "(0, 1, 100)"), ("axis", "1")], &[&[70, 300]]);
    let cut = [("indices", "(0, 100)"), ("axis", "1")];
    of("_backward_split_v2", &cut, &[&[70, 300], &[70, 100], &[70, 200]]);
}

/// Indices from below 0 to above `n`, some of them fractions.
fn indices(n_indices: usize, n: usize) -> Fill {
    Fill::Values((0..n_indices).map(|i| (i * 7919 % (n + 4)) as f64 - 2.0 + 0.25 * (i % 3) as f64).collect())
}

#[test]
fn rows_by_index() {
    for mode in ["clip", "wrap"] {
        for (axis, shape, n) in [("0", &[300, 70][..], 300), ("1", &[70, 33], 33), ("1", &[20, 40, 30], 40)] {
            check(Case("take", &[("axis", axis), ("mode", mode)], &[shape, &[501]], vec![(1, indices(501, n))]), &TWO);
        }
    }
    let table = [("input_dim", "300"), ("output_dim", "70")];
    check(Case("Embedding", &table, &[&[9, 101], &[300, 70]], vec![(0, indices(909, 300))]), &TWO);
    let back: [&[usize]; 3] = [&[9, 101, 70], &[9, 101], &[300, 70]];
    check(Case("_backward_Embedding", &table, &back, vec![(1, indices(909, 300))]), &TWO);
    let wide: [&[usize]; 3] = [&[50, 601], &[50], &[7, 601]];
    let table = [("input_dim", "7"), ("output_dim", "601")];
    check(Case("_backward_Embedding", &table, &wide, vec![(1, indices(50, 7))]), &TWO);
    for (axis, shape, ograd, n) in [("0", &[300, 70][..], &[501, 70][..], 300), ("1", &[70, 33], &[70, 501], 33)] {
        check(Case("_backward_take", &[("axis", axis)], &[ograd, shape, &[501]], vec![(2, indices(501, n))]), &TWO);
    }
    for (axis, shape, index, n) in [("1", &[3000, 7][..], &[3000][..], 7), ("1", &[20, 9, 300], &[20, 300], 9)] {
        let n_indices = index.iter().product();
        check(Case("pick", &[("axis", axis)], &[shape, index], vec![(1, indices(n_indices, n))]), &TWO);
        let back: [&[usize]; 3] = [index, shape, index];
        check(Case("_backward_pick", &[("axis", axis)], &back, vec![(2, indices(n_indices, n))]), &TWO);
    }
    let points = Fill::Integers(0, 20);
    check(Case("gather_nd", &[], &[&[20, 30, 70], &[2, 900]], vec![(1, points.clone())]), &TWO);
    check(Case("_backward_gather_nd", &[], &[&[900, 70], &[20, 30, 70], &[2, 900]], vec![(2, points)]), &TWO);
    let points = Fill::Integers(0, 20);
    check(Case("scatter_nd", &[("shape", "(20, 30, 70)")], &[&[900, 70], &[2, 900]], vec![(1, points)]), &TWO);
    check(Case("one_hot", &[("depth", "77")], &[&[9, 101]], vec![(0, indices(909, 77))]), &[DType::F32, DType::I64]);
    for condition in [&[300, 257][..], &[300]] {
        let chosen = vec![(0, Fill::Integers(0, 2))];
        check(Case("where", &[], &[condition, &[300, 257], &[300, 257]], chosen), &TWO);
    }
}

#[test]
fn steps_of_sequences() {
    let lengths = Fill::Integers(1, 30);
    for (axis, shape) in [("0", &[30, 50, 40][..]), ("1", &[50, 30, 40])] {
        let attrs = [("use_sequence_length", "True"), ("axis", axis)];
        let masked = [attrs[0], attrs[1], ("value", "-2")];
        check(Case("SequenceMask", &masked, &[shape, &[50]], vec![(1, lengths.clone())]), &TWO);
        check(Case("SequenceLast", &attrs, &[shape, &[50]], vec![(1, lengths.clone())]), &TWO);
        let back: [&[usize]; 3] = [&[50, 40], shape, &[50]];
        check(Case("_backward_SequenceLast", &attrs, &back, vec![(2, lengths.clone())]), &TWO);
    }
    let attrs = [("use_sequence_length", "True")];
    let shape: &[usize] = &[30, 50, 40];
    check(Case("SequenceReverse", &attrs, &[shape, &[50]], vec![(1, lengths.clone())]), &TWO);
    check(Case("_backward_SequenceReverse", &attrs, &[shape, shape, &[50]], vec![(2, lengths)]), &TWO);
}

#[test]
fn slopes_per_channel() {
    let prelu = [("act_type", "prelu")];
    for (shape, n) in [(&[5, 7, 300][..], 7), (&[300, 257], 257), (&[1000], 1000), (&[3, 5, 41, 33], 1)] {
        of("LeakyReLU", &prelu, &[shape, &[n]]);
        of("_backward_LeakyReLU", &prelu, &[shape, shape, &[n]]);
        of("_backward_LeakyReLU_gamma", &prelu, &[shape, shape, &[n]]);
    }
    for kind in ["leaky", "elu", "selu", "gelu"] {
        of("LeakyReLU", &[("act_type", kind)], &[&[300, 257]]);
        of("_backward_LeakyReLU", &[("act_type", kind)], &[&[300, 257], &[300, 257]]);
    }
    for name in ["hard_sigmoid", "smooth_l1"] {
        of(name, &[], &[&[300, 257]]);
        of(&format!("_backward_{name}"), &[], &[&[300, 257], &[300, 257]]);
    }
}

#[test]
fn reductions_of_every_kind() {
    for name in ["min", "prod", "nansum", "nanprod", "norm"] {
        for (axis, shape) in [("(0,)", &[70, 501][..]), ("(1,)", &[300, 257]), ("(0, 2)", &[9, 5, 701])] {
            // Near 1, so that a product of many numbers is neither 0 nor infinite.
            check(Case(name, &[("axis", axis)], &[shape], vec![(0, Fill::Uniform(0.98, 1.02))]), &TWO);
        }
    }
    of("norm", &[("ord", "1"), ("axis", "1")], &[&[300, 257]]);
    for axis in ["0", "1"] {
        check(Case("argmin", &[("axis", axis)], &[&[130, 700]], vec![(0, Fill::Integers(-9, 9))]), &TWO);
    }
}

#[test]
fn sorted_lines() {
    let many = || vec![(0, Fill::Integers(-9, 9))];
    let all = [DType::F32, DType::F64, DType::F16, DType::BF16, DType::U8, DType::I8, DType::I32, DType::I64];
    for (axis, shape) in [("-1", &[70, 301][..]), ("0", &[301, 70]), ("1", &[3, 130, 40]), ("None", &[7, 300])] {
        for is_ascending in ["True", "False"] {
            let attrs = [("axis", axis), ("is_ascend", is_ascending)];
            check(Case("sort", &attrs, &[shape], many()), &all);
            check(Case("argsort", &[attrs[0], attrs[1], ("dtype", "int32")], &[shape], many()), &TWO);
            for kind in ["value", "indices", "both", "mask"] {
                let attrs = [attrs[0], attrs[1], ("k", "6"), ("ret_typ", kind)];
                check(Case("topk", &attrs, &[shape], many()), &TWO);
            }
        }
    }
    let attrs = [("axis", "0"), ("k", "6"), ("ret_typ", "value")];
    check(Case("_backward_topk", &attrs, &[&[6, 70], &[301, 70]], vec![(1, Fill::Integers(-9, 9))]), &TWO);
    check(Case("_backward_sort", &[("axis", "0")], &[&[301, 70], &[301, 70]], vec![(1, Fill::Integers(-9, 9))]), &TWO);
}
