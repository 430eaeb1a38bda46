//! The runner must detect every kind of wrong kernel.

use super::*;
use mxrs_op::{
    Accuracy, Answer, Kernel, KernelArgs, Offer, OpCall, PlannedKernel, RefInput, RefOutput, ReferenceBackend, Sample,
    TensorDesc, elements,
};
use mxrs_types::{DType, Layout, Result, WriteReq};

fn double_by(factor: fn(usize) -> f64, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>]) {
    let values = elements::read_f64(inputs[0].bytes, DType::F32);
    let doubled: Vec<f64> = values.iter().enumerate().map(|(i, v)| v * factor(i)).collect();
    elements::write_f64(&doubled, DType::F32, outputs[0].bytes);
}

fn double() -> OpDef {
    OpDef {
        reference: Some(|_, inputs, outputs, _| {
            double_by(|_| 2.0, inputs, outputs);
            Ok(())
        }),
        accuracy: Accuracy::Elementwise,
        inplace: &[(0, 0)],
        samples: || vec![Sample::plain("small", &[&[2, 3]]), Sample::plain("empty", &[&[0]])],
        ..OpDef::new("double")
    }
}

fn nearly_double() -> OpDef {
    OpDef {
        reference: Some(|_, inputs, outputs, _| {
            double_by(|i| if i == 3 { 2.01 } else { 2.0 }, inputs, outputs);
            Ok(())
        }),
        ..double()
    }
}

/// Like `double`, but the results have small errors, which are within every tolerance.
fn just_double() -> OpDef {
    OpDef {
        reference: Some(|_, inputs, outputs, _| {
            double_by(|_| 2.000_002, inputs, outputs);
            Ok(())
        }),
        ..double()
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    WrongNumber,
    IgnoresNull,
    IgnoresAdd,
    RoundsSums,
    ReadsAfterWriting,
    DependsOnThreads,
    Refuses,
    OddLayout,
}

/// The reference kernel with one fault added.
struct Doubling {
    fault: Fault,
    right: Arc<dyn Kernel>,
    wrong: Arc<dyn Kernel>,
}

impl Kernel for Doubling {
    fn name(&self) -> &str {
        "test:double"
    }
    fn adds(&self, _: usize) -> bool {
        matches!(self.fault, Fault::None | Fault::RoundsSums)
    }
    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let is_wrong = match self.fault {
            Fault::WrongNumber => true,
            Fault::RoundsSums => args.reqs[0] == WriteReq::Add,
            Fault::DependsOnThreads => args.team.size() == 1,
            _ => false,
        };
        let ignored = match self.fault {
            Fault::IgnoresNull => Some(WriteReq::Null),
            Fault::IgnoresAdd => Some(WriteReq::Add),
            _ => None,
        };
        let reqs = [if Some(args.reqs[0]) == ignored { WriteReq::Write } else { args.reqs[0] }];
        let args = KernelArgs { reqs: &reqs, ..*args };
        let kernel = if is_wrong { &self.wrong } else { &self.right };
        // SAFETY: `right` and `wrong` were planned for the call that this kernel is run for.
        unsafe { kernel.run(&args) }?;
        if self.fault == Fault::ReadsAfterWriting && reqs[0] != WriteReq::Add {
            // SAFETY: `right` and `wrong` were planned for the call that this kernel is run for.
            unsafe { kernel.run(&args) }?;
        }
        Ok(())
    }
}

struct Faulty(Fault);

impl Backend for Faulty {
    fn name(&self) -> &'static str {
        "faulty"
    }
    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        if self.0 == Fault::Refuses {
            return Err("does not feel like it".into());
        }
        Ok(Offer::new(1e-6, || self.planned(call)))
    }
    fn reorder(&self, _: &TensorDesc, _: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        Ok(None)
    }
}

impl Faulty {
    fn planned(&self, call: &OpCall<'_>) -> Result<PlannedKernel> {
        let right = ReferenceBackend.plan(call)?.kernel;
        let is_close = self.0 == Fault::RoundsSums;
        let wrong = if is_close { just_double() } else { nearly_double() };
        let wrong = ReferenceBackend.plan(&OpCall { op: &wrong, ..*call })?.kernel;
        let odd = Layout::Opaque { backend: "faulty", id: 1, size_bytes: 24 };
        Ok(PlannedKernel {
            input_layouts: vec![if self.0 == Fault::OddLayout { odd } else { Layout::RowMajor }],
            output_layouts: vec![Layout::RowMajor],
            scratch_bytes: 0,
            can_run_inplace: true,
            kernel: Arc::new(Doubling { fault: self.0, right, wrong }),
        })
    }
}

#[test]
fn right_kernels_pass() {
    let team = team(2);
    let report = run(&Faulty(Fault::None), &double(), &team);
    report.assert_ok();
    // Two samples, each for inference and for training.
    assert_eq!(report.n_compared(), 4);
    run(&ReferenceBackend, &double(), &team).assert_ok();
}

#[test]
fn every_fault_is_found() {
    let team = team(2);
    for (fault, word) in [
        (Fault::WrongNumber, "1 of 6 elements differ"),
        (Fault::IgnoresNull, "request null"),
        (Fault::IgnoresAdd, "request add"),
        (Fault::RoundsSums, "not with the bits of writing and adding"),
        (Fault::ReadsAfterWriting, "in place"),
        (Fault::DependsOnThreads, "between 1 and 2 threads"),
        (Fault::OddLayout, "cannot reorder"),
    ] {
        let report = run(&Faulty(fault), &double(), &team);
        assert!(report.to_string().contains(word), "expected `{word}` in: {report}");
    }
}

#[test]
fn refusals_are_reported_with_their_reason() {
    let report = run(&Faulty(Fault::Refuses), &double(), &Team::serial());
    report.assert_ok();
    assert_eq!((report.n_compared(), report.skipped.len()), (0, 4));
    assert!(report.to_string().contains("does not feel like it"));
}

#[test]
fn known_failures_must_fail() {
    let known = |sample| ExpectedFailure { op: "double", sample, dtype: None, reason: "test" };
    let report = run(&Faulty(Fault::WrongNumber), &double(), &Team::serial());
    report.assert_ok_except(&[known("small")]);
    let passing = run(&Faulty(Fault::None), &double(), &Team::serial());
    let result = std::panic::catch_unwind(|| passing.assert_ok_except(&[known("small")]));
    assert!(result.is_err(), "a known failure that passes must be reported");
}
