//! Compares fused calls with the calls they replace, in float64, on kernels that share no code.

use mxrs_op::{Attrs, OpCall, OpDef, RefInput, RefOutput, RunMode, Sample, TensorDesc, elements};
use mxrs_testkit::Seeded;
use mxrs_types::{DType, PartialShape, Shape};

#[derive(Clone)]
struct Tensor {
    shape: Shape,
    values: Vec<f64>,
}

/// First output of a call in float64, in inference.
fn call(op: &str, attrs: &Attrs, inputs: &[Tensor]) -> Tensor {
    let ops = mxrs_ops::catalog();
    let op: &OpDef = ops.get(op).expect("an operator");
    let params = op.parse(attrs).expect("parameters");
    let mut shapes: Vec<PartialShape> = inputs.iter().map(|t| PartialShape::from(&t.shape)).collect();
    let mut out_shapes = vec![PartialShape::unknown(); op.n_outputs.get(&params)];
    op.infer_shapes(&params, &mut shapes, &mut out_shapes).expect("shapes");
    let desc = |shape: &PartialShape| TensorDesc::dense(shape.known().expect("a whole shape"), DType::F64);
    let (in_descs, out_descs): (Vec<_>, Vec<_>) =
        (shapes.iter().map(desc).collect(), out_shapes.iter().map(desc).collect());
    let call =
        OpCall { op, params: &params, inputs: &in_descs, outputs: &out_descs, is_constant: &[], is_train: false };
    let n = call.outputs[0].shape.n_elements();
    let mut memory: Vec<Vec<f64>> = out_descs.iter().map(|d| vec![f64::NAN; d.shape.n_elements()]).collect();
    let inputs: Vec<RefInput<'_>> = inputs
        .iter()
        .zip(&in_descs)
        .map(|(t, desc)| RefInput { desc, bytes: bytemuck::cast_slice(&t.values) })
        .collect();
    let mut outputs: Vec<RefOutput<'_>> = memory
        .iter_mut()
        .zip(&out_descs)
        .map(|(values, desc)| RefOutput { desc, bytes: bytemuck::cast_slice_mut(values) })
        .collect();
    op.reference.expect("a kernel")(&params, &inputs, &mut outputs, RunMode::default()).expect("a run");
    Tensor {
        shape: out_descs[0].shape.clone(),
        values: elements::read_f64(bytemuck::cast_slice(&memory[0][..n]), DType::F64),
    }
}

/// First output of a call whose first input has type `data` and whose other inputs are f32. Integers of the output are
/// returned as f64.
fn call_typed(op: &str, attrs: &Attrs, data: DType, inputs: &[Tensor]) -> Vec<f64> {
    let ops = mxrs_ops::catalog();
    let op: &OpDef = ops.get(op).expect("an operator");
    let params = op.parse(attrs).expect("parameters");
    let mut shapes: Vec<PartialShape> = inputs.iter().map(|t| PartialShape::from(&t.shape)).collect();
    let mut out_shapes = vec![PartialShape::unknown(); op.n_outputs.get(&params)];
    op.infer_shapes(&params, &mut shapes, &mut out_shapes).expect("shapes");
    let types: Vec<DType> = (0..inputs.len()).map(|i| if i == 0 { data } else { DType::F32 }).collect();
    let mut dtypes: Vec<Option<DType>> = types.iter().map(|t| Some(*t)).collect();
    let mut out_dtypes = vec![None; out_shapes.len()];
    op.infer_dtypes(&params, &mut dtypes, &mut out_dtypes).expect("types");
    let described = |(t, dtype): (&Tensor, &DType)| TensorDesc::dense(t.shape.clone(), *dtype);
    let descs: Vec<TensorDesc> = inputs.iter().zip(&types).map(described).collect();
    let of_output = |(shape, dtype): (&PartialShape, Option<DType>)| {
        TensorDesc::dense(shape.known().expect("a whole shape"), dtype.expect("a type"))
    };
    let out_descs: Vec<TensorDesc> = out_shapes.iter().zip(out_dtypes).map(of_output).collect();
    let written = |(t, desc): (&Tensor, &TensorDesc)| {
        let bytes = |v: &f64| match desc.dtype {
            DType::I8 => (*v as i8).to_ne_bytes().to_vec(),
            DType::U8 => vec![*v as u8],
            _ => (*v as f32).to_ne_bytes().to_vec(),
        };
        t.values.iter().flat_map(bytes).collect()
    };
    let values: Vec<Vec<u8>> = inputs.iter().zip(&descs).map(written).collect();
    let inputs: Vec<RefInput<'_>> = values.iter().zip(&descs).map(|(bytes, desc)| RefInput { desc, bytes }).collect();
    let mut memory: Vec<Vec<u8>> = out_descs.iter().map(|d| vec![0; d.size_bytes()]).collect();
    let mut outputs: Vec<RefOutput<'_>> =
        memory.iter_mut().zip(&out_descs).map(|(bytes, desc)| RefOutput { desc, bytes }).collect();
    op.reference.expect("a kernel")(&params, &inputs, &mut outputs, RunMode::default()).expect("a run");
    elements::read_f64(&memory[0], out_descs[0].dtype)
}

