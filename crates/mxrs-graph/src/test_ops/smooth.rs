//! Operators with gradients on `f64` vectors of equal length, and the functions that they compute.

use super::{SplitParams, SumParams};
use mxrs_op::{
    Attrs, Combines, GradValue, Gradient, GradientScope, InputNames, OpDef, OpParams, OpSet, OutputCount, Pointwise,
};
use mxrs_types::Result;

type Answers = Result<Vec<Option<GradValue>>>;

fn elementwise(name: &'static str, inputs: &'static [&'static str], gradient: Gradient) -> OpDef {
    let mut op = OpDef::new(name);
    op.inputs = InputNames::Fixed(inputs);
    op.gradient = gradient;
    op.pointwise = Pointwise::Yes;
    op
}

fn grad_add(_: &OpParams, s: &mut dyn GradientScope) -> Answers {
    let g = s.out_grad(0)?;
    Ok(vec![Some(g), Some(g)])
}

fn grad_add_n(_: &OpParams, s: &mut dyn GradientScope) -> Answers {
    let g = s.out_grad(0)?;
    Ok(vec![Some(g); s.n_inputs()])
}

fn grad_mul(_: &OpParams, s: &mut dyn GradientScope) -> Answers {
    let g = s.out_grad(0)?;
    let (a, b) = (s.input(0), s.input(1));
    let da = if s.wants(0) { Some(s.call_one("Mul", &[g, b])?) } else { None };
    let db = if s.wants(1) { Some(s.call_one("Mul", &[g, a])?) } else { None };
    Ok(vec![da, db])
}

fn grad_sin(_: &OpParams, s: &mut dyn GradientScope) -> Answers {
    let (g, x) = (s.out_grad(0)?, s.input(0));
    let cos = s.call_one("Cos", &[x])?;
    Ok(vec![Some(s.call_one("Mul", &[g, cos])?)])
}

fn grad_tanh(_: &OpParams, s: &mut dyn GradientScope) -> Answers {
    let (g, y) = (s.out_grad(0)?, s.output(0));
    Ok(vec![Some(s.call_one("_backward_Tanh", &[g, y])?)])
}

fn grad_fan(params: &OpParams, s: &mut dyn GradientScope) -> Answers {
    let n = params.get::<SplitParams>().num_outputs as usize;
    let grads = (0..n).map(|i| s.out_grad(i)).collect::<Result<Vec<_>>>()?;
    Ok(vec![Some(s.call("_backward_Fan", Attrs::new(), &grads)?[0])])
}

fn grad_moving(_: &OpParams, s: &mut dyn GradientScope) -> Answers {
    let (g, x) = (s.out_grad(0)?, s.input(0));
    // The second result is a gradient for the auxiliary state, which the sweep must drop.
    Ok(vec![Some(s.call_one("_backward_Moving", &[g, x])?), Some(g)])
}

fn grad_norm(_: &OpParams, s: &mut dyn GradientScope) -> Answers {
    let (g, x, slope) = (s.out_grad(0)?, s.input(0), s.output(1));
    Ok(vec![Some(s.call_one("_backward_Norm", &[g, x, slope])?)])
}

/// `Norm`, with the output x² + 0.5 and its slope as a hidden output; `NormTanh`, which is `Norm` followed by `Tanh`; and
/// `NormTanhAgain`, which recomputes the first output of `NormTanh`.
fn norms() -> [OpDef; 3] {
    let of = |name, inputs, gradient| {
        let mut op = elementwise(name, inputs, gradient);
        op.pointwise = Pointwise::No;
        op
    };
    let hides_slope = |mut op: OpDef| {
        op.n_outputs = OutputCount::Fixed(2);
        op.output_names = &["output", "slope"];
        op
    };
    let mut norm = hides_slope(of("Norm", &["data"], Gradient::By(grad_norm)));
    norm.companions = || {
        let of = |name| elementwise(name, &["grad", "data", "slope"], Gradient::Undefined);
        vec![of("_backward_Norm"), of("_backward_NormTanh")]
    };
    let mut joined = hides_slope(of("NormTanh", &["data"], Gradient::Undefined));
    joined.recompute = Some(norm_tanh_recompute);
    [norm, joined, norm_tanh_recompute()]
}

fn norm_tanh_recompute() -> OpDef {
    elementwise("NormTanhAgain", &["data", "slope"], Gradient::Undefined)
}

fn grad_noise(_: &OpParams, s: &mut dyn GradientScope) -> Answers {
    let (g, mask) = (s.out_grad(0)?, s.output(1));
    Ok(vec![Some(s.call_one("Mul", &[g, mask])?)])
}

fn grad_copy(_: &OpParams, s: &mut dyn GradientScope) -> Answers {
    Ok(vec![Some(s.out_grad(0)?)])
}

fn grad_through(_: &OpParams, s: &mut dyn GradientScope) -> Answers {
    let zeros = s.input(0);
    Ok(vec![Some(s.call_one("zeros_like", &[zeros])?)])
}

/// A pointwise operator with `num_args` inputs.
fn many(name: &'static str) -> OpDef {
    let mut op = OpDef::new(name).params::<SumParams>();
    op.inputs = InputNames::Variable {
        prefix: "arg",
        listed: "args",
        key: "num_args",
        count: |p| p.get::<SumParams>().num_args as usize,
    };
    op.pointwise = Pointwise::Yes;
    op
}

/// The operators that partitioning searches for and makes: `Scale` is data · weight + bias, and `Shift` subtracts a mean.
/// The others occur in replacements: fused forms of `Scale`, and `Sub`.
pub fn scales() -> Vec<OpDef> {
    let product = |name, inputs| elementwise(name, inputs, Gradient::Undefined);
    vec![
        product("Scale", &["data", "weight", "bias"]),
        product("ScaleTanh", &["data", "weight", "bias"]),
        product("ScaleSum", &["data", "weight", "bias", "sum"]),
        product("ScaleSumTanh", &["data", "weight", "bias", "sum"]),
        product("Shift", &["data", "mean"]),
        product("Sub", &["lhs", "rhs"]),
    ]
}

/// All test operators. `Sign` has a zero gradient, `Opaque` has no gradient, and the gradient of `Blocked` returns zeros.
/// `Fan` has several outputs. `Moving` rewrites its auxiliary state. `Noise` is random and has a hidden output. All are
/// pointwise, except `Opaque`, `Moving`, `Noise` and the operators of `norms`.
pub fn set() -> OpSet {
    let mut fan = OpDef::new("Fan").params::<SplitParams>();
    fan.n_outputs = OutputCount::ByParams(|p| p.get::<SplitParams>().num_outputs as usize);
    fan.n_visible = fan.n_outputs;
    fan.pointwise = Pointwise::Yes;
    fan.gradient = Gradient::By(grad_fan);
    fan.companions = || vec![many("_backward_Fan")];
    let mut tanh = elementwise("Tanh", &["data"], Gradient::By(grad_tanh));
    tanh.companions = || vec![elementwise("_backward_Tanh", &["grad", "output"], Gradient::Undefined)];
    let mut moving = elementwise("Moving", &["data", "state"], Gradient::By(grad_moving));
    moving.n_aux = 1;
    moving.pointwise = Pointwise::No;
    moving.rewrites = |_, is_train| if is_train { &[1] } else { &[] };
    moving.companions = || vec![elementwise("_backward_Moving", &["grad", "data"], Gradient::Undefined)];
    let mut noise = elementwise("Noise", &["data"], Gradient::By(grad_noise));
    noise.n_outputs = OutputCount::Fixed(2);
    noise.pointwise = Pointwise::No;
    noise.output_names = &["output", "mask"];
    noise.is_random = |_, is_train| is_train;
    let mut opaque = elementwise("Opaque", &["data"], Gradient::Undefined);
    opaque.pointwise = Pointwise::No;
    let mut add_n = many("add_n");
    add_n.gradient = Gradient::By(grad_add_n);
    add_n.combines = Combines::GradientSum;
    let mut sum_of_two = elementwise("_grad_add", &["lhs", "rhs"], Gradient::By(grad_add));
    sum_of_two.combines = Combines::GradientSum;
    let mut copy = elementwise("_CrossDeviceCopy", &["data"], Gradient::By(grad_copy));
    copy.crosses_devices = true;
    copy.pointwise = Pointwise::No;
    let mut ones = elementwise("ones_like", &["data"], Gradient::Zero);
    ones.ignored_inputs = &[0];
    let mut zeros = elementwise("zeros_like", &["data"], Gradient::Zero);
    zeros.ignored_inputs = &[0];
    let of_gradients = [
        elementwise("Add", &["lhs", "rhs"], Gradient::By(grad_add)),
        elementwise("Mul", &["lhs", "rhs"], Gradient::By(grad_mul)),
        elementwise("Sin", &["data"], Gradient::By(grad_sin)),
        elementwise("Cos", &["data"], Gradient::Undefined),
        elementwise("Sign", &["data"], Gradient::Zero),
        opaque,
        elementwise("Blocked", &["data"], Gradient::By(grad_through)),
        elementwise("_copy", &["data"], Gradient::By(grad_copy)),
        copy,
        sum_of_two,
        add_n,
        fan,
        tanh,
        moving,
        noise,
        ones,
        zeros,
    ];
    OpSet::new(of_gradients.into_iter().chain(scales()).chain(norms())).unwrap()
}

fn map_of(a: &[f64], f: &dyn Fn(f64) -> f64) -> Vec<f64> {
    a.iter().map(|a| f(*a)).collect()
}

fn zip_of(a: &[f64], b: &[f64], f: &dyn Fn(f64, f64) -> f64) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
}

