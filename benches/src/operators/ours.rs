//! mxrs in a process of its own: calls operators by the imperative interface of the facade, as ordered by lines of JSON.

use super::list::Pass;
use super::sample::Sample;
use crate::score::limits::Limit;
use crate::score::serve::{Timed, timed};
use anyhow::{Context, Result, bail, ensure};
use mxrs::Runtime;
use mxrs::env::MapSource;
use mxrs::exec::{BackwardOptions, GradReq, Imperative, autograd};
use mxrs::ndarray::NdArray;
use mxrs::op::Attrs;
use mxrs::types::{DType, Shape};
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

/// Executes the orders on standard input, one per line, until standard input is closed.
///
/// ```text
/// {"do": "load", "operator": "exp", "attrs": {}, "inputs": [{"file": "…", "shape": [2, 3], "gradient": true}],
///  "pass": "forward", "torch": "torch.exp(a)", "threads": 2}
///                                              answers {"name": "a library 1.0", "first_s": 0.1, "output": [6, 0.5, 0.7],
///                                                       "gradients": null}
/// {"do": "run", "seconds": 0.1, "warm": true}  answers {"n": 120, "seconds": 0.101}
/// ```
///
/// `output` and `gradients` are a [`Sample`] of the first output and one of all gradients together. An error is answered as
/// `{"error": "why"}`.
///
/// # Errors
/// Fails if mxrs cannot be started, or if standard input or output fails.
pub fn serve(threads: NonZeroUsize, limit: Option<Limit>) -> Result<()> {
    let mut server = Server::new(threads, limit)?;
    let (stdin, mut stdout) = (std::io::stdin().lock(), std::io::stdout().lock());
    for line in stdin.lines() {
        let answer = server.done(&line?).unwrap_or_else(|error| json!({ "error": format!("{error:#}") }));
        writeln!(stdout, "{answer}")?;
        stdout.flush()?;
    }
    Ok(())
}

struct Server {
    nd: Imperative,
    call: Option<Call>,
}

impl Server {
    fn new(threads: NonZeroUsize, limit: Option<Limit>) -> Result<Self> {
        let threads = threads.to_string();
        let variables = [("OMP_NUM_THREADS", threads.as_str())].into_iter().chain(limit.map(Limit::of_mxrs));
        let runtime = Runtime::builder().env(&MapSource::new(variables)).build()?;
        Ok(Self { nd: runtime.imperative()?, call: None })
    }

    fn done(&mut self, line: &str) -> Result<Value> {
        let order: Value = serde_json::from_str(line).context("an order is a line of JSON")?;
        match order["do"].as_str().unwrap_or_default() {
            "load" => self.loaded(&order),
            "run" => self.timed(&order),
            other => bail!("cannot do `{other}`"),
        }
    }

    fn loaded(&mut self, order: &Value) -> Result<Value> {
        // The memory of the last call is freed before the next is allocated.
        self.call = None;
        let mut call = Call::read(&self.nd, order)?;
        let start = Instant::now();
        let made = call.run()?;
        let first_s = start.elapsed().as_secs_f64();
        let output = sample(&made.outputs[..made.outputs.len().min(1)])?;
        let gradients = sample(&made.gradients)?;
        call.keep_heads(&made)?;
        self.call = Some(call);
        let json = |sample: Option<Sample>| sample.map_or(Value::Null, Sample::to_json);
        Ok(json!({
            "name": format!("mxrs {}", env!("CARGO_PKG_VERSION")),
            "first_s": first_s,
            "output": json(output),
            "gradients": json(gradients),
        }))
    }

    fn timed(&mut self, order: &Value) -> Result<Value> {
        let call = self.call.as_ref().context("nothing is loaded")?;
        let seconds = order["seconds"].as_f64().context("no `seconds`")?;
        let time = Duration::try_from_secs_f64(seconds).context("`seconds`")?;
        if order["warm"] == true {
            call.run()?;
        }
        let Timed { n, seconds } = timed(time, || call.run().map(drop))?;
        Ok(json!({ "n": n, "seconds": seconds }))
    }
}

