//! Tests that every optional pass of binding can be left out: outputs and training steps stay the same up to rounding.

use crate::random::{Network, logits};
use crate::training_step::step;
use mxrs::Runtime;
use mxrs::env::MapSource;
use mxrs::exec::{
    BindOptions, DryGraph, GradReq, GradRequests, Outcome, PlannedGraph, optional_pass_names, pass_names,
};
use mxrs::graph::PlanOptions;
use mxrs::types::DType;
use std::time::Duration;

/// The largest allowed difference of a logit. Fused and partitioned calls round less often than the calls that they replace.
const NEAR: f32 = 5e-4;

fn without(options: &BindOptions, pass: &str) -> BindOptions {
    BindOptions { without_passes: vec![pass.into()], ..options.clone() }
}

fn compare(name: &'static str, image: [usize; 3]) {
    let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
    let network = Network::new(name, image);
    let options = runtime.bind_options();
    let run = |options: &BindOptions| logits(&network.run_with(&runtime, DType::F32, options));
    let want = run(&options);
    for pass in optional_pass_names(&options) {
        let got = run(&without(&options, pass));
        let off = got.iter().zip(&want).map(|(got, want)| (got - want).abs()).fold(0.0, f32::max);
        assert!(off <= NEAR, "{name} without {pass}: a logit is off by {off:.2e}");
    }
}

#[test]
fn alexnet_without_each_pass() {
    compare("alexnet", [3, 67, 67]);
}

#[test]
fn resnet_50_without_each_pass() {
    compare("resnet-50", [3, 33, 33]);
}

#[test]
fn inception_bn_without_each_pass() {
    compare("inception-bn", [3, 28, 28]);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "slow in debug builds")]
fn vgg_16_without_each_pass() {
    compare("vgg-16", [3, 32, 32]);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "slow in debug builds")]
fn resnet_152_without_each_pass() {
    compare("resnet-152", [3, 33, 33]);
}

/// Images have 299 by 299 pixels, the smallest possible size: the last pooling layer then gets 8 by 8 pixels.
#[test]
#[cfg_attr(debug_assertions, ignore = "slow in debug builds")]
fn inception_v3_without_each_pass() {
    compare("inception-v3", [3, 299, 299]);
}

/// Compares with a step recorded in MXNet, so that the pipeline is not compared with itself.
#[test]
fn a_training_step_without_each_pass() {
    let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
    for pass in optional_pass_names(&runtime.bind_options()) {
        for model in ["lenet", "resnet8"] {
            step(&runtime, model, |options| options.without_passes = vec![pass.into()]);
        }
    }
}

#[test]
fn reports_follow_the_list_and_name_what_was_left_out() {
    let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
    let graph = crate::random::graph("resnet-50", DType::F32, [3, 33, 33]);
    let inputs = [("data", [1, 3, 33, 33].into())];
    let gradients = GradRequests::all(GradReq::Write).with("data", GradReq::Null);
    for is_train in [false, true] {
        let gradients = is_train.then(|| gradients.clone());
        let options = BindOptions { gradients, trace_passes: true, ..runtime.bind_options() };
        let dry = DryGraph::new(&graph, &inputs, &without(&options, "fuse"), is_train).unwrap();
        assert!(dry.passes().iter().map(|pass| pass.name).eq(pass_names()));
        let of = |name: &str| dry.passes().iter().find(|pass| pass.name == name).unwrap();
        assert_eq!(of("fuse").outcome, Outcome::Off);
        assert_eq!(of("gradient").outcome == Outcome::Changed, is_train);
        assert!(of("infer").time > Duration::ZERO);
        let (lower, last) = (of("lower"), dry.passes().last().unwrap());
        let planned = dry.plan(&options.plan).unwrap();
        assert_eq!(lower.graph.as_ref().unwrap().n_nodes(), lower.n_nodes[1]);
        assert!(lower.n_kernels.is_some_and(|n| n > 50 && n >= planned.steps.len() / 2));
        // The numbers after the last pass are those that `mxrs plan` prints. The passes over the program make neither the
        // program nor its arena larger.
        assert_eq!((last.n_steps, last.arena_bytes), (Some(planned.steps.len()), Some(planned.arena_bytes)));
        assert_eq!(last.packed_bytes.unwrap_or(0), planned.packed_bytes);
        assert!(last.n_steps <= lower.n_steps && last.arena_bytes <= lower.arena_bytes);
    }
}

/// Checks that each program pass changes some program. Otherwise the other tests of this file would compare equal programs.
#[test]
fn each_program_pass_changes_a_program_that_is_compared() {
    // oneDNN is off, because in training only mxrs's own convolutions can also do an addition.
    let runtime = Runtime::builder().env(&MapSource::new([("MXNET_ONEDNN_ENABLED", "0")])).build().unwrap();
    let changed = |name: &str, image: [usize; 3], is_train: bool| {
        let graph = crate::random::graph(name, DType::F32, image);
        let gradients = is_train.then(|| GradRequests::all(GradReq::Write).with("data", GradReq::Null));
        let options = BindOptions { gradients, ..runtime.bind_options() };
        let inputs = [("data", std::iter::once(1).chain(image).collect())];
        let dry = DryGraph::new(&graph, &inputs, &options, is_train).unwrap();
        let changed = dry.passes().iter().filter(|pass| pass.outcome == Outcome::Changed);
        changed.map(|pass| pass.name).collect::<Vec<_>>()
    };
    assert!(changed("inception-bn", [3, 28, 28], false).contains(&"concat-in-place"));
    let training = changed("resnet-50", [3, 33, 33], true);
    assert!(["fuse-add", "add-in-place"].iter().all(|pass| training.contains(pass)), "{training:?}");
}

#[test]
fn plans_of_other_options_start_from_the_same_program() {
    let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
    let graph = crate::random::graph("inception-bn", DType::F32, [3, 28, 28]);
    let inputs = [("data", [2, 3, 28, 28].into())];
    let options = runtime.bind_options();
    let dry = DryGraph::new(&graph, &inputs, &options, false).unwrap();
    let apart = PlanOptions { enable_inplace: false, ..options.plan };
    let bound_so = BindOptions { plan: apart, ..options.clone() };
    let other = DryGraph::new(&graph, &inputs, &bound_so, false).unwrap();
    for plan in [apart, options.plan] {
        let (got, want) = (dry.plan(&plan).unwrap(), other.plan(&plan).unwrap());
        let names = |planned: &PlannedGraph| planned.steps.iter().map(|step| step.name.clone()).collect::<Vec<_>>();
        assert_eq!((got.arena_bytes, names(&got)), (want.arena_bytes, names(&want)));
    }
}

#[test]
fn a_pass_that_is_unknown_or_necessary_cannot_be_left_out() {
    let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
    let graph = crate::random::graph("resnet-50", DType::F32, [3, 33, 33]);
    for pass in ["lower", "fusing"] {
        let options = without(&runtime.bind_options(), pass);
        let error = DryGraph::new(&graph, &[("data", [1, 3, 33, 33].into())], &options, false).err().unwrap();
        let text = error.to_string();
        assert!(text.contains(pass) && text.contains("eliminate-common") && text.contains("recompute"), "{text}");
    }
}
