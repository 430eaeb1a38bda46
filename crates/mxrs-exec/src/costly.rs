//! Costly calls: those for which a reference kernel is too slow. A warning names a costly call that has no other kernel.

use crate::choose::{Choice, has_fast_kernel};
use mxrs_op::{Backend, OpCall, TensorDesc};
use mxrs_sync::Mutex;
use mxrs_types::DType;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The fewest multiply-adds of a costly call. A smaller call is fast enough on any kernel.
const COSTLY: u64 = 1 << 16;
/// Name of the backend that runs the calls for which no other backend has an offer.
const REFERENCE: &str = "reference";

/// Whether the operator of the call sums products with a weight, as convolutions and dense layers do.
pub fn is_product(call: &OpCall<'_>) -> bool {
    call.op.is_product
}

/// Whether a call sums enough products that the reference kernel is too slow for it.
pub fn is_costly(call: &OpCall<'_>) -> bool {
    is_product(call) && (call.op.multiply_adds)(call) >= COSTLY
}

/// Whether some backend is not the reference backend.
pub fn has_kernels(backends: &[Arc<dyn Backend>]) -> bool {
    backends.iter().any(|backend| backend.name() != REFERENCE)
}

/// Whether a backend has a kernel for the call that is better than the reference kernel.
pub fn is_fast(backends: &[Arc<dyn Backend>], call: &OpCall<'_>) -> bool {
    backends.iter().any(|backend| has_fast_kernel(&**backend, call))
}

/// Copies of the descriptions `descs`, with float32 in place of the element type `half`.
pub fn wide(descs: &[TensorDesc], half: DType) -> Vec<TensorDesc> {
    let dtype = |dtype| if dtype == half { DType::F32 } else { dtype };
    descs.iter().map(|desc| TensorDesc { dtype: dtype(desc.dtype), ..desc.clone() }).collect()
}

/// Logs a warning if a costly call runs on a reference kernel, once per operator for all graphs that share
/// [`BindOptions::warned`](crate::BindOptions::warned). If the reference backend is the only one, the user has chosen it and
/// no warning is logged. `backends` are those of the call's device.
pub fn warn(call: &OpCall<'_>, choice: &Choice, backends: &[Arc<dyn Backend>], warned: &Warned, node: &str) {
    if choice.backend == REFERENCE
        && has_kernels(backends)
        && is_costly(call)
        && let Some(line) = warned.line(call, choice, backends, node)
    {
        tracing::warn!("{line}");
    }
}

/// Operators that a warning has already named. Graphs that share this value log one warning per operator.
pub struct Warned(Mutex<BTreeSet<&'static str>>);

impl Default for Warned {
    fn default() -> Self {
        Self(Mutex::new(BTreeSet::new()))
    }
}

impl Warned {
    /// The warning about a call, or `None` if its operator has been named before.
    fn line(&self, call: &OpCall<'_>, choice: &Choice, backends: &[Arc<dyn Backend>], node: &str) -> Option<String> {
        let dtype = call.inputs.first()?.dtype;
        if !self.0.lock().insert(call.op.name) {
            return None;
        }
        let (inputs, outputs) = (wide(call.inputs, dtype), wide(call.outputs, dtype));
        let is_fast_wide = || is_fast(backends, &OpCall { inputs: &inputs, outputs: &outputs, ..*call });
        let advice = if !dtype.is_float() {
            "the network as it was before it was quantized may be faster"
        } else if dtype != DType::F32 && is_fast_wide() {
            "float32 has a fast kernel here"
        } else {
            "another backend may have one: `mxrs diagnose` lists those that are missing"
        };
        let reasons: Vec<String> = choice.refusals.iter().map(|r| format!("{}: {}", r.backend, r.reason)).collect();
        let op = call.op.name;
        Some(format!(
            "`{node}`, {op} in {dtype}, runs on the reference kernels, which are very slow; {advice} ({})",
            reasons.join("; ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::choose;
    use mxrs_op::{Answer, Attrs, Kernel, Offer, ReferenceBackend};
    use mxrs_types::{Error, Result};

    /// A backend that has kernels for float32 only.
    struct Wide;

    impl Backend for Wide {
        fn name(&self) -> &'static str {
            "wide"
        }

        fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
            match call.inputs[0].dtype {
                DType::F32 => Ok(Offer::new(1e-6, || Err(Error::not_built(call.op.name, "it is asked only")))),
                other => Err(format!("{other} numbers")),
            }
        }

        fn reorder(&self, _: &TensorDesc, _: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
            Ok(None)
        }
    }

    /// Makes a call of an operator with one output, and passes it to `look`. The inputs have the given sizes and one common
    /// type.
    fn with_call<R>(
        (op, attrs): (&str, &[(&str, &str)]),
        (inputs, output): (&[&[usize]], &[usize]),
        dtype: DType,
        look: impl FnOnce(&OpCall<'_>) -> R,
    ) -> R {
        let op = mxrs_ops::catalog().get(op).unwrap().clone();
        let params = op.parse(&attrs.iter().copied().collect::<Attrs>()).unwrap();
        let inputs: Vec<TensorDesc> = inputs.iter().map(|sizes| TensorDesc::dense(*sizes, dtype)).collect();
        let outputs = [TensorDesc::dense(output, dtype)];
        let is_constant = vec![false; inputs.len()];
        let (inputs, is_constant) = (&inputs[..], &is_constant[..]);
        look(&OpCall { op: &op, params: &params, inputs, outputs: &outputs, is_constant, is_train: false })
    }

    const DENSE: (&str, &[(&str, &str)]) = ("FullyConnected", &[("num_hidden", "256"), ("no_bias", "True")]);

    #[test]
    fn long_products_are_costly() {
        let dense = |n: usize| with_call(DENSE, (&[&[1, n], &[256, n]], &[1, 256]), DType::F32, is_costly);
        assert!(dense(256) && !dense(255));
        let sizes: &[usize] = &[1 << 20];
        assert!(!with_call(("tanh", &[]), (&[sizes], sizes), DType::F32, is_costly), "no sum");
        let bias = ("_backward_FullyConnected_bias", DENSE.1);
        assert!(!with_call(bias, (&[&[4096, 256], &[256]], &[256]), DType::F32, is_costly), "no product");
        let attrs = [("kernel", "(3, 3)"), ("num_filter", "32"), ("no_bias", "True")];
        let inputs: &[&[usize]] = &[&[1, 16, 6, 6], &[32, 16, 3, 3], &[1], &[1], &[1], &[1]];
        let conv = ("_contrib_quantized_conv", &attrs[..]);
        assert!(with_call(conv, (inputs, &[1, 32, 4, 4]), DType::I8, is_costly), "a quantized product");
    }

    #[test]
    fn an_operator_is_named_once_and_with_what_can_be_done() {
        let backends: [Arc<dyn Backend>; 2] = [Arc::new(Wide), Arc::new(ReferenceBackend)];
        let warned = Warned::default();
        let line = |dtype| {
            with_call(DENSE, (&[&[1, 512], &[256, 512]], &[1, 256]), dtype, |call| {
                let choice = choose(&backends, call).unwrap();
                assert_eq!(choice.backend, REFERENCE);
                warned.line(call, &choice, &backends, "fc")
            })
        };
        let said = line(DType::F64).unwrap();
        for part in ["`fc`", "FullyConnected", "float64", "float32 has a fast kernel", "wide: float64 numbers"] {
            assert!(said.contains(part), "{said}");
        }
        assert_eq!(line(DType::F16), None);
        assert!(has_kernels(&backends) && !has_kernels(&backends[1..]));
    }
}
