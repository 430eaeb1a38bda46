//! The main loop of a peer's process: loads a network, runs batches and returns outputs, as ordered by lines of JSON.
//!
//! ```text
//! {"do": "load", "network": "alexnet", "symbol": "…", "params": "…", "onnx": "…", "shape": [1, 3, 224, 224],
//!  "dtype": "float32", "threads": 2, "mode": "inference"}  answers {"name": "ours 1.0", "load_s": 0.2, "first_s": 0.1}
//! {"do": "run", "seconds": 1, "warm": true}  answers {"n": 12, "seconds": 1.04}
//! {"do": "answer", "input": "…"}             answers {"outputs": […]}; the input is a file of float32
//! ```
//!
//! An error is answered as `{"error": "why"}`. The peers in Rust, which are separate packages, include this file.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The order to load a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Name of the network.
    pub network: String,
    /// Symbol file of the network.
    pub symbol: PathBuf,
    /// Parameter file of the network.
    pub params: PathBuf,
    /// ONNX file of the same network with its parameters.
    pub onnx: PathBuf,
    /// Shape of a batch, `[N, C, H, W]`.
    pub shape: Vec<usize>,
    /// Element type that the network computes with.
    pub dtype: String,
    /// Number of threads that the peer may use.
    pub threads: usize,
    /// `inference`, or `training`, where one run is a step of stochastic gradient descent with momentum. mxrs alone knows
    /// `shared`: inference of two bound models at the same time.
    pub mode: String,
}

impl Load {
    /// The order as a JSON object.
    pub fn to_order(&self) -> Value {
        json!({
            "do": "load",
            "network": self.network,
            "symbol": self.symbol,
            "params": self.params,
            "onnx": self.onnx,
            "shape": self.shape,
            "dtype": self.dtype,
            "threads": self.threads,
            "mode": self.mode,
        })
    }

    /// Reads the order from a JSON object.
    ///
    /// # Errors
    /// Fails if a field is missing or has the wrong type.
    pub fn from_order(order: &Value) -> Result<Self> {
        let text = |key: &str| order[key].as_str().map(str::to_owned).with_context(|| format!("no `{key}`"));
        let shape = order["shape"].as_array().context("no `shape`")?;
        let shape = shape.iter().map(|n| n.as_u64().map(|n| n as usize)).collect::<Option<_>>();
        Ok(Self {
            network: text("network")?,
            symbol: text("symbol")?.into(),
            params: text("params")?.into(),
            onnx: text("onnx")?.into(),
            shape: shape.context("`shape` is not of whole numbers")?,
            dtype: text("dtype")?,
            threads: order["threads"].as_u64().context("no `threads`")? as usize,
            mode: text("mode")?,
        })
    }

    /// Number of elements of a batch.
    pub fn n_elements(&self) -> usize {
        self.shape.iter().product()
    }
}

/// A network that was loaded.
pub trait Network {
    /// Runs the batch that was set last, and waits for the outputs.
    ///
    /// # Errors
    /// Returns the error that the library reports.
    fn run(&mut self) -> Result<()>;

    /// Sets a row-major batch, runs it, and returns the first output, row-major.
    ///
    /// # Errors
    /// Returns the error that the library reports.
    fn answer(&mut self, batch: &[f32]) -> Result<Vec<f32>>;

    /// Runs the batch that was set last, repeatedly for this time and at least once.
    ///
    /// # Errors
    /// Fails if [`Self::run`] does.
    fn timed(&mut self, time: Duration) -> Result<Timed> {
        timed(time, || self.run())
    }
}

/// How many batches were run, and in how many seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    /// Number of batches. It need not be whole if several batches ran at the same time.
    pub n: f64,
    /// Seconds that the batches took.
    pub seconds: f64,
}

/// Calls `run` repeatedly for this time, at least once.
///
/// # Errors
/// Returns the first error of `run`.
pub fn timed(time: Duration, mut run: impl FnMut() -> Result<()>) -> Result<Timed> {
    let start = Instant::now();
    let mut n = 0_u32;
    while n == 0 || start.elapsed() < time {
        run()?;
        n += 1;
    }
    Ok(Timed { n: f64::from(n), seconds: start.elapsed().as_secs_f64() })
}

/// Executes the orders on standard input, one per line, until standard input is closed.
///
/// # Errors
/// Fails if standard input or output fails.
pub fn serve(name: &str, load: impl FnMut(&Load) -> Result<Box<dyn Network>>) -> Result<()> {
    let mut server = Server { name, load, network: None, n_elements: 0 };
    let (stdin, mut stdout) = (std::io::stdin().lock(), std::io::stdout().lock());
    for line in stdin.lines() {
        let answer = server.done(&line?).unwrap_or_else(|error| json!({ "error": format!("{error:#}") }));
        writeln!(stdout, "{answer}")?;
        stdout.flush()?;
    }
    Ok(())
}

struct Server<'a, F> {
    name: &'a str,
    load: F,
    network: Option<Box<dyn Network>>,
    n_elements: usize,
}