/// Computes the outputs of a call from its inputs and, if the call is random, from the number `random`.
pub fn compute(op: &str, inputs: &[Vec<f64>], n_outputs: usize, random: f64) -> Vec<Vec<f64>> {
    let map = |f: &dyn Fn(f64) -> f64| inputs[0].iter().map(|x| f(*x)).collect::<Vec<f64>>();
    let zip = |f: &dyn Fn(f64, f64) -> f64| inputs[0].iter().zip(&inputs[1]).map(|(a, b)| f(*a, *b)).collect();
    let sum = |weight: &dyn Fn(usize) -> f64| {
        let at = |i: usize| inputs.iter().enumerate().fold(0.0, |s, (k, v)| s + weight(k) * v[i]);
        (0..inputs[0].len()).map(at).collect::<Vec<f64>>()
    };
    let one = match op {
        "Add" | "_grad_add" => zip(&|a, b| a + b),
        "Mul" => zip(&|a, b| a * b),
        "Sin" => map(&f64::sin),
        "Cos" => map(&f64::cos),
        "Tanh" => map(&f64::tanh),
        "_backward_Tanh" => zip(&|g, y| g * (1.0 - y * y)),
        "Sign" => map(&f64::signum),
        "Opaque" | "Blocked" | "_copy" | "_CrossDeviceCopy" => inputs[0].clone(),
        "Norm" => return vec![map(&|x| x * x + 0.5), map(&|x| 2.0 * x)],
        "NormTanh" => return vec![map(&|x| (x * x + 0.5).tanh()), map(&|x| 2.0 * x)],
        // `slope` is 2x, so this computes x² + 0.5 like `Norm`. The bits are equal because halving and doubling are exact.
        "NormTanhAgain" => zip(&|x, slope| (x * slope / 2.0 + 0.5).tanh()),
        "_backward_Norm" => zip_of(&inputs[0], &inputs[2], &|g, slope| g * slope),
        "_backward_NormTanh" => {
            let slopes = map_of(&inputs[1], &|x| (x * x + 0.5).tanh());
            let through = zip_of(&inputs[0], &slopes, &|g, y| g * (1.0 - y * y));
            zip_of(&through, &inputs[2], &|g, slope| g * slope)
        }
        "Moving" => map(&|x| x * x),
        "_backward_Moving" => zip(&|g, x| 2.0 * g * x),
        "ones_like" => map(&|_| 1.0),
        "zeros_like" => map(&|_| 0.0),
        "add_n" => sum(&|_| 1.0),
        "_backward_Fan" => sum(&|k| (k + 1) as f64),
        "Fan" => return (0..n_outputs).map(|k| map(&|x| (k + 1) as f64 * x)).collect(),
        "Scale" | "ScaleSum" | "ScaleTanh" | "ScaleSumTanh" => {
            let products = zip_of(&inputs[0], &inputs[1], &|d, w| d * w);
            let mut y = zip_of(&products, &inputs[2], &|y, b| y + b);
            if let Some(sum) = inputs.get(3) {
                y = zip_of(&y, sum, &|y, s| y + s);
            }
            if op.ends_with("Tanh") { y.iter().map(|y| y.tanh()).collect() } else { y }
        }
        "Shift" | "Sub" => zip(&|x, mean| x - mean),
        "Noise" => return vec![map(&|x| x * random), map(&|_| random)],
        _ => panic!("no test computes {op}"),
    };
    vec![one]
}