/// A call that is ready to be run.
struct Call {
    nd: Imperative,
    operator: String,
    attrs: Attrs,
    pass: Pass,
    inputs: Vec<NdArray>,
    /// The inputs whose gradients are computed.
    marked: Vec<NdArray>,
    /// Gradients of the outputs, all ones; empty before the first call.
    heads: Vec<NdArray>,
}

/// The results of a call.
struct Made {
    outputs: Vec<NdArray>,
    gradients: Vec<NdArray>,
}

impl Call {
    fn read(nd: &Imperative, order: &Value) -> Result<Self> {
        let operator = order["operator"].as_str().context("no `operator`")?.to_owned();
        let attrs = order["attrs"].as_object().context("no `attrs`")?;
        let attrs: Attrs = attrs.iter().filter_map(|(key, text)| Some((key.as_str(), text.as_str()?))).collect();
        let word = order["pass"].as_str().context("no `pass`")?;
        let pass = Pass::ALL.into_iter().find(|pass| pass.word() == word);
        let pass = pass.with_context(|| format!("`{word}` is not a pass"))?;
        let (mut inputs, mut marked) = (Vec::new(), Vec::new());
        for given in order["inputs"].as_array().context("no `inputs`")? {
            let array = input(nd, given)?;
            if pass == Pass::Gradients && given["gradient"] == true {
                nd.attach_grad(&array, GradReq::Write)?;
                marked.push(array.clone());
            }
            inputs.push(array);
        }
        Ok(Self { nd: nd.clone(), operator, attrs, pass, inputs, marked, heads: Vec::new() })
    }

    /// Calls the operator, and waits for the results.
    fn run(&self) -> Result<Made> {
        let inputs: Vec<&NdArray> = self.inputs.iter().collect();
        let made = match self.pass {
            Pass::Forward => {
                Made { outputs: self.nd.invoke(&self.operator, &self.attrs, &inputs)?, gradients: Vec::new() }
            }
            Pass::Update => {
                let weight = inputs.first().context("an update needs an input")?;
                self.nd.invoke_into(&self.operator, &self.attrs, &inputs, &[*weight])?;
                Made { outputs: vec![(*weight).clone()], gradients: Vec::new() }
            }
            Pass::Gradients => {
                let outputs = {
                    let _recorded = autograd::record();
                    self.nd.invoke(&self.operator, &self.attrs, &inputs)?
                };
                let heads: Vec<&NdArray> = outputs.iter().collect();
                let ones: Vec<Option<&NdArray>> = self.heads.iter().map(Some).collect();
                self.nd.backward(&heads, &ones, BackwardOptions::default())?;
                let gradients = self.marked.iter().filter_map(autograd::grad_of).collect();
                Made { outputs, gradients }
            }
        };
        made.outputs.iter().chain(&made.gradients).try_for_each(NdArray::wait_to_read)?;
        Ok(made)
    }

    /// Makes the gradients of the outputs for the calls that follow.
    fn keep_heads(&mut self, made: &Made) -> Result<()> {
        if self.pass == Pass::Gradients {
            for output in &made.outputs {
                self.heads.extend(self.nd.invoke("ones_like", &Attrs::new(), &[output])?);
            }
            self.heads.iter().try_for_each(NdArray::wait_to_read)?;
        }
        Ok(())
    }
}

/// An input of float32 from its file.
fn input(nd: &Imperative, given: &Value) -> Result<NdArray> {
    let sizes = given["shape"].as_array().context("no `shape`")?;
    let sizes: Option<Vec<usize>> = sizes.iter().map(|size| size.as_u64().map(|size| size as usize)).collect();
    let shape = Shape::from(&sizes.context("`shape` is not of whole numbers")?[..]);
    let path = given["file"].as_str().context("no `file`")?;
    let bytes = std::fs::read(path).with_context(|| format!("reading {path}"))?;
    ensure!(bytes.len() == 4 * shape.n_elements(), "{path} has {} bytes, not those of {shape}", bytes.len());
    Ok(NdArray::from_bytes(nd.context(), shape, DType::F32, &bytes)?)
}

/// Of an array with more than twice as many elements, only some are summarized. The Python scripts choose the same ones.
const ENOUGH: usize = 1 << 22;

