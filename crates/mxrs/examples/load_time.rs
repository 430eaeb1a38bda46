//! Times each step of loading a model, from building the runtime to the first outputs: `load_time SYMBOL PARAMS [N,C,H,W]`.

use mxrs::types::Shape;
use mxrs::{Model, Runtime};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [symbol, params, ..] = &arguments[..] else { return Err("load_time SYMBOL PARAMS [N,C,H,W]".into()) };
    let sizes = arguments.get(2).map_or("1,3,224,224", String::as_str);
    let sizes = sizes.split(',').map(str::parse).collect::<Result<Vec<usize>, _>>()?;
    let shape: Shape = sizes.iter().copied().collect();
    let n = sizes.iter().try_fold(1usize, |n, size| n.checked_mul(*size)).filter(|n| *n < 1 << 32);
    let batch = vec![0.5f32; n.ok_or_else(|| format!("{shape} is too large for a batch"))?];
    let start = Instant::now();
    let mut last = start;
    let mut step = |what: &str| {
        println!("{what}: {:.1} ms", last.elapsed().as_secs_f64() * 1e3);
        last = Instant::now();
    };
    let runtime = Runtime::builder().build()?;
    step("runtime");
    let bound = Model::load_frozen(&runtime, symbol, params, &[&[("data", shape)]])?;
    let bound = bound.into_iter().next().ok_or("nothing was bound")?;
    step("files and binding");
    if let Some(report) = bound.executor().report() {
        println!("packed: {} MB, arena: {} MB", report.packed_bytes >> 20, report.arena_bytes >> 20);
    }
    for what in ["first answer", "second answer", "third answer"] {
        bound.forward(&[("data", &batch)])?[0].wait_to_read()?;
        step(what);
        if what == "first answer" {
            println!("to the first answer: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
        }
    }
    Ok(())
}
