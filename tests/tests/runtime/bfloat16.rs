//! Tests of networks in bfloat16, as `ModelOptions::dtype` builds them. They run on bfloat16 kernels, or on float32 kernels
//! if the build or the processor has none.

use crate::random::{Network, distance, logits, products, top, work};
use mxrs::Runtime;
use mxrs::env::MapSource;
use mxrs::exec::{BindOptions, Executor, GradReq, GradRequests};
use mxrs::format::Tensor;
use mxrs::graph::{Graph, NameManager, Symbol, SymbolCall};
use mxrs::ndarray::NdArray;
use mxrs::types::{DType, Shape};
use mxrs_processor::{MatrixUnits, Processor};

/// Settings that turn oneDNN off. On processors with fast instructions for bfloat16, mxrs itself then has kernels for all
/// products at inference. On other processors it has bfloat16 kernels only for convolutions that suit Winograd's algorithm.
/// Every network also has other products, so no network runs entirely on bfloat16 kernels there.
const WITHOUT: [(&str, &str); 2] = [("MXNET_ONEDNN_ENABLED", "0"), ("OMP_NUM_THREADS", "1")];

/// Whether products of bfloat16 run on kernels for bfloat16 at inference without oneDNN.
fn has_own_kernels() -> bool {
    MatrixUnits::request().is_some() || Processor::vectors_multiply_bfloat16()
}

fn runtime(vars: &[(&str, &str)]) -> Runtime {
    Runtime::builder().env(&MapSource::new(vars.iter().copied())).build().unwrap()
}

/// The largest allowed relative distance of logits from their float32 values. A bfloat16 number has 8 significant bits, so
/// rounding changes it by up to 2^-9 of itself, at random. Each layer rounds its weights, its output, and the values that are
/// computed from its output for the next layer. Independent errors add up like the square root of their number. An error
/// above four times this estimate is not due to rounding.
fn tolerance(n_layers: usize) -> f64 {
    4.0 * 2f64.powi(-9) * (3.0 * n_layers as f64).sqrt()
}

fn compare(name: &'static str, image: [usize; 3]) {
    let network = Network::new(name, image);
    let all = runtime(&[]);
    let has_library = all.backends().list().iter().any(|backend| backend.name() == "onednn");
    for (runtime, is_own) in [(Some(runtime(&WITHOUT)), true), (has_library.then_some(all), false)] {
        let Some(runtime) = runtime else { continue };
        let [wide, short] = [DType::F32, DType::BF16].map(|dtype| network.run(&runtime, dtype));
        let is_stored_as = |end: &str, dtype| {
            let mut arrays = short.arrays().iter().filter(|(name, _)| name.ends_with(end));
            arrays.all(|(_, array)| array.dtype() == dtype)
        };
        assert!(is_stored_as("_weight", DType::BF16) && is_stored_as("_moving_var", DType::F32), "{name}");
        let (got, want) = (logits(&short), logits(&wide));
        let (off, most) = (distance(&got, &want), tolerance(products(&wide).len()));
        assert!(off > 1e-5, "{name}: weights were not rounded");
        assert!(off <= most, "{name}: logits are off by {off:.2e}, more than {most:.2e}");
        assert_eq!(top(&got), top(&want), "{name}");
        assert!(products(&short).iter().all(|step| step.backend != "reference"), "{name}");
        if is_own && !has_own_kernels() {
            let ((n_short, short), (n_wide, wide)) = (work(&short), work(&wide));
            assert_eq!(short, wide, "{name}: other kernels");
            assert!(n_short <= n_wide + 1, "{name}: {n_short} conversions");
        }
    }
}

#[test]
fn alexnet_in_bfloat16_answers_as_in_float32() {
    compare("alexnet", [3, 67, 67]);
}

#[test]
fn resnet_50_in_bfloat16_answers_as_in_float32() {
    compare("resnet-50", [3, 33, 33]);
}

#[test]
fn small_inception_bn_in_bfloat16_answers_as_in_float32() {
    compare("inception-bn", [3, 28, 28]);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "large networks are slow in debug builds")]
fn vgg_16_in_bfloat16_answers_as_in_float32() {
    compare("vgg-16", [3, 32, 32]);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "large networks are slow in debug builds")]
fn resnet_152_in_bfloat16_answers_as_in_float32() {
    compare("resnet-152", [3, 33, 33]);
}

/// Images have 205 by 205 pixels, the smallest possible size, of which 7 by 7 reach the last pooling layer. For the next
/// test, of Inception-v3, it is 299 by 299 pixels, of which 8 by 8 do.
#[test]
#[cfg_attr(debug_assertions, ignore = "large networks are slow in debug builds")]
fn inception_bn_in_bfloat16_answers_as_in_float32() {
    compare("inception-bn", [3, 205, 205]);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "large networks are slow in debug builds")]