/// A summary of all these arrays together; `None` if there is none, or if the type of one is not of those that results have.
fn sample(arrays: &[NdArray]) -> Result<Option<Sample>> {
    let (mut n, mut numbers) = (0, Vec::new());
    for array in arrays {
        let n_elements = array.shape().n_elements();
        let step = (n_elements / ENOUGH).max(1);
        match array.dtype() {
            DType::F32 => numbers.extend(array.to_vec::<f32>()?.into_iter().step_by(step).map(f64::from)),
            DType::I32 => numbers.extend(array.to_vec::<i32>()?.into_iter().step_by(step).map(f64::from)),
            DType::I64 => numbers.extend(array.to_vec::<i64>()?.into_iter().step_by(step).map(|number| number as f64)),
            _ => return Ok(None),
        }
        n += n_elements;
    }
    Ok((!arrays.is_empty()).then(|| Sample { n, ..Sample::of(&numbers) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::inputs::write;
    use crate::operators::list::{Row, all};

    fn server() -> Server {
        Server::new(NonZeroUsize::MIN, None).unwrap()
    }

    fn row(name: &str) -> Row {
        all().unwrap().into_iter().find(|row| row.name == name).unwrap()
    }

    /// Loads a call and runs it a few times; returns the samples of output and gradients.
    fn tried(server: &mut Server, row: &Row, pass: Pass) -> (Option<Sample>, Option<Sample>) {
        let folder = tempfile::tempdir().unwrap();
        let files = write(&row.inputs, folder.path()).unwrap();
        let loaded = server.done(&row.to_order(pass, &files, 1).to_string()).unwrap();
        assert!(loaded["first_s"].as_f64().unwrap() > 0.0, "{loaded}");
        for warm in [true, false] {
            let timed = server.done(&json!({ "do": "run", "seconds": 0, "warm": warm }).to_string()).unwrap();
            assert!(timed["n"] == 1.0 && timed["seconds"].as_f64().unwrap() > 0.0, "{timed}");
        }
        (Sample::from_json(&loaded["output"]), Sample::from_json(&loaded["gradients"]))
    }

    #[test]
    fn calls_of_every_pass_are_done() {
        let mut server = server();
        let concat = row("Concat");
        let (output, gradients) = tried(&mut server, &concat, Pass::Forward);
        let output = output.unwrap();
        assert_eq!((output.n, gradients), (30_000, None));
        let (same, gradients) = tried(&mut server, &concat, Pass::Gradients);
        assert_eq!((same, gradients), (Some(output), Some(Sample { n: 30_000, mean: 1.0, size: 1.0 })));
        // The weight stays near its old value, because the rate is small.
        let mut update = row("sgd_update");
        update.inputs.iter_mut().for_each(|input| input.shape = vec![50, 2]);
        let (output, gradients) = tried(&mut server, &update, Pass::Update);
        assert!(output.is_some_and(|weight| weight.n == 100 && weight.size > 0.3) && gradients.is_none(), "{output:?}");
    }

    #[test]
    fn random_numbers_need_no_input() {
        let (output, _) = tried(&mut server(), &row("random_uniform"), Pass::Forward);
        let output = output.unwrap();
        assert!(output.n == 1 << 20 && (output.mean - 0.5).abs() < 0.01, "{output}");
    }

    #[test]
    fn mistakes_are_answered() {
        let mut server = server();
        let folder = tempfile::tempdir().unwrap();
        let concat = row("Concat");
        let files = write(&concat.inputs, folder.path()).unwrap();
        let order = concat.to_order(Pass::Forward, &files, 1);
        assert!(server.done(r#"{"do": "run", "seconds": 0}"#).unwrap_err().to_string().contains("nothing is loaded"));
        let unknown = Row { operator: "no_such_operator".into(), ..concat.clone() };
        let error = server.done(&unknown.to_order(Pass::Forward, &files, 1).to_string()).unwrap_err();
        assert!(format!("{error:#}").contains("no_such_operator"), "{error:#}");
        std::fs::write(&files[0], [0_u8; 8]).unwrap();
        let error = server.done(&order.to_string()).unwrap_err().to_string();
        assert!(error.contains("has 8 bytes"), "{error}");
        for wrong in
            ["{}", "load", r#"{"do": "load"}"#, r#"{"do": "load", "operator": "exp", "attrs": {}, "pass": "x"}"#]
        {
            assert!(server.done(wrong).is_err(), "{wrong}");
        }
    }
}
