//! Batch normalisation and relu in training: one call where a backend has it, the values of two, and less memory by making
//! outputs again, in the same bits.

use mxrs::Runtime;
use mxrs::env::MapSource;
use mxrs::exec::{BindOptions, Executor, ExecutorReport, GradReq, GradRequests};
use mxrs::graph::{Graph, NameManager, Symbol, SymbolCall};
use mxrs::types::Shape;

fn runtime(vars: &[(&str, &str)]) -> Runtime {
    Runtime::builder().env(&MapSource::new(vars.iter().copied())).build().expect("a runtime")
}

/// Residual units with pre-activation, then units of convolution, normalisation and relu, and a loss.
fn network(runtime: &Runtime) -> Graph {
    let mut names = NameManager::new();
    let mut call = |op: &str, attrs: &[(&str, &str)], inputs: &[&Symbol]| {
        let op = runtime.ops().get(op).expect("a built operator");
        let call = SymbolCall::new(op).inputs(inputs.iter().copied());
        attrs.iter().fold(call, |call, (key, value)| call.attr(*key, value)).build(&mut names).expect("a right call")
    };
    let free = ("fix_gamma", "False");
    let window = [("kernel", "(3, 3)"), ("pad", "(1, 1)"), ("num_filter", "32"), ("no_bias", "True")];
    let mut x = call("Convolution", &window, &[&Symbol::variable("x")]);
    for _ in 0..4 {
        let normalised = call("BatchNorm", &[free, ("momentum", "0.5")], &[&x]);
        let active = call("Activation", &[("act_type", "relu")], &[&normalised]);
        let made = call("Convolution", &window, &[&active]);
        x = call("elemwise_add", &[], &[&made, &x]);
    }
    for _ in 0..4 {
        let made = call("Convolution", &window, &[&x]);
        let normalised = call("BatchNorm", &[], &[&made]);
        x = call("relu", &[], &[&normalised]);
    }
    let dense = call("FullyConnected", &[("num_hidden", "10")], &[&x]);
    call("SoftmaxOutput", &[], &[&dense, &Symbol::variable("label")]).graph().expect("a graph")
}

/// Two steps from the same numbers: gradients and auxiliary states, and what was bound.
fn steps(vars: &[(&str, &str)]) -> (Vec<(String, Vec<f32>)>, ExecutorReport) {
    let runtime = runtime(vars);
    let requests = GradRequests::all(GradReq::Write).with("label", GradReq::Null);
    let options = BindOptions { gradients: Some(requests), ..runtime.bind_options() };
    let shape = Shape::from([4, 16, 12, 12]);
    let executor =
        Executor::simple_bind(&network(&runtime), runtime.arrays(), &[("x", shape)], &options).expect("it binds");
    for (seed, (name, array)) in executor.arrays().iter().enumerate() {
        let number = |i: usize| ((i * 7919 + seed * 104_729) % 1009) as f32 / 1009.0;
        let value = |i: usize| match name.as_str() {
            "label" => (i % 10) as f32,
            name if name.ends_with("gamma") || name.ends_with("var") => 0.5 + number(i),
            _ => 0.4 * (number(i) - 0.5),
        };
        array.copy_from(&(0..array.shape().n_elements()).map(value).collect::<Vec<f32>>()).expect("its shape");
    }
    for _ in 0..2 {
        executor.forward_train().expect("it runs");
        executor.backward(&[]).expect("it runs");
    }
    let gradients = executor.gradients().iter().map(|g| (format!("gradient of {}", g.name), &g.array));
    let arrays = executor.arrays().iter().map(|(name, array)| (name.clone(), array));
    let values = gradients.chain(arrays).map(|(name, array)| (name, array.to_vec::<f32>().expect("it is computed")));
    (values.collect(), executor.training_report().expect("bound for training"))
}

fn count(report: &ExecutorReport, op: &str) -> usize {
    report.steps.iter().filter(|step| step.op == op && step.kernel != "view").count()
}

#[test]
fn one_call_has_the_values_of_two() {
    let off = ("MXRS_REMAT", "off");
    let (expected, apart) = steps(&[off, ("MXNET_USE_FUSION", "0")]);
    let (found, joined) = steps(&[off]);
    assert_eq!((count(&apart, "_bn_relu"), count(&apart, "BatchNorm")), (0, 8));
    assert_eq!((count(&joined, "_bn_relu"), count(&joined, "_backward_bn_relu")), (8, 8));
    for op in ["BatchNorm", "Activation", "relu", "_backward_BatchNorm", "_backward_Activation", "_backward_relu"] {
        assert_eq!(count(&joined, op), 0, "{op}");
    }
    assert!(joined.arena_bytes <= apart.arena_bytes);
    for ((name, found), (_, expected)) in found.iter().zip(&expected) {
        let scale = expected.iter().fold(1e-3f32, |most, x| most.max(x.abs()));
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() <= 2e-4 * scale, "{name}: {found}, not {expected} of {scale}");
        }
    }
}

/// G13, G14: with nothing said a fifth of the memory is freed, and no bit changes.
#[test]
fn outputs_are_made_again_for_less_memory() {
    let (expected, off) = steps(&[("MXNET_BACKWARD_DO_MIRROR", "0")]);
    let (found, light) = steps(&[]);
    assert_eq!((count(&off, "_bn_relu_again"), count(&light, "_bn_relu")), (0, 8));
    assert!(count(&light, "_bn_relu_again") > 0);
    assert!(light.arena_bytes * 10 <= off.arena_bytes * 9, "{} of {}", light.arena_bytes, off.arena_bytes);
    for ((name, found), (_, expected)) in found.iter().zip(&expected) {
        assert!(found.iter().map(|x| x.to_bits()).eq(expected.iter().map(|x| x.to_bits())), "{name}");
    }
    let (mirrored, more) = steps(&[("MXNET_BACKWARD_DO_MIRROR", "1")]);
    assert!(more.arena_bytes < light.arena_bytes, "{} and {}", more.arena_bytes, light.arena_bytes);
    assert!(mirrored == expected, "mirroring changes no bit");
}

/// The residual's gradient is added where it lies.
#[test]
fn gradients_of_two_readers_are_added_in_place() {
    let (_, report) = steps(&[]);
    assert!(!report.inplace_adds.is_empty());
    assert_eq!(count(&report, "add_n"), 0);
}