fn inception_v3_in_bfloat16_answers_as_in_float32() {
    compare("inception-v3", [3, 299, 299]);
}

/// A 1x1 convolution of `data`, computed in `dtype`; without oneDNN, only float32 has a kernel for it. Returns the result in
/// `dtype`, and the same result cast to float32.
fn layer(runtime: &Runtime, dtype: DType) -> [Symbol; 2] {
    let mut names = NameManager::new();
    let mut call = |op: &str, name: &str, attrs: &[(&str, &str)], input: &Symbol| {
        let call = SymbolCall::new(runtime.ops().get(op).unwrap()).name(name).input(input);
        attrs.iter().fold(call, |call, (key, value)| call.attr(*key, value)).build(&mut names).unwrap()
    };
    let data = call("Cast", "typed", &[("dtype", dtype.name())], &Symbol::variable("data"));
    let attrs = [("kernel", "(1, 1)"), ("num_filter", "32"), ("no_bias", "True")];
    let layer = call("Convolution", "layer", &attrs, &data);
    let wide = call("Cast", "wide", &[("dtype", "float32")], &layer);
    [layer, wide]
}

const DATA: [usize; 4] = [2, 32, 16, 16];

/// Binds the graph, requests the gradient of the weight, and fills arrays with numbers that bfloat16 represents exactly.
fn bound(runtime: &Runtime, graph: &Graph) -> Executor {
    let gradients = GradRequests::all(GradReq::Write).with("data", GradReq::Null);
    let options = BindOptions { gradients: Some(gradients), ..runtime.bind_options() };
    let executor = Executor::simple_bind(graph, runtime.arrays(), &[("data", DATA.into())], &options).unwrap();
    for (seed, (_, array)) in executor.arrays().iter().enumerate() {
        let n = array.shape().n_elements();
        let values: Vec<f32> = (0..n).map(|i| ((i * (37 + 2 * seed)) % 255) as f32 / 64.0 - 127.0 / 64.0).collect();
        array.copy_from_bytes(&stored(array.shape(), &values, array.dtype())).unwrap();
    }
    executor
}

/// The bytes of `values` stored as `dtype`. Each number is rounded once.
fn stored(shape: &Shape, values: &[f32], dtype: DType) -> Vec<u8> {
    Tensor::from_slice(shape.clone(), values).unwrap().cast(dtype).stored_bytes().to_vec()
}

fn bytes(array: &NdArray) -> Vec<u8> {
    array.read_bytes(<[u8]>::to_vec).unwrap()
}

#[test]
fn results_on_kernels_for_float32_are_rounded_once() {
    if has_own_kernels() {
        return;
    }
    let runtime = runtime(&WITHOUT);
    let [short, wide] = [DType::BF16, DType::F32].map(|dtype| {
        let executor = bound(&runtime, &Symbol::group(&layer(&runtime, dtype)).graph().unwrap());
        executor.forward().unwrap();
        executor
    });
    let want = wide.outputs()[1].to_vec::<f32>().unwrap();
    assert_eq!(short.outputs()[1].to_vec::<f32>().unwrap(), want);
    assert_eq!(short.outputs()[0].dtype(), DType::BF16);
    assert_eq!(bytes(&short.outputs()[0]), stored(short.outputs()[0].shape(), &want, DType::BF16));
    assert!(want.iter().any(|x| x.to_bits() & 0xffff != 0), "there is something to round");
}

#[test]
fn gradients_are_rounded_once() {
    let runtime = runtime(&WITHOUT);
    let [short, wide] = [DType::BF16, DType::F32].map(|dtype| {
        let [_, head] = layer(&runtime, dtype);
        let executor = bound(&runtime, &head.graph().unwrap());
        executor.forward_train().unwrap();
        let shape = executor.outputs()[0].shape().clone();
        let values: Vec<f32> = (0..shape.n_elements()).map(|i| (i % 7) as f32 - 3.0).collect();
        executor.backward(&[NdArray::from_slice(runtime.arrays(), shape, &values).unwrap()]).unwrap();
        executor
    });
    let gradient = short.gradient("layer_weight").unwrap();
    let want = wide.gradient("layer_weight").unwrap().to_vec::<f32>().unwrap();
    assert_eq!(gradient.dtype(), DType::BF16);
    assert_eq!(bytes(gradient), stored(gradient.shape(), &want, DType::BF16));
    let steps = short.training_report().unwrap().steps;
    let run: Vec<_> = steps.iter().filter(|step| step.op.contains("Convolution")).collect();
    assert_eq!(run.len(), 2);
    // Matrix units have kernels for bfloat16, which round once, too: all sums are exact in float32.
    let dtype = if MatrixUnits::request().is_some() { "bfloat16" } else { "float32" };
    assert!(run.iter().all(|step| step.backend == "nnpack" && step.outputs[0].starts_with(dtype)), "{run:?}");
}
