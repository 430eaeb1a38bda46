//! Tests fused calls of two small operators.

use super::*;
use crate::{Backend, InputNames, KernelArgs, OpCall, RawTensor, ReferenceBackend, TensorDesc, elements, op_params};
use mxrs_types::WriteReq;

op_params! {
    /// Parameters of `as`.
    pub struct AsParams for "as" {
        /// Whether the output is f64 and not i32.
        is_wide: bool,
    }
}

/// An operator that computes `lhs - rhs` in f64.
fn sub() -> Arc<OpDef> {
    Arc::new(OpDef {
        inputs: InputNames::Fixed(&["lhs", "rhs"]),
        pointwise: Pointwise::Yes,
        reference: Some(|_, inputs, outputs, _| {
            let [a, b] = [0, 1].map(|i| elements::read_f64(inputs[i].bytes, inputs[i].desc.dtype));
            let difference: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
            elements::write_f64(&difference, outputs[0].desc.dtype, outputs[0].bytes);
            Ok(())
        }),
        ..OpDef::new("sub")
    })
}

/// An operator that converts to another element type.
fn cast() -> Arc<OpDef> {
    Arc::new(OpDef {
        pointwise: Pointwise::Yes,
        infer_dtype: |params, _, outputs| {
            outputs[0] = Some(if params.get::<AsParams>().is_wide { DType::F64 } else { DType::I32 });
            Ok(())
        },
        reference: Some(|_, inputs, outputs, _| {
            let values = elements::read_f64(inputs[0].bytes, inputs[0].desc.dtype);
            elements::write_f64(&values, outputs[0].desc.dtype, outputs[0].bytes);
            Ok(())
        }),
        ..OpDef::new("as").params::<AsParams>()
    })
}

fn call(op: Arc<OpDef>, params: OpParams, inputs: &[FusedValue]) -> FusedCall {
    FusedCall { op, params, inputs: inputs.to_vec() }
}

fn no_params() -> OpParams {
    OpParams::new(crate::param::NoParams)
}

use FusedValue::{Call, Input};

/// A fused call with the outputs `wide(int(a - b))` and `a - b`.
fn truncated() -> Fused {
    let to = |is_wide| OpParams::new(AsParams { is_wide });
    let calls = vec![
        call(sub(), no_params(), &[Input(0), Input(1)]),
        call(cast(), to(false), &[Call(0, 0)]),
        call(cast(), to(true), &[Call(1, 0)]),
    ];
    Fused::new(2, calls, vec![Call(2, 0), Call(0, 0)]).expect("well-formed calls")
}

#[test]
fn types_are_found_in_both_directions() {
    let (op, params) = (fused_op(), OpParams::new(truncated()));
    assert_eq!((op.n_inputs(&params), op.n_outputs.get(&params)), (2, 2));
    for known in 0..3 {
        let (mut inputs, mut outputs) = ([None; 2], [None; 2]);
        let place = if known < 2 { &mut inputs[known] } else { &mut outputs[1] };
        *place = Some(DType::F32);
        op.infer_dtypes(&params, &mut inputs, &mut outputs).expect("consistent types");
        assert_eq!((inputs, outputs), ([Some(DType::F32); 2], [Some(DType::F64), Some(DType::F32)]), "{known}");
    }
    let refused = op.infer_dtypes(&params, &mut [Some(DType::F32), Some(DType::F16)], &mut [None; 2]);
    assert!(refused.is_err(), "two types of one subtraction");
}

#[test]
fn f2_values_between_calls_are_rounded_to_their_types() {
    let (op, params) = (fused_op(), OpParams::new(truncated()));
    let (inputs, outputs) =
        (vec![TensorDesc::dense([3], DType::F32); 2], [DType::F64, DType::F32].map(|t| TensorDesc::dense([3], t)));
    let call = OpCall {
        op: &op,
        params: &params,
        inputs: &inputs,
        outputs: &outputs,
        is_constant: &[false; 2],
        is_train: false,
    };
    let planned = ReferenceBackend.plan(&call).expect("a reference kernel");
    let mut words = [[0u64; 3]; 2];
    let [wide, narrow] = &mut words;
    let (a, b) = ([2.75f32, -1.5, 9.0], [0.5f32, 0.25, 9.5]);
    let bytes = |x: &'static [f32]| RawTensor::from_slice(bytemuck::cast_slice(x));
    let (a, b) = (bytes(Box::leak(Box::new(a))), bytes(Box::leak(Box::new(b))));
    let raw = [
        RawTensor::from_mut_slice(bytemuck::cast_slice_mut(wide)),
        RawTensor::from_mut_slice(&mut bytemuck::cast_slice_mut(narrow)[..12]),
    ];
    let args = KernelArgs {
        inputs: &[a, b],
        outputs: &raw,
        reqs: &[WriteReq::Write; 2],
        scratch: RawTensor::from_slice(&[]),
        team: &mxrs_sync::Team::serial(),
        random: None,
        stream: None,
    };
    // SAFETY: the tensors have the sizes and types of the call, and none overlap.
    unsafe { planned.kernel.run(&args) }.expect("a run");
    assert_eq!(elements::read_f64(bytemuck::cast_slice(wide), DType::F64), [2.0, -1.0, 0.0]);
    assert_eq!(elements::read_f64(&bytemuck::cast_slice(narrow)[..12], DType::F32), [2.25, -1.75, -0.5]);
}

#[test]
fn calls_that_cannot_be_are_refused() {
    let one = |inputs: &[FusedValue]| vec![call(sub(), no_params(), inputs)];
    let refused = [
        Fused::new(2, one(&[Input(0), Input(2)]), vec![Call(0, 0)]),
        Fused::new(2, one(&[Input(0), Call(0, 0)]), vec![Call(0, 0)]),
        Fused::new(2, one(&[Input(0)]), vec![Call(0, 0)]),
        Fused::new(2, one(&[Input(0), Input(1)]), vec![Call(0, 1)]),
        Fused::new(1, vec![call(Arc::new(OpDef::new("any")), no_params(), &[Input(0)])], vec![Call(0, 0)]),
    ];
    assert!(refused.iter().all(Result::is_err), "{refused:?}");
    assert!(fused_op().parse(&Attrs::new()).is_err(), "fused calls have no text");
}

#[test]
fn equal_texts_mean_equal_calls() {
    let text = |fused: &Fused| format!("{fused:?}");
    assert_eq!(text(&truncated()), text(&truncated()));
    let mut others = vec![truncated(); 4];
    others[0].outputs.swap(0, 1);
    others[1].calls[2].params = OpParams::new(AsParams { is_wide: false });
    others[2].calls[0].inputs.swap(0, 1);
    others[3].n_inputs = 3;
    assert!(others.iter().all(|other| text(other) != text(&truncated())));
}

#[test]
fn every_input_may_be_overwritten_by_every_output() {
    let op = fused_op();
    for pair in [(0, 0), (15, 0), (0, 7), (15, 7)] {
        assert_eq!(op.inplace.iter().filter(|p| **p == pair).count(), 1, "{pair:?}");
    }
}
