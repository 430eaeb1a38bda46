//! Every kind of wrong gradient must be detected.

use super::*;
use mxrs_op::{Attrs, Fill, GradValue, Gradient, InputNames, elements};
use mxrs_types::Result;

fn read(input: &mxrs_op::RefInput<'_>) -> Vec<f64> {
    elements::read_f64(input.bytes, input.desc.dtype)
}

/// An operator that computes `out = a · b` and has the given gradient.
fn product(gradient: mxrs_op::GradientFn) -> OpDef {
    OpDef {
        inputs: InputNames::Fixed(&["a", "b"]),
        dtypes: &[DType::F32, DType::F64],
        reference: Some(|_, inputs, outputs, _| {
            let out: Vec<f64> = read(&inputs[0]).iter().zip(read(&inputs[1])).map(|(a, b)| a * b).collect();
            elements::write_f64(&out, outputs[0].desc.dtype, outputs[0].bytes);
            Ok(())
        }),
        samples: || {
            let special = Fill::Values(vec![0.0, f64::NAN, f64::INFINITY]);
            vec![
                Sample::plain("small", &[&[2, 3], &[2, 3]]),
                Sample::plain("large", &[&[100], &[100]]),
                Sample::plain("empty", &[&[0], &[0]]),
                Sample::plain("special", &[&[3], &[3]]).fill(0, special),
            ]
        },
        gradient: Gradient::By(gradient),
        ..OpDef::new("product")
    }
}

fn right(_: &OpParams, scope: &mut dyn mxrs_op::GradientScope) -> Result<Vec<Option<GradValue>>> {
    let head = scope.out_grad(0)?;
    let (a, b) = (scope.input(0), scope.input(1));
    Ok(vec![Some(scope.call_one("product", &[head, b])?), Some(scope.call_one("product", &[head, a])?)])
}

/// Elementwise `max(x, 0)`, whose gradient is `head · [x > 0]`.
fn kinked() -> Vec<OpDef> {
    let relu = OpDef {
        dtypes: &[DType::F64],
        reference: Some(|_, inputs, outputs, _| {
            let out: Vec<f64> = read(&inputs[0]).iter().map(|x| x.max(0.0)).collect();
            elements::write_f64(&out, DType::F64, outputs[0].bytes);
            Ok(())
        }),
        samples: || vec![Sample::plain("kink", &[&[4]]).fill(0, Fill::Values(vec![0.0, 1.0, -1.0, 0.0]))],
        gradient: Gradient::By(|_, scope| {
            let (head, data) = (scope.out_grad(0)?, scope.input(0));
            let step = scope.call_one("step", &[data])?;
            Ok(vec![Some(scope.call_one("product", &[head, step])?)])
        }),
        ..OpDef::new("relu")
    };
    let step = OpDef {
        dtypes: &[DType::F64],
        reference: Some(|_, inputs, outputs, _| {
            let out: Vec<f64> = read(&inputs[0]).iter().map(|x| f64::from(u8::from(*x > 0.0))).collect();
            elements::write_f64(&out, DType::F64, outputs[0].bytes);
            Ok(())
        }),
        gradient: Gradient::Zero,
        samples: || vec![Sample::plain("step", &[&[4]])],
        ..OpDef::new("step")
    };
    vec![relu, step, product(right)]
}

fn first_failure(op: OpDef) -> String {
    let ops = OpSet::new([op]).expect("one operator");
    let op = ops.iter().next().expect("it");
    check(&ops, op, &Options::default()).failed.remove(0).1
}

#[test]
fn g9_right_gradients_pass() {
    let ops = OpSet::new([product(right)]).expect("one operator");
    let op = ops.get("product").expect("it");
    for report in [check(&ops, op, &Options::default()), check_second_order(&ops, op, &Options::default())] {
        report.assert_ok();
        assert_eq!(report.passed.len(), 4);
        assert!(report.n_compared() > 100 && report.n_kinks() == 0, "{report}");
    }
}

#[test]
fn g9_a_wrong_number_is_found() {
    let wrong = first_failure(product(|params, scope| {
        let mut answers = right(params, scope)?;
        answers[1] = answers[0];
        Ok(answers)
    }));
    assert!(wrong.contains("of tensor 1"), "{wrong}");
    let missing = first_failure(product(|params, scope| Ok(vec![right(params, scope)?[0], None])));
    assert!(missing.contains("got 0e0"), "{missing}");
}

#[test]
fn g10_nonlinearity_in_the_heads_is_found() {
    let op = product(|_, scope| {
        let head = scope.out_grad(0)?;
        let squared = scope.call_one("product", &[head, head])?;
        Ok(vec![Some(squared), Some(squared)])
    });
    assert!(first_failure(op).contains("is not linear in head gradients"));
}

#[test]
fn dependence_on_what_else_is_wanted_is_found() {
    let op = product(|params, scope| {
        let mut answers = right(params, scope)?;
        if !scope.wants(1) {
            answers[0] = Some(scope.out_grad(0)?);
        }
        Ok(answers)
    });
    assert!(first_failure(op).contains("changes when no other is wanted"));
}

