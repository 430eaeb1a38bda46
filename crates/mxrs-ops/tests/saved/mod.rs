//! Finds the tensors that a gradient keeps in memory until it runs: the forward tensors that the gradient requests, and
//! that at least one of its calls reads.

use mxrs_op::{Attrs, GradValue, Gradient, GradientScope, OpDef, OpParams, OpSet};
use mxrs_types::Result;
use std::collections::BTreeSet;

/// Records which forward tensors the calls of a gradient read. Values are numbered: first the inputs of the forward call,
/// then its outputs, then the results of the gradient's calls.
struct Reads<'a> {
    ops: &'a OpSet,
    attrs: Attrs,
    n_inputs: usize,
    n_outputs: usize,
    n_values: u32,
    read: BTreeSet<u32>,
}

impl GradientScope for Reads<'_> {
    fn input(&mut self, index: usize) -> GradValue {
        GradValue(index as u32)
    }
    fn output(&mut self, index: usize) -> GradValue {
        GradValue((self.n_inputs + index) as u32)
    }
    fn out_grad(&mut self, _: usize) -> Result<GradValue> {
        self.n_values += 1;
        Ok(GradValue(self.n_values))
    }
    fn has_out_grad(&self, _: usize) -> bool {
        true
    }
    fn wants(&self, _: usize) -> bool {
        true
    }
    fn attrs(&self) -> &Attrs {
        &self.attrs
    }
    fn n_inputs(&self) -> usize {
        self.n_inputs
    }
    fn call(&mut self, op: &str, attrs: Attrs, inputs: &[GradValue]) -> Result<Vec<GradValue>> {
        let op = self.ops.get(op)?;
        let params = op.parse(&attrs)?;
        let n_forward = (self.n_inputs + self.n_outputs) as u32;
        for (position, value) in inputs.iter().enumerate() {
            if value.0 < n_forward && !op.unread_inputs(true).any(|unread| unread == position) {
                self.read.insert(value.0);
            }
        }
        let made: Vec<GradValue> =
            (1..=op.n_outputs.get(&params) as u32).map(|k| GradValue(self.n_values + k)).collect();
        self.n_values += made.len() as u32;
        Ok(made)
    }
}

/// Names of the forward tensors that the gradient of `op` reads: `x0`, `x1`, … for inputs and `y0`, … for outputs.
fn kept(ops: &OpSet, op: &OpDef) -> Vec<String> {
    let Gradient::By(function) = op.gradient else { return Vec::new() };
    let attrs = (op.samples)().swap_remove(0).attrs;
    let params: OpParams = op.parse(&attrs).expect("a readable sample");
    let (n_inputs, n_outputs) = (op.n_inputs(&params), op.n_outputs.get(&params));
    let n_values = (n_inputs + n_outputs) as u32;
    let mut scope = Reads { ops, attrs, n_inputs, n_outputs, n_values, read: BTreeSet::new() };
    function(&params, &mut scope).expect("a gradient");
    let name = |v: u32| match (v as usize).checked_sub(n_inputs) {
        None => format!("x{v}"),
        Some(output) => format!("y{output}"),
    };
    scope.read.into_iter().map(name).collect()
}

/// The tensors that gradients keep alive decide how much memory training takes: gradients that are functions of the output
/// keep only the output, and gradients of sums keep nothing.
#[test]
fn gradients_keep_alive_what_they_must_and_no_more() {
    let from: &[(&str, &str)] = &[
        (
            "x0",
            "abs log square clip _maximum_scalar _minimum_scalar _rdiv_scalar _power_scalar LRN rsqrt rcbrt reciprocal expm1 \
             log1p log2 log10 sin cos arcsin arccos arctan sinh cosh arcsinh arccosh arctanh softsign erf gamma gammaln \
             _rmod_scalar _rpower_scalar _hypot_scalar where Embedding LeakyReLU",
        ),
        ("y0", "relu sigmoid tanh sqrt exp Activation log_softmax softmax cbrt tan erfinv"),
        ("x1", "pick take batch_take gather_nd scatter_nd"),
        ("x0 y0", "max min norm Pooling"),
        (
            "x0 x1",
            "elemwise_mul elemwise_div broadcast_mul broadcast_div Convolution FullyConnected _mod _power _hypot _maximum \
             _minimum broadcast_mod broadcast_power broadcast_hypot broadcast_maximum broadcast_minimum dot \
             batch_dot LayerNorm InstanceNorm GroupNorm",
        ),
        ("x0 x1 y1 y2", "BatchNorm"),
        ("x1 y0", "SoftmaxOutput LinearRegressionOutput LogisticRegressionOutput MAERegressionOutput"),
        ("y1", "CTCLoss Dropout"),
    ];
    let ops = mxrs_ops::catalog();
    for (_, op) in mxrs_ops::declared_in() {
        let expected =
            from.iter().find(|(_, names)| names.split(' ').any(|name| name == op.name)).map_or("", |(kept, _)| *kept);
        assert_eq!(kept(&ops, &op).join(" "), expected, "{}", op.name);
    }
}
