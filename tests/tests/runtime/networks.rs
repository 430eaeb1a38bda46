//! Whole networks on the convolutions of mxrs alone, against the reference kernels. Small images, for the reference's sake.

use mxrs::Runtime;
use mxrs::env::MapSource;
use mxrs::exec::Executor;
use mxrs::models::{Initializer, ModelOptions, model};
use mxrs::types::Shape;
use std::collections::BTreeSet;

/// Probabilities of one image, and who ran the convolutions and fully-connected layers.
fn answers(runtime: &Runtime, name: &str, image: [usize; 3]) -> (Vec<f32>, BTreeSet<&'static str>) {
    let options = ModelOptions { image: Some(image), n_classes: 40, ..ModelOptions::default() };
    let graph = model(name, &options).unwrap().symbol.graph().unwrap();
    let shape: Shape = std::iter::once(1).chain(image).collect();
    let executor =
        Executor::simple_bind(&graph, runtime.arrays(), &[("data", shape)], &runtime.bind_options()).unwrap();
    for (name, array) in executor.arrays().iter().filter(|(name, _)| !name.ends_with("label")) {
        let init = graph.find(name).and_then(|id| graph.node(id).attrs.get("__init__"));
        let init = if name == "data" { Some("[\"uniform\", {\"scale\": 1.0}]") } else { init };
        array.copy_from(&Initializer::xavier(2.0).values(name, init, array.shape(), 7).unwrap()).unwrap();
    }
    executor.forward().unwrap();
    let steps = executor.report().unwrap().steps;
    let products = ["Convolution", "_sg_conv", "FullyConnected", "_sg_fully_connected"];
    let backends = steps.iter().filter(|step| products.contains(&step.op.as_str())).map(|step| step.backend).collect();
    (executor.outputs()[0].to_vec::<f32>().unwrap(), backends)
}

fn compare(name: &str, image: [usize; 3]) {
    let without = MapSource::new([("MXNET_ONEDNN_ENABLED", "0")]);
    let own = Runtime::builder().env(&without).build().unwrap();
    let reference = Runtime::builder().env(&without).only_backend("reference").build().unwrap();
    let ((got, backends), (want, _)) = (answers(&own, name, image), answers(&reference, name, image));
    assert_eq!(backends, BTreeSet::from(["nnpack"]), "{name}");
    assert_eq!(got.len(), 40);
    assert!(want.iter().all(|p| (1e-6..0.9).contains(p)), "{name}: answers that show little: {want:?}");
    for (got, want) in got.iter().zip(&want) {
        assert!((got - want).abs() <= 2e-4 * want, "{name}: {got} for {want}");
    }
}

#[test]
fn alexnet_on_the_convolutions_of_mxrs() {
    compare("alexnet", [3, 67, 67]);
}

#[test]
fn resnet_on_the_convolutions_of_mxrs() {
    compare("resnet-50", [3, 33, 33]);
}

/// Blocks of channels of one image: every branch of a module writes into the whole, and no bit changes.
#[test]
fn branches_of_inception_are_joined_without_a_copy() {
    let run = |in_place: &str| {
        let vars = MapSource::new([("MXNET_ONEDNN_ENABLED", "0"), ("MXNET_EXEC_ENABLE_INPLACE", in_place)]);
        let runtime = Runtime::builder().env(&vars).build().unwrap();
        let options = ModelOptions { image: Some([3, 28, 28]), n_classes: 40, ..ModelOptions::default() };
        let graph = model("inception-bn", &options).unwrap().symbol.graph().unwrap();
        let shape = Shape::from([1, 3, 28, 28]);
        let executor =
            Executor::simple_bind(&graph, runtime.arrays(), &[("data", shape)], &runtime.bind_options()).unwrap();
        for (name, array) in executor.arrays().iter().filter(|(name, _)| !name.ends_with("label")) {
            let init = graph.find(name).and_then(|id| graph.node(id).attrs.get("__init__"));
            let init = if name == "data" { Some("[\"uniform\", {\"scale\": 1.0}]") } else { init };
            array.copy_from(&Initializer::xavier(2.0).values(name, init, array.shape(), 7).unwrap()).unwrap();
        }
        executor.forward().unwrap();
        let steps = executor.report().unwrap().steps;
        let copies = steps.iter().filter(|step| step.op == "Concat" && step.kernel != "view").count();
        (executor.outputs()[0].to_vec::<f32>().unwrap(), copies)
    };
    let ((got, n), (want, n_plain)) = (run("1"), run("0"));
    assert!(n_plain > 5 && n == 0, "{n} of {n_plain} concatenations copy");
    assert!(got.iter().zip(&want).all(|(got, want)| got.to_bits() == want.to_bits()));
}
