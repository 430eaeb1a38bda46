//! Calls of NumPy's operators that compute the same as an older operator. Backends then use their kernels of the older one.

use crate::catalog::catalog;
use crate::families::np_reduced::{ExtremeParams, SumParams};
use crate::families::with_scalar::ScalarParams;
use crate::numpy::unary::TWINS;
use mxrs_op::param::ShapeAttr;
use mxrs_op::{Attrs, OpCall, OpDef, OpParams, OpSet};
use std::sync::{Arc, LazyLock};

/// The operators, made once.
static OPS: LazyLock<OpSet> = LazyLock::new(catalog);

/// NumPy's operators of two tensors. Each has two older operators: one for equal shapes, one for shapes that broadcast.
const PAIRS: &[(&str, [&str; 2])] = &[
    ("_npi_add", ["elemwise_add", "broadcast_add"]),
    ("_npi_subtract", ["elemwise_sub", "broadcast_sub"]),
    ("_npi_multiply", ["elemwise_mul", "broadcast_mul"]),
    ("_npi_true_divide", ["elemwise_div", "broadcast_div"]),
    ("_npi_mod", ["_mod", "broadcast_mod"]),
    ("_npi_power", ["_power", "broadcast_power"]),
    ("_npi_hypot", ["_hypot", "broadcast_hypot"]),
];

/// NumPy's operators of a tensor and a scalar, each with the older one.
const SCALARS: &[(&str, &str)] = &[
    ("_npi_add_scalar", "_plus_scalar"),
    ("_npi_subtract_scalar", "_minus_scalar"),
    ("_npi_rsubtract_scalar", "_rminus_scalar"),
    ("_npi_multiply_scalar", "_mul_scalar"),
    ("_npi_true_divide_scalar", "_div_scalar"),
    ("_npi_rtrue_divide_scalar", "_rdiv_scalar"),
    ("_npi_mod_scalar", "_mod_scalar"),
    ("_npi_rmod_scalar", "_rmod_scalar"),
    ("_npi_power_scalar", "_power_scalar"),
    ("_npi_rpower_scalar", "_rpower_scalar"),
];

/// NumPy's reductions, each with the older one.
const REDUCTIONS: &[(&str, &str)] =
    &[("_np_sum", "sum"), ("_np_prod", "prod"), ("_npi_mean", "mean"), ("_np_max", "max"), ("_np_min", "min")];

type Older = Option<(Arc<OpDef>, OpParams)>;

fn older<'a>(name: &str, attrs: impl IntoIterator<Item = (&'a str, String)>) -> Older {
    let op = OPS.get(name).ok()?;
    let attrs: Attrs = attrs.into_iter().collect();
    Some((Arc::clone(op), op.parse(&attrs).ok()?))
}

fn find<T: Copy>(table: &[(&str, T)], call: &OpCall<'_>) -> Option<T> {
    table.iter().find(|(name, _)| *name == call.op.name).map(|(_, older)| *older)
}

/// Whether all tensors have one type, a float. Otherwise NumPy's operator is not the same as the older one: it has rules of
/// its own for integers and for mixed types.
fn is_of_one_float(call: &OpCall<'_>) -> bool {
    let mut dtypes = call.inputs.iter().chain(call.outputs).map(|desc| desc.dtype);
    let Some(first) = dtypes.next() else { return false };
    first.is_float() && dtypes.all(|dtype| dtype == first)
}

/// The older operator of a function of one number.
pub fn of_unary(call: &OpCall<'_>) -> Older {
    older(find(TWINS, call)?, [])
}

/// The older operator of a function of two tensors.
pub fn of_pair(call: &OpCall<'_>) -> Older {
    let [elementwise, broadcasting] = find(PAIRS, call)?;
    let is_same = call.inputs.iter().all(|input| input.shape == call.outputs[0].shape);
    is_of_one_float(call).then(|| older(if is_same { elementwise } else { broadcasting }, [])).flatten()
}

/// The older operator of a function of a tensor and a scalar.
pub fn of_scalar(call: &OpCall<'_>) -> Older {
    let name = find(SCALARS, call)?;
    let scalar = call.params.get::<ScalarParams>().scalar;
    is_of_one_float(call).then(|| older(name, [("scalar", scalar.to_string())])).flatten()
}

/// The older operator of a reduction.
pub fn of_reduction(call: &OpCall<'_>) -> Older {
    let name = find(REDUCTIONS, call)?;
    let (axis, keepdims): (&Option<ShapeAttr>, bool) = if matches!(name, "max" | "min") {
        let params: &ExtremeParams = call.params.get();
        (&params.axis, params.keepdims)
    } else {
        let params: &SumParams = call.params.get();
        (&params.axis, params.keepdims)
    };
    // In the older operators, no axes mean all axes.
    let text = match axis {
        None => "()".to_owned(),
        Some(axes) if axes.iter().next().is_none() => return None,
        Some(axes) => format!("({})", axes.iter().map(|axis| format!("{axis},")).collect::<String>()),
    };
    if !is_of_one_float(call) || call.inputs[0].shape.n_elements() == 0 {
        return None;
    }
    older(name, [("axis", text), ("keepdims", if keepdims { "True" } else { "False" }.to_owned())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_of_the_tables_exists() {
        let names = PAIRS.iter().flat_map(|(name, older)| [*name].into_iter().chain(*older));
        let pairs = SCALARS.iter().chain(REDUCTIONS).flat_map(|(name, older)| [*name, *older]);
        for name in names.chain(pairs) {
            assert!(OPS.get(name).is_ok_and(|op| op.name == name), "{name}");
        }
    }
}
