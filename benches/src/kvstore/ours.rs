//! mxrs as a contestant: a store of a runtime with default settings.

use super::{Call, MAX_STEPS};
use anyhow::{Context, Result, bail, ensure};
use mxrs::Runtime;
use mxrs::env::MapSource;
use mxrs::kvstore::{Key, KvStore, Value};
use mxrs::ndarray::NdArray;
use mxrs::types::{DType, Device};
use serde_json::{Value as Json, json};
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::time::Instant;

/// Executes the orders on standard input, one per line, until standard input is closed.
///
/// # Errors
/// Fails if standard input or output fails.
pub fn serve() -> Result<()> {
    let (stdin, mut stdout) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut ours = None;
    for line in stdin.lines() {
        let answer = done(&mut ours, &line?).unwrap_or_else(|error| json!({ "error": format!("{error:#}") }));
        writeln!(stdout, "{answer}")?;
        stdout.flush()?;
    }
    Ok(())
}

fn done(ours: &mut Option<Ours>, line: &str) -> Result<Json> {
    let order: Json = serde_json::from_str(line).context("an order is a line of JSON")?;
    match order["do"].as_str().unwrap_or_default() {
        "load" => {
            *ours = Some(Ours::new(&order)?);
            Ok(json!({ "name": format!("mxrs {}", env!("CARGO_PKG_VERSION")) }))
        }
        "run" => {
            let call = order["call"].as_str().and_then(Call::of_word).context("no `call`")?;
            let n_steps = order["n_steps"].as_u64().context("no `n_steps`")? as usize;
            let seconds = ours.as_ref().context("nothing is loaded")?.run(call, n_steps)?;
            Ok(json!({ "seconds": seconds }))
        }
        other => bail!("cannot do `{other}`"),
    }
}

/// A store, and the gradients by key and device.
struct Ours {
    runtime: Runtime,
    store: Arc<dyn KvStore>,
    gradients: Vec<Vec<NdArray>>,
}

impl Ours {
    fn new(order: &Json) -> Result<Self> {
        let runtime = Runtime::builder().env(&MapSource::new([("", ""); 0])).build()?;
        let store = runtime.kvstore(order["store"].as_str().context("no `store`")?)?;
        let n_devices = order["n_devices"].as_u64().context("no `n_devices`")? as u32;
        let mut gradients = Vec::new();
        for shape in order["shapes"].as_array().context("no `shapes`")? {
            let shape: Vec<usize> = serde_json::from_value(shape.clone()).context("a shape")?;
            let on = |id| NdArray::empty(runtime.arrays(), &shape[..], DType::F32, Device::cpu(id), "gradient");
            gradients.push((0..n_devices).map(on).collect::<mxrs::Result<Vec<_>>>()?);
        }
        let ours = Self { runtime, store, gradients };
        ours.fill()?;
        for (key, arrays) in (0..).zip(&ours.gradients) {
            ours.store.init(&[(Key::Int(key), arrays.first().context("no devices")?.clone())])?;
        }
        ours.wait()?;
        Ok(ours)
    }

    fn wait(&self) -> Result<()> {
        Ok(self.runtime.engine().wait_for_all()?)
    }

    /// Overwrites all gradients with ones.
    fn fill(&self) -> Result<()> {
        for array in self.gradients.iter().flatten() {
            array.write_later(|bytes| {
                bytes.chunks_exact_mut(4).for_each(|element| element.copy_from_slice(&1f32.to_ne_bytes()));
                Ok(())
            })?;
        }
        self.wait()
    }

    /// Returns the seconds of all steps.
    fn run(&self, call: Call, n_steps: usize) -> Result<f64> {
        ensure!((1..=MAX_STEPS).contains(&n_steps), "{n_steps} steps; expected 1 to {MAX_STEPS}");
        self.fill()?;
        let start = Instant::now();
        for _ in 0..n_steps {
            for (key, arrays) in (0i32..).zip(&self.gradients) {
                let values: Vec<(Key, Value)> =
                    arrays.iter().map(|array| (Key::Int(key.into()), array.into())).collect();
                match call {
                    // The priority is `-key`, because the gradients of the first layers are needed first.
                    Call::Pushpull => self.store.pushpull(&values, &[], -key)?,
                    Call::PushPull => {
                        self.store.push(&values, -key)?;
                        let outs: Vec<(Key, NdArray)> =
                            arrays.iter().map(|array| (Key::Int(key.into()), array.clone())).collect();
                        self.store.pull(&outs, -key)?;
                    }
                }
            }
            self.wait()?;
        }
        let seconds = start.elapsed().as_secs_f64();
        self.check(n_steps)?;
        Ok(seconds)
    }

    fn check(&self, n_steps: usize) -> Result<()> {
        for arrays in &self.gradients {
            let expected = (arrays.len() as f32).powi(n_steps as i32);
            for array in arrays {
                let values = array.to_vec::<f32>()?;
                let wrong = values.iter().find(|&&value| value != expected);
                ensure!(wrong.is_none(), "wrong sum: {wrong:?}, not {expected}");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kvstore::Case;

    #[test]
    fn sums_are_made_and_mistakes_are_answered() {
        let mut ours = None;
        let run = json!({ "do": "run", "call": "push, pull", "n_steps": 3 });
        assert!(done(&mut ours, &run.to_string()).unwrap_err().to_string().contains("nothing is loaded"));
        for store in ["local", "device"] {
            let case = Case { store: store.into(), n_devices: 4 };
            done(&mut ours, &case.to_order(&[vec![3, 2], vec![1]]).to_string()).unwrap();
            for call in [Call::PushPull, Call::Pushpull] {
                let order = json!({ "do": "run", "call": call.word(), "n_steps": 3 });
                assert!(done(&mut ours, &order.to_string()).unwrap()["seconds"].as_f64().unwrap() > 0.0);
                let ours = ours.as_ref().unwrap();
                assert_eq!(ours.gradients[0][3].to_vec::<f32>().unwrap(), [64.0; 6]);
                assert!(ours.check(2).unwrap_err().to_string().contains("wrong sum"));
            }
        }
        for wrong in [json!({}), json!({ "do": "run" }), json!({ "do": "run", "call": "pull", "n_steps": 1 })] {
            assert!(done(&mut ours, &wrong.to_string()).is_err(), "{wrong}");
        }
        let long = json!({ "do": "run", "call": "pushpull", "n_steps": MAX_STEPS + 1 });
        assert!(done(&mut ours, &long.to_string()).unwrap_err().to_string().contains("13 steps"));
        let other = Case { store: "lokal".into(), n_devices: 1 };
        assert!(done(&mut ours, &other.to_order(&[]).to_string()).is_err());
    }
}