fn tensors(sample: &Sample) -> Vec<Tensor> {
    let mut seed = Seeded::from_text(sample.name);
    let fill = |input: &mxrs_op::SampleInput| {
        let buffer = mxrs_testkit::fill_input(input, DType::F64, &mut seed);
        Tensor { shape: input.shape.clone(), values: elements::read_f64(buffer.bytes(), DType::F64) }
    };
    sample.inputs.iter().map(fill).collect()
}

fn without(attrs: &Attrs, keys: &[&str]) -> Attrs {
    attrs.iter().filter(|(key, _)| !keys.contains(key)).collect()
}

fn assert_close(got: &Tensor, expected: &Tensor, context: &str) {
    assert_eq!(got.shape, expected.shape, "{context}");
    for (a, b) in got.values.iter().zip(&expected.values) {
        assert!((a - b).abs() <= 1e-10 * (1.0 + b.abs()), "{context}: {a}, expected {b}");
    }
}

#[test]
fn a_product_with_an_epilogue_is_the_calls_one_after_another() {
    const EPILOGUE: [&str; 6] = ["with_sum", "act", "a_min", "a_max", "slope", "offset"];
    let none = Attrs::new();
    for (fused, product) in [("_sg_conv", "Convolution"), ("_sg_fully_connected", "FullyConnected")] {
        let mut seen = Vec::new();
        for sample in (mxrs_ops::catalog().get(fused).expect("an operator").samples)() {
            let context = format!("{fused}/{}", sample.name);
            let mut inputs = tensors(&sample);
            let got = call(fused, &sample.attrs, &inputs);
            let sum = sample.attrs.get("with_sum").and_then(|_| inputs.pop());
            let mut expected = call(product, &without(&sample.attrs, &EPILOGUE), &inputs);
            if let Some(sum) = sum {
                expected = call("elemwise_add", &none, &[expected, sum]);
            }
            let act = sample.attrs.get("act").unwrap_or("none");
            expected = function(&sample.attrs, "", expected);
            assert_close(&got, &expected, &context);
            seen.push(act.to_string());
        }
        for act in ["none", "relu", "sigmoid", "tanh", "softrelu", "clip", "square", "sqrt", "abs", "exp"] {
            assert!(seen.iter().any(|s| s == act), "{fused}: no sample with {act}");
        }
    }
}

/// Applies the function of an epilogue, whose parameters have this prefix, by calls of other operators.
fn function(attrs: &Attrs, prefix: &str, x: Tensor) -> Tensor {
    let none = Attrs::new();
    let get = |key: &str, default| attrs.get(&format!("{prefix}{key}")).unwrap_or(default).to_owned();
    let scalar = |op, value: String, x| call(op, &Attrs::from([("scalar", value.as_str())]), &[x]);
    let clipped = |a_min: String, a_max: String, x| {
        call("clip", &Attrs::from([("a_min", a_min.as_str()), ("a_max", a_max.as_str())]), &[x])
    };
    let hard = |x: Tensor| {
        let scaled = scalar("_mul_scalar", get("slope", "0.2"), x);
        clipped("0".into(), "1".into(), scalar("_plus_scalar", get("offset", "0.5"), scaled))
    };
    match get("act", "none").as_str() {
        "none" => x,
        "clip" => clipped(get("a_min", "0"), get("a_max", "0"), x),
        act @ ("square" | "sqrt" | "abs" | "exp") => call(act, &none, &[x]),
        "silu" => call("elemwise_mul", &none, &[x.clone(), call("sigmoid", &none, &[x])]),
        "hard_sigmoid" => hard(x),
        "hard_swish" => call("elemwise_mul", &none, &[x.clone(), hard(x)]),
        act => call("Activation", &Attrs::from([("act_type", act)]), &[x]),
    }
}

