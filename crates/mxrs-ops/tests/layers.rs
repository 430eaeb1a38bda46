//! Tests that layers write attributes as MXNet spells them, and that a layer has the defaults of its operator. Other tests
//! compare the defaults of operators with MXNet's.

use mxrs_op::{Attrs, Layer};
use mxrs_ops::layers::*;

/// The parameters of operator `op` that are parsed from `attrs`, as text.
fn parsed(op: &str, attrs: &Attrs) -> String {
    let ops = mxrs_ops::catalog();
    let mut attrs = attrs.clone();
    if op == "Concat" {
        attrs.set("num_args", "2");
    }
    format!("{:?}", ops.get(op).unwrap().parse(&attrs).unwrap_or_else(|error| panic!("{error}")))
}

/// Checks that the attributes of `layer` are parsed to the same parameters as the attributes `texts`.
fn says<L: Layer, const N: usize>(layer: &L, texts: [(&str, &str); N]) {
    assert_eq!(parsed(L::OP, &layer.attrs()), parsed(L::OP, &Attrs::from(texts)));
}

#[test]
fn every_attribute_is_read_as_mxnets_text() {
    let conv = Conv2d {
        kernel: [3, 5],
        num_filter: 8,
        stride: [2, 1],
        pad: [1, 2],
        dilate: [1, 2],
        num_group: 4,
        no_bias: true,
    };
    says(
        &conv,
        [
            ("kernel", "(3, 5)"),
            ("num_filter", "8"),
            ("stride", "(2, 1)"),
            ("pad", "(1, 2)"),
            ("dilate", "(1, 2)"),
            ("num_group", "4"),
            ("no_bias", "True"),
        ],
    );
    says(&Conv1d { kernel: [7], num_filter: 2, ..Conv1d::default() }, [("kernel", "(7,)"), ("num_filter", "2")]);
    let pool = Pool2d {
        kernel: [3, 3],
        pool_type: PoolType::Avg,
        stride: [2, 2],
        pad: [1, 1],
        global_pool: false,
        pooling_convention: PoolConvention::Full,
        count_include_pad: false,
    };
    says(
        &pool,
        [
            ("kernel", "(3, 3)"),
            ("pool_type", "avg"),
            ("stride", "(2, 2)"),
            ("pad", "(1, 1)"),
            ("pooling_convention", "full"),
            ("count_include_pad", "False"),
        ],
    );
    says(&Pool2d::global_average(), [("kernel", "(1, 1)"), ("pool_type", "avg"), ("global_pool", "True")]);
    says(
        &FullyConnected { num_hidden: 10, no_bias: true, flatten: false },
        [("num_hidden", "10"), ("no_bias", "True"), ("flatten", "False")],
    );
    for (word, layer) in
        [("relu", Activation::relu()), ("sigmoid", Activation::sigmoid()), ("tanh", Activation::tanh())]
    {
        says(&layer, [("act_type", word)]);
    }
    let dropout = Dropout { p: 0.25, mode: DropoutMode::Always, axes: vec![0, 2] };
    says(&dropout, [("p", "0.25"), ("mode", "always"), ("axes", "(0, 2)")]);
    let norm = BatchNorm { eps: 2e-5, momentum: 0.8, fix_gamma: false, use_global_stats: true, axis: -1 };
    says(
        &norm,
        [("eps", "2e-05"), ("momentum", "0.8"), ("fix_gamma", "False"), ("use_global_stats", "True"), ("axis", "-1")],
    );
    let lrn = Lrn { nsize: 5, alpha: 0.001, beta: 0.5, knorm: 1.0 };
    says(&lrn, [("nsize", "5"), ("alpha", "0.001"), ("beta", "0.5"), ("knorm", "1")]);
    let output = SoftmaxOutput {
        grad_scale: 2.0,
        ignore_label: 3.0,
        multi_output: true,
        use_ignore: true,
        preserve_shape: true,
        normalization: Normalization::Batch,
        out_grad: true,
        smooth_alpha: 0.1,
    };
    says(
        &output,
        [
            ("grad_scale", "2"),
            ("ignore_label", "3"),
            ("multi_output", "True"),
            ("use_ignore", "True"),
            ("preserve_shape", "True"),
            ("normalization", "batch"),
            ("out_grad", "True"),
            ("smooth_alpha", "0.1"),
        ],
    );
    says(&Softmax { axis: 1 }, [("axis", "1")]);
    says(&Concat { dim: 2 }, [("dim", "2")]);
    says(&Reshape { shape: vec![0, -1] }, [("shape", "(0, -1)")]);
    says(&Flatten {}, []);
}

/// A layer does not write attributes that have their defaults. If such an attribute is written nevertheless, the operator
/// parses the same parameters.
#[test]
fn defaults_are_those_of_the_operators() {
    says(&Dropout::default(), [("p", "0.5"), ("mode", "training"), ("axes", "()")]);
    says(
        &BatchNorm::default(),
        [("momentum", "0.9"), ("fix_gamma", "True"), ("use_global_stats", "False"), ("axis", "1")],
    );
    says(&Lrn::new(5), [("nsize", "5"), ("alpha", "0.0001"), ("beta", "0.75"), ("knorm", "2")]);
    says(&FullyConnected::new(3), [("num_hidden", "3"), ("no_bias", "False"), ("flatten", "True")]);
    says(
        &SoftmaxOutput::default(),
        [
            ("grad_scale", "1"),
            ("ignore_label", "-1"),
            ("multi_output", "False"),
            ("use_ignore", "False"),
            ("preserve_shape", "False"),
            ("normalization", "null"),
            ("out_grad", "False"),
            ("smooth_alpha", "0"),
        ],
    );
    says(&Softmax::default(), [("axis", "-1")]);
    says(&Concat::default(), [("dim", "1")]);
    says(
        &Pool2d { kernel: [2, 2], ..Pool2d::default() },
        [("kernel", "(2, 2)"), ("pool_type", "max"), ("pooling_convention", "valid"), ("global_pool", "False")],
    );
}

/// According to MXNet's manual, `stride`, `pad` and `dilate` without items mean ones, zeros and ones.
#[test]
fn windows_default_to_steps_of_one_without_padding() {
    let conv = Conv3d { kernel: [2, 2, 2], num_filter: 1, ..Conv3d::default() };
    assert_eq!((conv.stride, conv.pad, conv.dilate), ([1; 3], [0; 3], [1; 3]));
    assert_eq!(conv.attrs().len(), 2, "{:?}", conv.attrs());
    assert_eq!(Pool2d::default().stride, [1, 1]);
}
