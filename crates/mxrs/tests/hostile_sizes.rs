//! A call whose output is larger than any memory is refused with the operator's name before memory is planned or allocated.

use mxrs::Runtime;
use mxrs::env::MapSource;
use mxrs::ndarray::NdArray;
use mxrs::op::Attrs;
use mxrs::types::{DType, ErrorKind};

/// With this padding, 16 channels have 16 × (2^58 + 1) elements. Their size in bytes overflows 64 bits, and the overflowed
/// size would be only 64.
const PAD: &str = "(268419073, 268451841)";

#[test]
fn a_single_call_with_hostile_padding_is_refused() {
    let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
    let ones = |shape: [usize; 4]| NdArray::from_slice(runtime.arrays(), shape, &vec![1.0_f32; shape.iter().product()]);
    let (data, weight) = (ones([1, 16, 1, 1]).unwrap(), ones([16, 1, 3, 3]).unwrap());
    let attrs = |pad: &str| -> Attrs {
        let attrs =
            [("num_filter", "16"), ("num_group", "16"), ("kernel", "(3, 3)"), ("no_bias", "True"), ("pad", pad)];
        attrs.into_iter().collect()
    };
    let imperative = runtime.imperative().unwrap();
    let error = imperative.invoke("Convolution", &attrs(PAD), &[&data, &weight]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Overflow { .. }), "{error}");
    assert!(error.to_string().contains("Convolution"), "the operator is named: {error}");
    // With a padding of 1, only the center of the window covers the single pixel.
    let output = imperative.invoke("Convolution", &attrs("(1, 1)"), &[&data, &weight]).unwrap().remove(0);
    assert_eq!(output.to_vec::<f32>().unwrap(), [1.0; 16]);
}

/// A symbol file may call the operators of gradients. The gradient of a bias has to have the axis of the channels.
#[test]
fn gradients_of_biases_with_too_few_axes_are_refused() {
    let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
    let imperative = runtime.imperative().unwrap();
    let array = |shape: &[usize]| NdArray::zeros(runtime.arrays(), shape, DType::F32).unwrap();
    let convolution: Attrs = [("num_filter", "3"), ("kernel", "(1, 1)")].into_iter().collect();
    let last: Attrs = [("num_filter", "3"), ("kernel", "(1, 1)"), ("layout", "NHWC")].into_iter().collect();
    let dense: Attrs = [("num_hidden", "3")].into_iter().collect();
    let bias = array(&[3]);
    for (op, attrs, shape) in [
        ("_backward_Convolution_bias", &convolution, &[][..]),
        ("_backward_Convolution_bias", &convolution, &[3]),
        ("_backward_Convolution_bias", &last, &[]),
        ("_backward_FullyConnected_bias", &dense, &[]),
    ] {
        let error = imperative.invoke(op, attrs, &[&array(shape), &bias]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Shape { .. }), "{op} {shape:?}: {error}");
        assert!(error.to_string().contains("ograd") && error.to_string().contains(op), "{op} {shape:?}: {error}");
    }
}

/// The number of inputs stands in a file. It is checked before a name is made for each input.
#[test]
fn calls_with_billions_of_inputs_are_refused() {
    let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
    let imperative = runtime.imperative().unwrap();
    let array = NdArray::zeros(runtime.arrays(), [2], DType::F32).unwrap();
    for op in ["Concat", "_backward_Concat", "add_n"] {
        let attrs: Attrs = [("num_args", "2000000000")].into_iter().collect();
        let error = imperative.invoke(op, &attrs, &[&array, &array]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Attribute { .. }), "{op}: {error}");
        assert!(error.to_string().contains("at most 65536"), "{op}: {error}");
    }
}

/// A weight that is a scalar has no axis of output channels. Its size could not match the parameters of batch normalization,
/// so the call is refused.
#[test]
fn weights_without_channels_are_not_folded() {
    let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
    let imperative = runtime.imperative().unwrap();
    let array = |shape: &[usize]| NdArray::zeros(runtime.arrays(), shape, DType::F32).unwrap();
    let (scalar, none) = (array(&[]), array(&[0]));
    let weight = imperative.invoke("_bn_fold_weight", &Attrs::new(), &[&scalar, &none, &none]).unwrap_err();
    let attrs: Attrs = [("no_bias", "True")].into_iter().collect();
    let bias = imperative.invoke("_bn_fold_bias", &attrs, &[&scalar, &none, &none, &none, &none]).unwrap_err();
    for error in [weight, bias] {
        assert!(matches!(error.kind(), ErrorKind::Shape { .. }), "{error}");
        assert!(error.to_string().contains("at least 1 axes"), "{error}");
    }
}

/// Ranges of quantization without elements are valid only for data without channels. Data without channels must have a
/// single range.
#[test]
fn ranges_that_do_not_fit_the_data_are_refused() {
    let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
    let imperative = runtime.imperative().unwrap();
    let array = |shape: &[usize], dtype| NdArray::zeros(runtime.arrays(), shape, dtype).unwrap();
    for op in ["_contrib_dequantize", "_contrib_requantize"] {
        for (shape, n_ranges) in [(&[][..], 0), (&[4], 0), (&[4], 2), (&[2, 3], 0), (&[2, 3], 2), (&[2, 0], 2)] {
            let (data, range) = (array(shape, DType::I32), array(&[n_ranges], DType::F32));
            let error = imperative.invoke(op, &Attrs::new(), &[&data, &range, &range]).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Shape { .. }), "{op} {shape:?} {n_ranges}: {error}");
            assert!(error.to_string().contains("range"), "{op} {shape:?} {n_ranges}: {error}");
        }
    }
}
