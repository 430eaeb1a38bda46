//! Compares whole networks on mxrs's own convolutions with the reference kernels. Images are as small as the networks allow,
//! because the reference kernels are slow.

use crate::random::{Network, logits, products};
use mxrs::Runtime;
use mxrs::env::MapSource;
use mxrs::types::DType;
use std::collections::BTreeSet;

/// The largest allowed difference of a logit in networks of up to 53 layers. A difference of logits is about as large
/// as the relative difference of the probability.
const NEAR: f32 = 2e-4;
/// The largest allowed difference of a logit in deeper networks, where float32 and the transforms of Winograd's algorithm
/// round more often.
const DEEP: f32 = 5e-4;

fn compare(name: &'static str, image: [usize; 3], most: f32) {
    let without = MapSource::new([("MXNET_ONEDNN_ENABLED", "0")]);
    let own = Runtime::builder().env(&without).build().unwrap();
    let reference = Runtime::builder().env(&without).only_backend("reference").build().unwrap();
    let network = Network::new(name, image);
    let [got, want] = [&own, &reference].map(|runtime| network.run(runtime, DType::F32));
    let backends: BTreeSet<&str> = products(&got).iter().map(|step| step.backend).collect();
    assert_eq!(backends, BTreeSet::from(["nnpack"]), "{name}");
    let (got, want) = (logits(&got), logits(&want));
    let off = got.iter().zip(&want).map(|(got, want)| (got - want).abs()).fold(0.0, f32::max);
    assert!(off <= most, "{name}: a logit is off by {off:.2e}");
}

#[test]
fn alexnet_on_the_convolutions_of_mxrs() {
    compare("alexnet", [3, 67, 67], NEAR);
}

#[test]
fn resnet_on_the_convolutions_of_mxrs() {
    compare("resnet-50", [3, 33, 33], NEAR);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "the reference kernels are slow in debug builds")]
fn vgg_on_the_convolutions_of_mxrs() {
    compare("vgg-16", [3, 32, 32], NEAR);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "the reference kernels are slow in debug builds")]
fn a_deep_resnet_on_the_convolutions_of_mxrs() {
    compare("resnet-152", [3, 33, 33], DEEP);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "the reference kernels are slow in debug builds")]
fn small_inception_on_the_convolutions_of_mxrs() {
    compare("inception-bn", [3, 28, 28], DEEP);
}

/// Images have 205 by 205 pixels, the smallest possible size, of which 7 by 7 reach the last pooling layer.
#[test]
#[cfg_attr(debug_assertions, ignore = "the reference kernels are slow in debug builds")]
fn inception_bn_on_the_convolutions_of_mxrs() {
    compare("inception-bn", [3, 205, 205], DEEP);
}

/// Images have 299 by 299 pixels, the smallest possible size, of which 8 by 8 reach the last pooling layer.
#[test]
#[cfg_attr(debug_assertions, ignore = "the reference kernels are slow in debug builds")]
fn inception_v3_on_the_convolutions_of_mxrs() {
    compare("inception-v3", [3, 299, 299], DEEP);
}

/// With concatenation in place, every branch of an inception module writes its channels directly into the concatenated
/// output, and no bit of the result changes.
#[test]
fn branches_of_inception_are_joined_without_a_copy() {
    let network = Network::new("inception-bn", [3, 28, 28]);
    let run = |in_place: &str| {
        let vars = MapSource::new([("MXNET_ONEDNN_ENABLED", "0"), ("MXNET_EXEC_ENABLE_INPLACE", in_place)]);
        let runtime = Runtime::builder().env(&vars).build().unwrap();
        let executor = network.run(&runtime, DType::F32);
        let steps = executor.report().unwrap().steps;
        let copies = steps.iter().filter(|step| step.op == "Concat" && step.kernel != "view").count();
        (executor.outputs()[0].to_vec::<f32>().unwrap(), copies)
    };
    let ((got, n), (want, n_plain)) = (run("1"), run("0"));
    assert!(n_plain > 5 && n == 0, "{n} of {n_plain} concatenations copy");
    assert!(got.iter().zip(&want).all(|(got, want)| got.to_bits() == want.to_bits()));
}