#[test]
fn a_convolution_and_a_depthwise_convolution_in_one_are_the_two() {
    let samples = (mxrs_ops::catalog().get("_sg_conv_depthwise").expect("an operator").samples)();
    assert!(samples.len() > 4);
    for sample in samples {
        let inputs = tensors(&sample);
        let pick = |keys: &[(&'static str, &str)]| -> Attrs {
            keys.iter().filter_map(|(to, from)| Some((*to, sample.attrs.get(from)?))).collect()
        };
        let channels = inputs[1].shape[0].to_string();
        let n_first = if sample.attrs.get("no_bias").is_some() { 2 } else { 3 };
        let first = pick(&[("kernel", "kernel"), ("num_filter", "num_filter"), ("no_bias", "no_bias")]);
        let between = function(&sample.attrs, "", call("Convolution", &first, &inputs[..n_first]));
        let mut second = pick(&[
            ("kernel", "dw_kernel"),
            ("stride", "dw_stride"),
            ("dilate", "dw_dilate"),
            ("pad", "dw_pad"),
            ("no_bias", "dw_no_bias"),
        ]);
        second.set("num_filter", channels.as_str());
        second.set("num_group", channels.as_str());
        let second_inputs: Vec<Tensor> = std::iter::once(between).chain(inputs[n_first..].iter().cloned()).collect();
        let expected = function(&sample.attrs, "dw_", call("Convolution", &second, &second_inputs));
        assert_close(&call("_sg_conv_depthwise", &sample.attrs, &inputs), &expected, sample.name);
    }
}

#[test]
fn factors_and_a_convolution_in_one_are_the_two() {
    let samples = (mxrs_ops::catalog().get("_sg_scaled_conv").expect("an operator").samples)();
    assert!(samples.len() > 4);
    for sample in samples {
        let mut inputs = tensors(&sample);
        let factors = inputs.pop().expect("factors");
        inputs[0] = call("broadcast_mul", &Attrs::new(), &[inputs[0].clone(), factors]);
        let expected = call("_sg_conv", &sample.attrs, &inputs);
        assert_close(&call("_sg_scaled_conv", &sample.attrs, &tensors(&sample)), &expected, sample.name);
    }
}

#[test]
fn normalization_and_relu_in_one_are_the_two() {
    for sample in (mxrs_ops::catalog().get("_sg_bn_relu").expect("an operator").samples)() {
        let inputs = tensors(&sample);
        let expected = call("relu", &Attrs::new(), &[call("BatchNorm", &sample.attrs, &inputs)]);
        assert_close(&call("_sg_bn_relu", &sample.attrs, &inputs), &expected, sample.name);
    }
}

#[test]
fn normalization_relu_and_quantization_in_one_are_the_three() {
    for (word, levels, most) in [("int8", 127.5, 127.0), ("uint8", 255.5, 255.0)] {
        let reach = 0.5;
        let attrs = |more: &[(&'static str, &'static str)]| -> Attrs {
            [("fix_gamma", "False"), ("eps", "0.01")].iter().chain(more).copied().collect()
        };
        let shapes: [&[usize]; 5] = [&[2, 12, 6, 5], &[12], &[12], &[12], &[12]];
        let positive = mxrs_op::Fill::Uniform(0.1, 2.0);
        let sample = Sample::new("quantized", [("a", "b")], &shapes);
        let inputs = tensors(&sample.fill(1, positive.clone()).fill(4, positive));
        let range = [("out_type", word), ("min_calib_range", "0"), ("max_calib_range", "0.5")];
        let got = call_typed("_sg_bn_relu_quantize", &attrs(&range), DType::F32, &inputs);
        let real = call("relu", &Attrs::new(), &[call("BatchNorm", &attrs(&[]), &inputs)]);
        for (got, real) in got.iter().zip(&real.values) {
            let exact = (real * levels / reach).min(most);
            assert!((got - exact).abs() <= 0.501, "{word}: {got}, expected about {exact}");
        }
        assert!(got.contains(&most) && got.contains(&0.0), "{word}: both ends are met");
    }
}

#[test]
fn normalization_of_integers_is_that_of_what_they_stand_for() {
    for (bytes, levels) in [(DType::I8, 127.5), (DType::U8, 255.5)] {
        for (relu, word, out_levels, [least, most]) in [
            (false, "int8", 127.5, [-128.0, 127.0]),
            (true, "int8", 127.5, [0.0, 127.0]),
            (true, "uint8", 255.5, [0.0, 255.0]),
        ] {
            let (low, high) = if bytes == DType::I8 { (-128, 128) } else { (0, 256) };
            let c: &[usize] = &[3];
            let shapes: [&[usize]; 7] = [&[2, 3, 8, 8], c, c, &[1], &[1], c, c];
            let value = |x: f64| mxrs_op::Fill::Values(vec![x]);
            let sample = Sample::new("integers", [("a", "b")], &shapes)
                .fill(0, mxrs_op::Fill::Integers(low, high))
                .fill(1, mxrs_op::Fill::Uniform(0.5, 2.0))
                .fill(3, value(-3.0))
                .fill(4, value(2.0))
                .fill(6, mxrs_op::Fill::Uniform(0.1, 2.0));
            let inputs = tensors(&sample);
            let mut real = inputs[0].clone();
            real.values.iter_mut().for_each(|x| *x *= 3.0 / levels);
            let of_norm = [&real, &inputs[1], &inputs[2], &inputs[5], &inputs[6]].map(Clone::clone);
            let bn = Attrs::from([("fix_gamma", "False"), ("eps", "0.01")]);
            let expected = call("BatchNorm", &bn, &of_norm);
            let mut attrs = bn.clone();
            let relu_word = if relu { "True" } else { "False" };
            for (key, value) in [("quantized_data", "True"), ("with_relu", relu_word), ("out_type", word)] {
                attrs.set(key, value);
            }
            attrs.set("min_calib_range", "0");
            attrs.set("max_calib_range", "1.5");
            let got = call_typed("_sg_bn_relu_quantize", &attrs, bytes, &inputs);
            for (got, real) in got.iter().zip(&expected.values) {
                let exact = (real * out_levels / 1.5).clamp(least, most);
                assert!((got - exact).abs() <= 0.502, "{bytes:?} {word} {relu}: {got}, expected about {exact}");
            }
            // uint8 data represents only numbers that are not negative, so the normalized values need not reach the
            // smallest output.
            let meets_least = got.contains(&least) || bytes == DType::U8;
            assert!(meets_least && got.contains(&most), "{bytes:?} {word} {relu}: both ends are met");
        }
    }
}

#[test]
fn folded_weights_and_biases_give_what_normalization_gives() {
    for (fix_gamma, no_bias) in [(false, false), (false, true), (true, false), (true, true)] {
        let word = |b: bool| if b { "True" } else { "False" };
        let conv = Attrs::from([("kernel", "(3, 3)"), ("num_filter", "4"), ("no_bias", word(no_bias))]);
        let shapes: [&[usize]; 7] = [&[2, 3, 6, 5], &[4, 3, 3, 3], &[4], &[4], &[4], &[4], &[4]];
        let positive = mxrs_op::Fill::Uniform(0.1, 2.0);
        let sample = Sample::new("folded", [("a", "b")], &shapes).fill(3, positive.clone()).fill(6, positive);
        let t = tensors(&sample);
        let [data, weight, bias, gamma, beta, mean, var] = [0, 1, 2, 3, 4, 5, 6].map(|i| t[i].clone());
        let product = |weight: &Tensor, bias: Option<&Tensor>, attrs: &Attrs| {
            let inputs: Vec<Tensor> = [Some(&data), Some(weight), bias].into_iter().flatten().cloned().collect();
            call("Convolution", attrs, &inputs)
        };
        let bn = Attrs::from([("eps", "0.01"), ("fix_gamma", word(fix_gamma))]);
        let plain = product(&weight, (!no_bias).then_some(&bias), &conv);
        let expected = call("BatchNorm", &bn, &[plain, gamma.clone(), beta.clone(), mean.clone(), var.clone()]);
        let folded_weight = call("_bn_fold_weight", &bn, &[weight.clone(), gamma.clone(), var.clone()]);
        let mut with_bias = bn.clone();
        with_bias.set("no_bias", word(no_bias));
        let inputs = [Some(weight), (!no_bias).then_some(bias), Some(gamma), Some(beta), Some(mean), Some(var)];
        let inputs: Vec<Tensor> = inputs.into_iter().flatten().collect();
        let folded_bias = call("_bn_fold_bias", &with_bias, &inputs);
        let conv = Attrs::from([("kernel", "(3, 3)"), ("num_filter", "4")]);
        let got = product(&folded_weight, Some(&folded_bias), &conv);
        assert_close(&got, &expected, &format!("fix_gamma {fix_gamma}, no_bias {no_bias}"));
    }
}