impl<F: FnMut(&Load) -> Result<Box<dyn Network>>> Server<'_, F> {
    fn done(&mut self, line: &str) -> Result<Value> {
        let order: Value = serde_json::from_str(line).context("an order is a line of JSON")?;
        match order["do"].as_str().unwrap_or_default() {
            "load" => self.loaded(&Load::from_order(&order)?),
            "run" => self.timed(&order),
            "answer" => self.answered(&order),
            other => anyhow::bail!("cannot do `{other}`"),
        }
    }

    fn loaded(&mut self, load: &Load) -> Result<Value> {
        let batch = uniform(load.n_elements());
        let start = Instant::now();
        let mut network = (self.load)(load)?;
        let load_s = start.elapsed().as_secs_f64();
        network.answer(&batch)?;
        let first_s = start.elapsed().as_secs_f64() - load_s;
        (self.network, self.n_elements) = (Some(network), load.n_elements());
        Ok(json!({ "name": self.name, "load_s": load_s, "first_s": first_s }))
    }

    fn timed(&mut self, order: &Value) -> Result<Value> {
        let network = self.network.as_mut().context("nothing is loaded")?;
        let seconds = order["seconds"].as_f64().context("no `seconds`")?;
        let time = Duration::try_from_secs_f64(seconds).context("`seconds`")?;
        if order["warm"] == true {
            network.run()?;
        }
        let Timed { n, seconds } = network.timed(time)?;
        Ok(json!({ "n": n, "seconds": seconds }))
    }

    fn answered(&mut self, order: &Value) -> Result<Value> {
        let network = self.network.as_mut().context("nothing is loaded")?;
        let path = order["input"].as_str().context("no `input`")?;
        let bytes = std::fs::read(path).with_context(|| format!("reading {path}"))?;
        let batch: Vec<f32> = bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        ensure!(batch.len() == self.n_elements, "{path} has {} elements, not {}", batch.len(), self.n_elements);
        Ok(json!({ "outputs": network.answer(&batch)? }))
    }
}

/// `n` pseudo-random numbers from -1 to 1, the same in every call (a xorshift generator: Marsaglia, "Xorshift RNGs", 2003).
pub fn uniform(n: usize) -> Vec<f32> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

/// Order to load a LeNet trained on the digits, with batch size 2.
#[cfg(test)]
pub fn lenet(mode: &str) -> Load {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/digits");
    Load {
        network: "lenet".into(),
        symbol: format!("{folder}/lenet-symbol.json").into(),
        params: format!("{folder}/lenet-0010.params").into(),
        onnx: "".into(),
        shape: vec![2, 1, 28, 28],
        dtype: "float32".into(),
        threads: 1,
        mode: mode.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network that doubles its input.
    struct Twice(Vec<f32>);

    impl Network for Twice {
        fn run(&mut self) -> Result<()> {
            Ok(())
        }

        fn answer(&mut self, batch: &[f32]) -> Result<Vec<f32>> {
            self.0 = batch.iter().map(|x| 2.0 * x).collect();
            Ok(self.0.clone())
        }
    }

    fn load() -> Load {
        Load {
            network: "twice".into(),
            symbol: "a".into(),
            params: "b".into(),
            onnx: "c".into(),
            shape: vec![1, 3],
            dtype: "float32".into(),
            threads: 1,
            mode: "inference".into(),
        }
    }

    #[test]
    fn an_order_to_load_survives_its_line() {
        assert_eq!(Load::from_order(&load().to_order()).unwrap(), load());
        for key in ["network", "symbol", "params", "onnx", "shape", "dtype", "threads", "mode"] {
            let mut order = load().to_order();
            order[key] = Value::Null;
            let error = Load::from_order(&order).unwrap_err().to_string();
            assert!(error.contains(key), "{error}");
        }
    }

    #[test]
    fn orders_are_done_and_mistakes_are_answered() {
        let load_it = |_: &Load| Ok(Box::new(Twice(Vec::new())) as Box<dyn Network>);
        let mut server = Server { name: "twice 1", load: load_it, network: None, n_elements: 0 };
        let mut done = |order: &Value| server.done(&order.to_string());
        assert!(done(&json!({ "do": "run", "seconds": 0 })).unwrap_err().to_string().contains("nothing is loaded"));
        let loaded = done(&load().to_order()).unwrap();
        assert!(loaded["name"] == "twice 1" && loaded["load_s"].as_f64().unwrap() >= 0.0);
        assert_eq!(done(&json!({ "do": "run", "seconds": 0, "warm": true })).unwrap()["n"], 1.0);
        assert!(done(&json!({ "do": "run", "seconds": 0.01 })).unwrap()["seconds"].as_f64().unwrap() >= 0.01);
        let file = tempfile::NamedTempFile::new().unwrap();
        let bytes: Vec<u8> = [1.0_f32, -2.0, 0.5].iter().flat_map(|x| x.to_le_bytes()).collect();
        std::fs::write(file.path(), &bytes).unwrap();
        let order = json!({ "do": "answer", "input": file.path() });
        assert_eq!(done(&order).unwrap()["outputs"], json!([2.0, -4.0, 1.0]));
        std::fs::write(file.path(), &bytes[..8]).unwrap();
        assert!(done(&order).unwrap_err().to_string().ends_with("has 2 elements, not 3"));
        for wrong in [json!({}), json!({ "do": "run" }), json!({ "do": "run", "seconds": -1 }), json!("load")] {
            assert!(done(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_batch_is_uniform() {
        let batch = uniform(30_000);
        assert!(batch.iter().all(|x| (-1.0..=1.0).contains(x)));
        let mean = batch.iter().sum::<f32>() / 30_000.0;
        // The limit is six standard deviations of the mean; each number has a standard deviation of 1/√3.
        assert!(mean.abs() < 0.02, "{mean}");
        let positive_after_positive = batch.windows(2).filter(|pair| pair[0] > 0.0 && pair[1] > 0.0).count();
        assert!((7000..8000).contains(&positive_after_positive), "{positive_after_positive}");
    }
}