#[test]
fn wrong_counts_and_missing_gradients_are_found() {
    let short = product(|params, scope| Ok(vec![right(params, scope)?[0]]));
    assert!(first_failure(short).contains("results of the gradient"));
    let undefined = OpDef { gradient: Gradient::Undefined, ..product(right) };
    assert!(first_failure(undefined).contains("not differentiable"));
    let zero = OpDef { gradient: Gradient::Zero, ..product(right) };
    assert!(first_failure(zero).contains("got 0e0"));
}

#[test]
fn g9_a_wrong_second_derivative_is_found() {
    // The first derivative is right, but it is computed by an operator that claims not to depend on anything.
    let constant = OpDef { name: "frozen", gradient: Gradient::Zero, ..product(right) };
    let op = product(|_, scope| {
        let (head, a, b) = (scope.out_grad(0)?, scope.input(0), scope.input(1));
        Ok(vec![Some(scope.call_one("frozen", &[head, b])?), Some(scope.call_one("frozen", &[head, a])?)])
    });
    let ops = OpSet::new([constant, op]).expect("two operators");
    let op = ops.get("product").expect("it");
    check(&ops, op, &Options::default()).assert_ok();
    let report = check_second_order(&ops, op, &Options::default());
    assert!(report.to_string().contains("got 0e0"), "{report}");
}

#[test]
fn ignored_inputs_have_no_memory() {
    let op = OpDef { ignored_inputs: &[1], ..product(right) };
    let ops = OpSet::new([op]).expect("one operator");
    let op = ops.get("product").expect("it");
    let mut tape = Tape::new(&ops, false);
    let desc = mxrs_op::TensorDesc::dense([2], DType::F64);
    let data = crate::AlignedBuffer::from_f64(&[1.0, 2.0], DType::F64);
    let a = tape.leaf(desc, data).expect("a leaf");
    let out = tape.apply(op, Attrs::new(), &[a, a]).expect("a call")[0];
    // The kernel pairs elements of both inputs. The second input has no memory, so nothing is written and the output keeps
    // its NaNs.
    assert!(tape.numbers(out).iter().all(|v| v.is_nan()));
}

#[test]
fn kinks_are_counted_and_left_out() {
    let ops = OpSet::new(kinked()).expect("three operators");
    let report = check(&ops, ops.get("relu").expect("it"), &Options::default());
    report.assert_ok();
    assert_eq!((report.n_compared(), report.n_kinks()), (2, 2));
}

#[test]
fn contributions_to_one_value_are_summed() {
    let ops = OpSet::new([product(right)]).expect("one operator");
    let op = ops.get("product").expect("it");
    let mut tape = Tape::new(&ops, false);
    let desc = mxrs_op::TensorDesc::dense([2], DType::F64);
    let leaf = |values: [f64; 2]| crate::AlignedBuffer::from_f64(&values, DType::F64);
    let x = tape.leaf(desc.clone(), leaf([3.0, -2.0])).expect("a leaf");
    let ones = tape.leaf(desc, leaf([1.0, 1.0])).expect("a leaf");
    let square = tape.apply(op, Attrs::new(), &[x, x]).expect("a call")[0];
    let first = tape.gradients(&[(square, ones)], &[x]).expect("a gradient")[0].expect("not zero");
    assert_eq!(tape.numbers(first), [6.0, -4.0]);
    let second = tape.gradients(&[(first, ones)], &[x]).expect("a gradient")[0].expect("not zero");
    assert_eq!(tape.numbers(second), [2.0, 2.0]);
}

/// An operator with output `x` whose gradient is that of `loss = Σ (x - 1)²/2` and ignores the heads.
#[test]
fn losses_are_compared_with_their_own_function() {
    let minus_one = OpDef {
        dtypes: &[DType::F64],
        reference: Some(|_, inputs, outputs, _| {
            let out: Vec<f64> = read(&inputs[0]).iter().map(|x| x - 1.0).collect();
            elements::write_f64(&out, DType::F64, outputs[0].bytes);
            Ok(())
        }),
        samples: || vec![Sample::plain("small", &[&[4]])],
        ..OpDef::new("minus_one")
    };
    let shown = OpDef {
        name: "shown",
        reference: Some(|_, inputs, outputs, _| {
            outputs[0].bytes.copy_from_slice(inputs[0].bytes);
            Ok(())
        }),
        gradient: Gradient::By(|_, scope| {
            let out = scope.output(0);
            Ok(vec![Some(scope.call_one("minus_one", &[out])?)])
        }),
        ..minus_one.clone()
    };
    let ops = OpSet::new([minus_one, shown]).expect("two operators");
    let op = ops.get("shown").expect("it");
    let loss: LossFn = |_, _, outputs| outputs[0].values.iter().map(|x| (x - 1.0).powi(2) / 2.0).sum();
    let report = check(&ops, op, &Options { loss: Some(loss), stopped: &[] });
    report.assert_ok();
    assert_eq!(report.n_compared(), 4);
    let halved: LossFn = |_, _, outputs| outputs[0].values.iter().map(|x| (x - 1.0).powi(2) / 4.0).sum();
    assert_eq!(check(&ops, op, &Options { loss: Some(halved), stopped: &[] }).failed.len(), 1);
    assert_eq!(check(&ops, op, &Options::default()).failed.len(), 1, "it ignores its heads");
    check(&ops, op, &Options { loss: Some(loss), stopped: &[0] }).assert_ok();
}
