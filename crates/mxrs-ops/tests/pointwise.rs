//! Checks operators that declare `Pointwise::Yes` against their reference kernels. For all samples and types, reordering the
//! elements of all inputs must reorder the elements of all outputs, and computing the elements in two parts must give the
//! same results.

use mxrs_op::{
    Backend, Gradient, InputNames, KernelArgs, OpCall, OpDef, Pointwise, RawTensor, ReferenceBackend, TensorDesc, View,
};
use mxrs_testkit::conformance::Prepared;
use mxrs_testkit::{AlignedBuffer, Seeded};
use mxrs_types::{DType, Layout, Shape, WriteReq};

/// Copies the elements at `order` from every tensor.
fn picked(data: &[AlignedBuffer], descs: &[TensorDesc], order: &[usize]) -> Vec<AlignedBuffer> {
    let pick = |(buffer, desc): (&AlignedBuffer, &TensorDesc)| {
        let size = desc.dtype.size_of();
        let bytes: Vec<u8> = order.iter().flat_map(|&i| &buffer.bytes()[i * size..(i + 1) * size]).copied().collect();
        AlignedBuffer::from_bytes(&bytes)
    };
    data.iter().zip(descs).map(pick).collect()
}

/// Computes outputs for the elements at `order`. The tensors keep their shape if these are all elements, and have one
/// axis otherwise.
fn computed(op: &OpDef, prepared: &Prepared, order: &[usize]) -> Vec<AlignedBuffer> {
    let flat = |descs: &[TensorDesc]| -> Vec<TensorDesc> {
        let is_all = |desc: &TensorDesc| desc.shape.n_elements() == order.len();
        let shape = |desc: &TensorDesc| if is_all(desc) { desc.shape.clone() } else { Shape::from([order.len()]) };
        descs.iter().map(|desc| TensorDesc::dense(shape(desc), desc.dtype)).collect()
    };
    let (inputs, outputs) = (flat(&prepared.inputs), flat(&prepared.outputs));
    let call = OpCall {
        op,
        params: &prepared.params,
        inputs: &inputs,
        outputs: &outputs,
        is_constant: &vec![false; inputs.len()],
        is_train: prepared.is_train,
    };
    let planned = ReferenceBackend.plan(&call).expect("a reference kernel");
    let data = picked(&prepared.data, &prepared.inputs, order);
    let mut made: Vec<AlignedBuffer> = outputs.iter().map(|d| AlignedBuffer::poisoned(d.size_bytes())).collect();
    let raw: Vec<RawTensor<'_>> = made.iter_mut().map(|b| RawTensor::from_mut_slice(b.bytes_mut())).collect();
    let args = KernelArgs {
        inputs: &data.iter().map(|b| RawTensor::from_slice(b.bytes())).collect::<Vec<_>>(),
        outputs: &raw,
        reqs: &vec![WriteReq::Write; raw.len()],
        scratch: RawTensor::from_slice(&[]),
        team: &mxrs_sync::Team::serial(),
        random: None,
        stream: None,
    };
    mxrs_testkit::run_kernel(&*planned.kernel, &args).expect("a run on other elements");
    made
}

/// Fails with the first sample that contradicts the claim that `op` is pointwise. Without `in_parts` only reordering is
/// tried, because kernels of operators that do not declare `Pointwise::Yes` cannot compute parts.
fn contradiction(op: &OpDef, in_parts: bool) -> Result<(), String> {
    if op.n_aux > 0 {
        return Err(format!("{} has auxiliary states", op.name));
    }
    for sample in (op.samples)() {
        for dtype in op.dtypes {
            let prepared = Prepared::new(op, &sample, *dtype).map_err(|e| format!("{}: {e}", op.name))?;
            contradiction_of(op, &prepared, in_parts)
                .map_err(|e| format!("{}/{} {dtype}: {e}", op.name, sample.name))?;
        }
    }
    Ok(())
}

fn contradiction_of(op: &OpDef, prepared: &Prepared, in_parts: bool) -> Result<(), String> {
    let params = &prepared.params;
    for is_train in [false, true] {
        if (op.is_random)(params, is_train) || !(op.rewrites)(params, is_train).is_empty() {
            return Err("it is random or rewrites its inputs".into());
        }
        if (op.view)(params, is_train) == View::Reshape {
            return Err("it reshapes".into());
        }
    }
    let shape = &prepared.outputs[0].shape;
    let all = prepared.inputs.iter().chain(&prepared.outputs);
    if let Some(other) = all.clone().find(|desc| desc.shape != *shape || desc.layout != Layout::RowMajor) {
        return Err(format!("{other} next to an output of {shape}"));
    }
    let n = shape.n_elements();
    let mut orders: Vec<Vec<usize>> = vec![(0..n).rev().collect()];
    if in_parts {
        orders.extend([(0..n / 3).collect(), (n / 3..n).collect()]);
    }
    let mut seed = Seeded::from_text(op.name);
    let mut shuffled: Vec<usize> = (0..n).collect();
    (1..n).for_each(|i| shuffled.swap(i, seed.integer(0, i as i64 + 1) as usize));
    orders.push(shuffled);
    for order in orders {
        let got = computed(op, prepared, &order);
        let expected = picked(&prepared.expected, &prepared.outputs, &order);
        if got.iter().zip(&expected).any(|(g, e)| g.bytes() != e.bytes()) {
            return Err(format!("elements {order:?} alone give something else"));
        }
    }
    Ok(())
}

