//! What every compared library of products has in common, and the main loop of its process.

use super::operands::Operands;
use super::shapes::Shape;
use crate::score::serve::{Timed, timed};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::time::Duration;

/// A library that multiplies matrices.
pub trait Library {
    /// Name and version.
    fn name(&self) -> String;

    /// Prepares a product of these operands, whose memory does not move.
    ///
    /// # Errors
    /// Fails if the library cannot compute the product.
    fn prepare(&self, shape: &Shape, operands: &Operands) -> Result<Prepared>;
}

/// Computes a product of the operands that it was prepared for.
pub type Run = Box<dyn FnMut(&mut Operands) -> Result<()>>;

/// A prepared product.
pub struct Prepared {
    /// What is called, for the report.
    pub call: String,
    /// Computes the product.
    pub run: Run,
}

/// Executes the orders on standard input, one per line, until standard input is closed.
///
/// ```text
/// {"do": "load", "shape": "square-64 1 64 64 64 nn"}  answers {"name": "a library 1.0", "call": "sgemm"}
/// {"do": "run", "seconds": 0.1, "warm": true}         answers {"n": 120, "seconds": 0.101}
/// ```
///
/// The product that was prepared last is checked before the first answer. An error is answered as `{"error": "why"}`.
///
/// # Errors
/// Fails if standard input or output fails.
pub fn serve(library: &dyn Library) -> Result<()> {
    let mut server = Server { library, prepared: None };
    let (stdin, mut stdout) = (std::io::stdin().lock(), std::io::stdout().lock());
    for line in stdin.lines() {
        let answer = server.done(&line?).unwrap_or_else(|error| json!({ "error": format!("{error:#}") }));
        writeln!(stdout, "{answer}")?;
        stdout.flush()?;
    }
    Ok(())
}

struct Server<'a> {
    library: &'a dyn Library,
    prepared: Option<(Prepared, Operands)>,
}

impl Server<'_> {
    fn done(&mut self, line: &str) -> Result<Value> {
        let order: Value = serde_json::from_str(line).context("an order is a line of JSON")?;
        match order["do"].as_str().unwrap_or_default() {
            "load" => self.loaded(&Shape::from_order(&order)?),
            "run" => self.timed(&order),
            other => bail!("cannot do `{other}`"),
        }
    }

    fn loaded(&mut self, shape: &Shape) -> Result<Value> {
        // The memory of the last product is freed before the next is allocated.
        self.prepared = None;
        let mut operands = Operands::new(shape);
        let mut prepared = self.library.prepare(shape, &operands)?;
        (prepared.run)(&mut operands)?;
        operands.check(shape).context("wrong")?;
        let call = prepared.call.clone();
        self.prepared = Some((prepared, operands));
        Ok(json!({ "name": self.library.name(), "call": call }))
    }

    fn timed(&mut self, order: &Value) -> Result<Value> {
        let (prepared, operands) = self.prepared.as_mut().context("nothing is loaded")?;
        let seconds = order["seconds"].as_f64().context("no `seconds`")?;
        let time = Duration::try_from_secs_f64(seconds).context("`seconds`")?;
        if order["warm"] == true {
            (prepared.run)(operands)?;
        }
        let Timed { n, seconds } = timed(time, || (prepared.run)(operands))?;
        Ok(json!({ "n": n, "seconds": seconds }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes products in the plainest way, or wrong ones.
    struct Plain {
        is_wrong: bool,
    }

    impl Library for Plain {
        fn name(&self) -> String {
            "plain 1".into()
        }

        fn prepare(&self, shape: &Shape, _: &Operands) -> Result<Prepared> {
            let (shape, error) = (shape.clone(), if self.is_wrong { 0.5 } else { 0.0 });
            let run = move |o: &mut Operands| {
                let Shape { rows, columns, steps, .. } = shape;
                for row in 0..rows {
                    for column in 0..columns {
                        let term = |k: usize| o.left.values()[row * steps + k] * o.right.values()[k * columns + column];
                        let sum: f32 = (0..steps).map(term).sum();
                        o.result.values_mut()[row * columns + column] = sum + error;
                    }
                }
                Ok(())
            };
            Ok(Prepared { call: "loops".into(), run: Box::new(run) })
        }
    }

    #[test]
    fn a_product_is_checked_before_it_is_timed() {
        let load = json!({ "do": "load", "shape": "a 1 3 4 5 nn" }).to_string();
        let mut server = Server { library: &Plain { is_wrong: false }, prepared: None };
        assert!(server.done(r#"{"do": "run", "seconds": 0}"#).unwrap_err().to_string().contains("nothing is loaded"));
        assert_eq!(server.done(&load).unwrap(), json!({ "name": "plain 1", "call": "loops" }));
        let timed = server.done(r#"{"do": "run", "seconds": 0.01, "warm": true}"#).unwrap();
        assert!(timed["n"].as_f64().unwrap() >= 1.0 && timed["seconds"].as_f64().unwrap() >= 0.01, "{timed}");
        for wrong in ["{}", "load", r#"{"do": "load"}"#, r#"{"do": "run"}"#, r#"{"do": "run", "seconds": -1}"#] {
            assert!(server.done(wrong).is_err(), "{wrong}");
        }
        let mut server = Server { library: &Plain { is_wrong: true }, prepared: None };
        let error = format!("{:#}", server.done(&load).unwrap_err());
        assert!(error.starts_with("wrong: value 0 of the result is "), "{error}");
    }
}
