//! Times every step of a network's training graph, forward and backward, and prints the slowest first.
//!
//! ```text
//! cargo run --release -p mxrs --example training_steps -- resnet-50 32 bfloat16
//! ```

use mxrs::exec::{BindOptions, Executor, GradReq, GradRequests};
use mxrs::models::{Initializer, ModelOptions, model};
use mxrs::types::{DType, Result, Shape};
use mxrs::{Error, Runtime};

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let network = args.next().unwrap_or_else(|| "lenet".into());
    let batch: usize = match args.next() {
        Some(text) => text.parse().map_err(|_| Error::invalid("batch size", text, "a whole number"))?,
        None => 32,
    };
    // Another dtype than float32 is used for mixed precision.
    let dtype = args.next().map_or(Ok(DType::F32), |text| text.parse())?;
    let autocast = (dtype != DType::F32).then_some(dtype);
    let built = model(&network, &ModelOptions::default())?;
    let runtime = Runtime::from_env()?;
    let requests = GradRequests::all(GradReq::Write).with("data", GradReq::Null).with("softmax_label", GradReq::Null);
    let options = BindOptions { gradients: Some(requests), autocast, ..runtime.bind_options() };
    let shape: Shape = std::iter::once(batch).chain(built.image).collect();
    let executor = Executor::simple_bind(&built.symbol.graph()?, runtime.arrays(), &[("data", shape)], &options)?;
    let xavier = Initializer::xavier(2.0);
    for (name, array) in executor.arrays() {
        match name.as_str() {
            "data" => {
                let n = array.shape().n_elements();
                array.copy_from(&(0..n).map(|i| (i * 7919 % 255) as f32 / 127.0 - 1.0).collect::<Vec<f32>>())?;
            }
            "softmax_label" => array.copy_from(&(0..batch).map(|i| (i % 10) as f32).collect::<Vec<f32>>())?,
            _ if array.dtype() == DType::F32 => array.copy_from(&xavier.values(name, None, array.shape(), 1)?)?,
            _ => {}
        }
    }
    let times = executor.time_training_steps(2)?;
    let report = executor.training_report().map(|report| report.steps).unwrap_or_default();
    let mut rows: Vec<_> = report.into_iter().filter(|step| !step.is_prepare).zip(&times.steps).collect();
    rows.sort_by_key(|(_, time)| std::cmp::Reverse(**time));
    println!("{:>9}  {:>7}  {:>7}  {:32} {:28} {:22} inputs", "ms", "GFLOP/s", "GB/s", "step", "operator", "kernel");
    for (step, time) in &rows {
        let seconds = time.as_secs_f64();
        println!(
            "{:9.3}  {:7.1}  {:7.1}  {:32} {:28} {:22} {}",
            1e3 * seconds,
            2e-9 * step.multiply_adds as f64 / seconds,
            1e-9 * step.bytes as f64 / seconds,
            step.name,
            step.op,
            step.kernel,
            step.inputs.join(", "),
        );
    }
    let sum: f64 = times.steps.iter().map(std::time::Duration::as_secs_f64).sum();
    let whole = times.whole.as_secs_f64();
    println!("{:9.3} ms in steps, {:.3} ms whole: {:.2} images/s", 1e3 * sum, 1e3 * whole, batch as f64 / whole);
    Ok(())
}