#[test]
fn what_claims_to_be_pointwise_is() {
    let ops = mxrs_ops::catalog();
    let mut n_claims = 0;
    for op in ops.iter().chain(ops.companions()).filter(|op| op.pointwise == Pointwise::Yes) {
        contradiction(op, true).unwrap_or_else(|e| panic!("{e}"));
        n_claims += 1;
    }
    assert!(n_claims >= 40, "only {n_claims} operators claim it");
}

/// Pointwise operators that do not declare it. All but `hard_sigmoid`, `smooth_l1` and their gradients have only a reference
/// kernel, and a chain of pointwise operators with such a part would run on reference kernels as a whole.
#[rustfmt::skip]
const WITHOUT_KERNELS: &[&str] = &[
    "hard_sigmoid", "smooth_l1", "_contrib_quadratic", "_contrib_div_sqrt_dim", "_contrib_gradientmultiplier",
    "_contrib_round_ste", "_contrib_sign_ste", "_scatter_plus_scalar", "_scatter_minus_scalar", "_npi_nan_to_num",
    "_npi_full_like", "_np_copy", "_npi_logical_not", "_npi_isnan", "_npi_isinf", "_npi_isposinf", "_npi_isneginf",
    "_npi_isfinite", "_npi_add_scalar", "_npi_subtract_scalar", "_npi_rsubtract_scalar", "_npi_multiply_scalar",
    "_npi_true_divide_scalar", "_npi_rtrue_divide_scalar", "_npi_mod_scalar", "_npi_rmod_scalar", "_npi_power_scalar",
    "_npi_rpower_scalar", "_npi_arctan2_scalar", "_npi_rarctan2_scalar", "_npi_copysign_scalar", "_npi_rcopysign_scalar",
    "_npi_ldexp_scalar", "_npi_rldexp_scalar", "_npi_lcm_scalar", "_npi_bitwise_and_scalar", "_npi_bitwise_or_scalar",
    "_npi_bitwise_xor_scalar", "_npi_equal_scalar", "_npi_not_equal_scalar", "_npi_greater_scalar",
    "_npi_greater_equal_scalar", "_npi_less_scalar", "_npi_less_equal_scalar", "_npi_where_scalar2",
    "_identity_with_attr_like_rhs", "_backward_MakeLoss", "_backward_hard_sigmoid", "_backward_smooth_l1",
    "_backward__contrib_quadratic", "_backward__contrib_div_sqrt_dim", "_backward__contrib_gradientmultiplier",
    "_backward__contrib_round_ste", "_backward__contrib_sign_ste", "_backward__scatter_plus_scalar",
    "_backward__scatter_minus_scalar", "_backward__npi_nan_to_num", "_backward_npi_add_scalar",
    "_backward_npi_subtract_scalar", "_backward_npi_rsubtract_scalar", "_backward_npi_multiply_scalar",
    "_backward_npi_true_divide_scalar", "_backward_npi_rtrue_divide_scalar", "_backward_npi_mod_scalar",
    "_backward_npi_rmod_scalar", "_backward_npi_power_scalar", "_backward_npi_rpower_scalar",
    "_backward_npi_arctan2_scalar", "_backward_npi_rarctan2_scalar", "_backward_npi_copysign_scalar",
    "_backward_npi_rcopysign_scalar", "_backward_npi_ldexp_scalar", "_backward_npi_rldexp_scalar",
];

/// An operator that does not declare `Pointwise::Yes` must fail the check, or be listed in `excused` with a reason.
#[test]
fn what_does_not_claim_it_is_not_pointwise() {
    let excused = [
        "Custom", // the operator of its samples is pointwise, others need not be
        "_backward_Custom",
        "Dropout",           // random in training
        "_backward_Dropout", // the mask may have sizes of 1
        "_CrossDeviceCopy",  // its input may be on another device, so it cannot be fused
        "MakeLoss",          // ends a graph, so there is nothing to fuse it with
    ];
    let ops = mxrs_ops::catalog();
    let silent = ops.iter().chain(ops.companions()).filter(|op| {
        let has_inputs = !matches!(op.inputs, InputNames::Fixed([]));
        op.pointwise == Pointwise::No
            && has_inputs
            && !op.is_replaced()
            && !excused.contains(&op.name)
            && !WITHOUT_KERNELS.contains(&op.name)
            && contradiction(op, false).is_ok()
    });
    let silent: Vec<&str> = silent.map(|op| op.name).collect();
    assert!(silent.is_empty(), "pointwise on all their samples, and do not say so: {silent:?}");
}

/// Shows that the check can fail: it must find an operator that reverses the elements, and one whose elements depend on
/// neighboring elements.
#[test]
fn a_wrong_claim_is_found() {
    let copy = mxrs_ops::catalog().get("_copy").expect("a built operator").clone();
    assert_eq!(contradiction(&copy, true), Ok(()));
    let turned = OpDef {
        gradient: Gradient::Undefined,
        reference: Some(|_, inputs, outputs, _| {
            let size = inputs[0].desc.dtype.size_of();
            let chunks = inputs[0].bytes.chunks(size).rev();
            outputs[0].bytes.chunks_mut(size).zip(chunks).for_each(|(to, from)| to.copy_from_slice(from));
            Ok(())
        }),
        dtypes: &[DType::F32],
        ..(*copy).clone()
    };
    assert!(contradiction(&turned, true).is_err());
    let neighbor = OpDef {
        reference: Some(|_, inputs, outputs, _| {
            let n = inputs[0].bytes.len();
            outputs[0].bytes.copy_from_slice(inputs[0].bytes);
            if n >= 8 {
                outputs[0].bytes[..4].copy_from_slice(&inputs[0].bytes[4..8]);
            }
            Ok(())
        }),
        ..turned.clone()
    };
    assert!(contradiction(&neighbor, true).is_err());
}
