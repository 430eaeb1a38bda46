//! Tests timing the steps of a bound graph.

mod common;

use common::{KINDS, context, options};
use mxrs_exec::{Executor, GradReq, GradRequests};
use mxrs_graph::{NameManager, Symbol, SymbolCall};
use mxrs_types::Result;

#[test]
fn every_step_is_timed_and_outputs_are_those_of_a_run() -> Result<()> {
    let (options, mut names) = (options(), NameManager::new());
    let mut layer = |data: &Symbol, n: &str| {
        let op = options.ops.get("FullyConnected")?;
        SymbolCall::new(op).input(data).attr("num_hidden", n).build(&mut names)
    };
    let hidden = layer(&Symbol::variable("data"), "32")?;
    let graph = layer(&hidden, "16")?.graph()?;
    let executor = Executor::simple_bind(&graph, &context(KINDS[1], 2), &[("data", [8, 64].into())], &options)?;
    for (i, (_, array)) in executor.arrays().iter().enumerate() {
        let values: Vec<f32> = (0..array.shape().n_elements()).map(|n| ((n * 7 + i) % 13) as f32 / 13.0).collect();
        array.copy_from(&values)?;
    }
    executor.forward()?;
    let expected = executor.outputs()[0].to_vec::<f32>()?;
    executor.outputs()[0].copy_from(&vec![0.0f32; expected.len()])?;
    let times = executor.time_steps(3)?;
    assert_eq!(executor.outputs()[0].to_vec::<f32>()?, expected);
    let report = executor.report().unwrap();
    assert_eq!(times.steps.len(), report.steps.iter().filter(|step| !step.is_prepare).count());
    assert!(!times.whole.is_zero() && times.steps.iter().any(|step| !step.is_zero()));
    let work: u64 = report.steps.iter().map(|step| step.multiply_adds).sum();
    assert_eq!(work, 8 * 64 * 32 + 8 * 32 * 16);
    Ok(())
}

#[test]
fn every_step_of_training_is_timed_and_gradients_are_those_of_a_run() -> Result<()> {
    let (mut options, mut names) = (options(), NameManager::new());
    options.gradients = Some(GradRequests::all(GradReq::Write));
    let op = options.ops.get("FullyConnected")?.clone();
    let hidden = SymbolCall::new(&op).input(&Symbol::variable("data")).attr("num_hidden", 4).build(&mut names)?;
    let op = options.ops.get("SoftmaxOutput")?.clone();
    let graph = SymbolCall::new(&op).input(&hidden).build(&mut names)?.graph()?;
    let executor = Executor::simple_bind(&graph, &context(KINDS[1], 2), &[("data", [3, 5].into())], &options)?;
    for (i, (_, array)) in executor.arrays().iter().enumerate() {
        let values: Vec<f32> = (0..array.shape().n_elements()).map(|n| ((n * 7 + i) % 3) as f32).collect();
        array.copy_from(&values)?;
    }
    executor.forward_train()?;
    executor.backward(&[])?;
    let weight = executor.gradient("fullyconnected0_weight")?;
    let expected = weight.to_vec::<f32>()?;
    assert!(expected.iter().any(|x| *x != 0.0));
    weight.copy_from(&vec![0.0f32; expected.len()])?;
    let times = executor.time_training_steps(2)?;
    assert_eq!(weight.to_vec::<f32>()?, expected);
    let report = executor.training_report().unwrap();
    assert_eq!(times.steps.len(), report.steps.iter().filter(|step| !step.is_prepare).count());
    assert!(!times.whole.is_zero() && times.steps.iter().any(|step| !step.is_zero()));
    Ok(())
}
