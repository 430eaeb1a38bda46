//! Compares every sample of every operator that this backend has a kernel for, including gradients, with the reference
//! kernels, on one thread and on two, with every instruction set. Also tests sizes that samples do not have.

use mxrs_backend_cpu::{CpuBackend, Level};
use mxrs_op::{Attrs, Backend, Fill, OpDef, Pointwise, Sample};
use mxrs_sync::Team;
use mxrs_testkit::conformance::{self, Prepared, Runner, team};
use mxrs_types::DType;
use std::sync::Arc;

#[test]
fn agrees_with_the_reference_on_every_sample() {
    let mut problems = Vec::new();
    let mut n_compared = 0;
    let ops = mxrs_ops::catalog();
    // `conformance::run` runs each call on one thread and on the team, and compares the results.
    let team = team(2);
    for level in Level::available() {
        let backend = CpuBackend::with_level(&team, level);
        for op in ops.iter().chain(ops.companions()) {
            let report = conformance::run(&*backend, op, &team);
            n_compared += report.n_compared();
            let line = |(case, what): &(_, String)| format!("{}: {case}: {what}", level.name());
            problems.extend(report.failed.iter().map(line));
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems[..problems.len().min(20)].join("\n"));
    assert!(n_compared > 1000, "only {n_compared} comparisons: does the backend still take anything?");
}

/// Compares one call with the reference, with every request and memory sharing that an executor may use. Returns
/// `false` if the backend has no kernel for the call.
fn check(backend: &CpuBackend, op: &OpDef, sample: &Sample, dtype: DType, team: &Arc<Team>) -> bool {
    let context = || {
        format!("{}/{} {:?} {dtype}", op.name, sample.name, sample.inputs.iter().map(|i| &i.shape).collect::<Vec<_>>())
    };
    let prepared = Prepared::new(op, sample, dtype).unwrap_or_else(|e| panic!("{}: {e}", context()));
    let is_constant = vec![false; prepared.inputs.len()];
    if backend.offer(&prepared.call(op, &is_constant)).is_err() {
        return false;
    }
    Runner::new(backend, op, &prepared, &is_constant, team)
        .and_then(|runner| runner.check_all(team))
        .unwrap_or_else(|what| panic!("{}: {what}", context()));
    true
}

/// The operator's first sample with tensors of `n` elements.
fn of_size(op: &OpDef, n: usize) -> Option<Sample> {
    let mut sample = (op.samples)().into_iter().next()?;
    sample.inputs.iter_mut().for_each(|input| input.shape = [n].into());
    Some(sample)
}

#[test]
fn pointwise_operators_of_every_size() {
    let team = team(2);
    let backend = CpuBackend::new(&team);
    let ops = mxrs_ops::catalog();
    let mut n_compared = 0;
    for op in ops.iter().chain(ops.companions()).filter(|op| op.pointwise == Pointwise::Yes) {
        for n in [0, 1, 7, 8, 9, 63, 65, 100_003] {
            let Some(sample) = of_size(op, n) else { continue };
            // The large size is tested only for two dtypes, because the reference kernels are slow.
            for dtype in op.dtypes.iter().filter(|dtype| n < 1000 || matches!(dtype, DType::F32 | DType::BF16)) {
                n_compared += usize::from(check(&backend, op, &sample, *dtype, &team));
            }
        }
    }
    assert!(n_compared > 500, "only {n_compared} comparisons");
}

/// Tests operators on sizes that kernels cut into equal parts (for blocks, for buffers, for threads) and a shorter last
/// part.
#[test]
fn other_operators_of_sizes_that_are_cut() {
    let team = team(2);
    let backend = CpuBackend::new(&team);
    let ops = mxrs_ops::catalog();
    let mut n_compared = 0;
    let mut case = |name: &str, attrs: &[(&str, &str)], shapes: &[&[usize]]| {
        let op = ops.get(name).expect("it is in the catalog");
        let none: [(&str, &str); 0] = [];
        let mut sample = Sample { attrs: attrs.iter().copied().collect::<Attrs>(), ..Sample::new("cut", none, shapes) };
        sample.is_train = true;
        if name == "_backward_SoftmaxOutput" {
            sample = sample.fill(1, Fill::Integers(-1, 9));
        }
        let taken = [DType::F32, DType::F16].iter().all(|dtype| check(&backend, op, &sample, *dtype, &team));
        assert!(taken, "{name} of {shapes:?} is not taken");
        n_compared += 1;
    };
    for (large, small) in [
        (&[300, 257][..], &[257][..]),
        (&[70, 3, 300], &[3, 1]),
        (&[301, 300], &[301, 1]),
        (&[100_003], &[1]),
        (&[40_000, 3], &[3]),
    ] {
        case("broadcast_add", &[], &[large, small]);
        case("broadcast_div", &[], &[small, large]);
        case("_backward_broadcast_sum_like", &[], &[large, small]);
        case("_backward_broadcast_like", &[], &[small, large]);
    }
    for (axis, shape) in [
        ("(0,)", &[70, 5001][..]),
        ("(0, 2)", &[70, 5, 129]),
        ("(2,)", &[40, 65, 31]),
        ("(2,)", &[3, 65, 33]),
        ("()", &[100_003]),
        ("(0,)", &[1000, 300]),
        ("(1,)", &[300, 1000]),
        ("(0, 2)", &[40, 5, 701]),
        ("(1,)", &[3, 2000, 33]),
        ("(1, 2)", &[30, 40, 50, 3]),
    ] {
        for name in ["sum", "mean", "max"] {
            case(name, &[("axis", axis)], &[shape]);
        }
    }
    case("_backward_sum", &[("axis", "(0, 2)")], &[&[5], &[40, 5, 701]]);
    case("_backward_mean", &[("axis", "(1,)"), ("keepdims", "True")], &[&[300, 1, 7], &[300, 50, 7]]);
    case("_backward_max", &[("axis", "(1,)")], &[&[300], &[300, 200], &[300]]);
    case("argmax", &[("axis", "1")], &[&[100, 1000]]);
    case("argmax", &[("axis", "0")], &[&[130, 700]]);
    case("argmax", &[("axis", "1")], &[&[3, 70, 1500]]);
    for (axes, shape) in [
        ("(1, 0)", &[300, 257][..]),
        ("(0, 2, 3, 1)", &[3, 70, 17, 19]),
        ("(2, 1, 0)", &[65, 3, 130]),
        ("(1, 0, 2)", &[70, 9, 65]),
    ] {
        case("transpose", &[("axes", axes)], &[shape]);
    }
    case("slice_axis", &[("axis", "1"), ("begin", "3"), ("end", "-2")], &[&[300, 257]]);
    case("_backward_slice_axis", &[("axis", "1"), ("begin", "3"), ("end", "-2")], &[&[300, 252], &[300, 257]]);
    case("Concat", &[("num_args", "3")], &[&[50, 300, 3], &[50, 1, 3], &[50, 777, 3]]);
    case("_backward_Concat", &[("num_args", "2")], &[&[50, 1000, 2], &[50, 300, 2], &[50, 700, 2]]);
    case("Reshape", &[("shape", "(-1,)")], &[&[300, 257]]);
    case("Dropout", &[("p", "0.3")], &[&[300, 257]]);
    case("Dropout", &[("p", "0.3"), ("axes", "(1,)")], &[&[300, 257]]);
    case("_backward_Dropout", &[("p", "0.3"), ("axes", "(0,)")], &[&[300, 257], &[1, 257]]);
    for shape in [&[33, 1500][..], &[2, 40, 700], &[2, 5000], &[70, 31], &[3, 3, 1]] {
        case("softmax", &[("axis", "1"), ("temperature", "2")], &[shape]);
        case("_backward_softmax", &[("axis", "1")], &[shape, shape, shape]);
        case("log_softmax", &[("axis", "1"), ("temperature", "2")], &[shape]);
        case("_backward_log_softmax", &[("axis", "1")], &[shape, shape, shape]);
    }
    // Rows that are longer than a cache, few and many, and interleaved ones.
    for (shape, axis) in [(&[2, 40_001][..], "1"), (&[9, 33_000], "1"), (&[2, 4500, 3], "1"), (&[977, 130], "0")] {
        case("softmax", &[("axis", axis)], &[shape]);
        case("log_softmax", &[("axis", axis)], &[shape]);
    }
    for shape in [&[70, 300][..], &[130, 7], &[3, 5000], &[1, 1]] {
        let of_axis: &[usize] = &shape[1..];
        case("LayerNorm", &[], &[shape, of_axis, of_axis]);
        case("_backward_LayerNorm", &[], &[shape, shape, of_axis]);
    }
    for shape in [&[7, 6, 50][..], &[3, 6, 40, 41], &[100, 6, 1]] {
        case("InstanceNorm", &[], &[shape, &[6], &[6]]);
        case("_backward_InstanceNorm", &[], &[shape, shape, &[6]]);
    }
    // No groups of two elements: there the terms of the gradient cancel, and its rounding errors are as large as itself.
    for shape in [&[7, 6, 50][..], &[3, 6, 40, 41], &[100, 6, 5]] {
        case("GroupNorm", &[("num_groups", "3")], &[shape, &[3], &[3]]);
        case("_backward_GroupNorm", &[("num_groups", "3")], &[shape, shape, &[3]]);
    }
    for shape in [&[2, 40, 30, 33][..], &[1, 7, 3, 3], &[3, 300, 1, 1]] {
        for attrs in [[("nsize", "5"), ("beta", "0.75")], [("nsize", "3"), ("beta", "0.6")]] {
            case("LRN", &attrs, &[shape]);
            case("_backward_LRN", &attrs, &[shape, shape]);
        }
    }
    case("SoftmaxOutput", &[], &[&[33, 1500], &[33]]);
    case("_backward_SoftmaxOutput", &[("normalization", "valid"), ("use_ignore", "True")], &[&[33, 1500], &[33]]);
    let many = [("multi_output", "True"), ("normalization", "batch")];
    case("_backward_SoftmaxOutput", &many, &[&[2, 40, 700], &[2, 700]]);
    assert!(n_compared > 50);
}

/// Tests planes (runs of elements of one channel) of one element and of several pieces, with few and with many channels, on
/// any axis.
#[test]
fn batch_normalization_of_every_shape() {
    let shapes: [(&[usize], usize); 7] = [
        (&[40, 70], 1),
        (&[3, 3, 50, 61], 1),
        (&[3, 7, 5, 5], 1),
        (&[2, 9, 8, 5], 3),
        (&[5000, 3, 2], 1),
        (&[130, 4], 0),
        (&[2, 3, 4, 5, 6], 2),
    ];
    let (team, ops) = (team(3), mxrs_ops::catalog());
    for level in Level::available() {
        let backend = CpuBackend::with_level(&team, level);
        for ((shape, axis), fixed) in shapes.into_iter().flat_map(|shape| ["True", "False"].map(|fixed| (shape, fixed)))
        {
            let (c, axis): (&[usize], _) = (&[shape[axis]], axis.to_string());
            let attrs = [("axis", axis.as_str()), ("fix_gamma", fixed), ("momentum", "0.7")];
            let sample = |shapes: &[&[usize]]| Sample { is_train: true, ..Sample::new("shape", attrs, shapes) };
            let forward = sample(&[shape, c, c, c, c]).fill(4, Fill::Uniform(0.1, 2.0));
            let backward = sample(&[shape, shape, c, c, c]).fill(4, Fill::Uniform(0.5, 2.0));
            for (name, sample) in [("BatchNorm", &forward), ("_backward_BatchNorm", &backward)] {
                let op = ops.get(name).expect("it is in the catalog");
                for dtype in [DType::F32, DType::F64] {
                    assert!(check(&backend, op, sample, dtype, &team), "{name} of {shape:?} {dtype} is not taken");
                }
            }
        }
    }
}

/// The backend has a kernel for every update of weights, with and without master weights, in every dtype of its samples
/// except float64.
#[test]
fn takes_every_update() {
    let ops = mxrs_ops::catalog();
    let backend = CpuBackend::new(&Team::serial());
    let private = ops.companions().filter(|op| op.name.ends_with("_update") || op.name.ends_with("_compression"));
    let listed = mxrs_ops::declared_in().filter(|(file, _)| file.starts_with("optim/")).map(|(_, op)| op.name);
    // `reset_arrays` is in the same folder but updates nothing: it fills arrays with zeros.
    let listed: Vec<&str> = listed.filter(|name| *name != "reset_arrays").collect();
    let updates = ops.iter().filter(|op| listed.contains(&op.name)).chain(private);
    let mut n_taken = 0;
    for op in updates {
        for sample in (op.samples)() {
            for dtype in op.dtypes.iter().filter(|dtype| **dtype != DType::F64) {
                let prepared = Prepared::new(op, &sample, *dtype).expect("the reference runs it");
                let is_constant = vec![false; prepared.inputs.len()];
                let call = prepared.call(op, &is_constant);
                let answer = backend.offer(&call);
                assert!(answer.is_ok(), "{}/{} {dtype}: {:?}", op.name, sample.name, answer.err());
                n_taken += 1;
            }
        }
    }
    assert!(n_taken > 400, "only {n_taken} calls");
}

/// One call updates several weights. Some are small, others are cut into pieces for several threads.
#[test]
fn updates_of_several_weights_of_every_size() {
    let (team, ops) = (team(3), mxrs_ops::catalog());
    let backend = CpuBackend::new(&team);
    let shapes: [(&[usize], &[usize]); 3] = [(&[3, 5], &[20_001]), (&[4099], &[1]), (&[2, 1, 3], &[257, 131])];
    let mut n_compared = 0;
    let updates: Vec<&str> =
        mxrs_ops::declared_in().filter(|(file, _)| file.starts_with("optim/")).map(|(_, op)| op.name).collect();
    for op in ops.iter().chain(ops.companions()).filter(|op| updates.contains(&op.name)) {
        let Some(mut sample) = (op.samples)().into_iter().find(|sample| sample.name == "three") else { continue };
        for input in &mut sample.inputs {
            if let Some((_, large)) = shapes.iter().find(|(small, _)| input.shape[..] == **small) {
                input.shape = (*large).into();
            }
        }
        for dtype in op.dtypes.iter().filter(|dtype| **dtype != DType::F64) {
            assert!(check(&backend, op, &sample, *dtype, &team), "{} {dtype}", op.name);
            n_compared += 1;
        }
    }
    assert!(n_compared >= 20, "only {n_compared} calls");
}

/// The backend has kernels for the operators of a training step, except products and operators with windows (convolution,
/// pooling).
#[test]
fn takes_what_a_training_step_is_made_of() {
    let ops = mxrs_ops::catalog();
    let backend = CpuBackend::new(&Team::serial());
    let arithmetic = ["add", "sub", "mul", "div"];
    let names = [
        "Activation _backward_Activation relu _backward_relu sigmoid _backward_sigmoid tanh _backward_tanh exp log sqrt",
        "_backward_sqrt square _backward_square abs _backward_abs negative clip _backward_clip _copy Cast _backward_cast",
        "zeros_like ones_like _zeros _ones _full add_n _grad_add _plus_scalar _minus_scalar _rminus_scalar _mul_scalar",
        "_div_scalar _rdiv_scalar _maximum_scalar _minimum_scalar _power_scalar _backward_rdiv_scalar",
        "_backward_power_scalar _backward_maximum_scalar _backward_minimum_scalar _backward_broadcast_sum_like",
        "_backward_broadcast_like sum mean max _backward_sum _backward_mean _backward_max argmax transpose slice_axis",
        "_backward_slice_axis Concat _backward_Concat Reshape Flatten expand_dims squeeze _backward_reshape Dropout",
        "_backward_Dropout softmax _backward_softmax log_softmax _backward_log_softmax SoftmaxOutput _backward_SoftmaxOutput _backward_Convolution_bias",
        "_backward_FullyConnected_bias _backward_backward_Convolution_bias _backward_backward_FullyConnected_bias",
        "sgd_update sgd_mom_update adam_update _adamw_update nag_mom_update _nag_mom_update signsgd_update signum_update",
        "rmsprop_update rmspropalex_update ftrl_update ftml_update _sparse_adagrad_update _adagrad_update",
        "_adadelta_update _adamax_update _nadam_update _sgld_update _dcasgd_update _dcasgd_mom_update lamb_update_phase1",
        "lamb_update_phase2 _multi_lamb_update _multi_adamw_update multi_sgd_update multi_sgd_mom_update multi_sum_sq",
        "multi_lars all_finite multi_all_finite _contrib_group_adagrad_update _two_bit_compression",
        "preloaded_multi_sgd_update preloaded_multi_sgd_mom_update _preloaded_multi_adam_update",
    ];
    let families = arithmetic.iter().flat_map(|name| [format!("elemwise_{name}"), format!("broadcast_{name}")]);
    for name in names.iter().flat_map(|line| line.split(' ')).map(String::from).chain(families) {
        let report = conformance::run(&*backend, ops.get(&name).expect("it is in the catalog"), &Team::serial());
        let of_lengths = |case: &conformance::Case| case.sample.contains("length") || case.sample == "to_float32";
        let left = report.skipped.iter().find(|(case, _)| case.dtype == DType::F32 && !of_lengths(case));
        assert!(report.n_compared() > 0 && left.is_none(), "{name}: {left:?}");
    }
}
