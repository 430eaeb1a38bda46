//! `cargo xtask demo`: shows the built program at work, without any preparation.
//!
//! Classifies the validation digits with two checkpoints that MXNet wrote, draws some of the digits, compares the accuracies
//! with those that MXNet reached with the same files, and times resnet-50 at batch 1.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::process::Run;
use crate::session::Session;
use crate::steps::Steps;

/// The two checkpoints, and the accuracy that MXNet 1.9.1 itself reaches with them on the validation records
/// (`data/digits/README.md` describes the measurement).
const CHECKPOINTS: [(&str, f64); 2] = [("lenet", 0.986_532), ("resnet8", 0.983_165)];
/// Cargo's profile, in `Cargo.toml`: kernels are as fast as in `release`, and the rest compiles in half the time.
const PROFILE: &str = "demo";
/// Factor 1/255: pixels are bytes, and the networks were trained on values from 0 to 1.
const SCALE: &str = "0.00392156862745098";

/// Arguments of `demo`.
#[derive(clap::Args)]
pub struct Args {
    /// Digits to draw in the terminal
    #[arg(long, default_value_t = 5)]
    draw: u32,
}

/// Runs the command.
///
/// # Errors
/// Fails if the build or one of the program's commands fails.
pub fn run(args: &Args) -> Result<()> {
    let mut steps = Steps::new(4);
    let session = Session::rust_only()?;
    let mxrs = steps.run("build (the first time a few minutes on two cores)", || build(&session))?;
    let draw = args.draw.to_string();
    let title = "digits, and what LeNet takes them for";
    steps.run(title, || predict(&session, &mxrs, "lenet").args(["--draw", &draw]).stream())?;
    let rows = steps.run("accuracy of both checkpoints", || {
        CHECKPOINTS.iter().map(|(model, mxnet)| Ok(Row::of(model, *mxnet, accuracy(&session, &mxrs, model)?))).collect()
    });
    let rows: Vec<Row> = rows?;
    println!("\n{}", table(&rows));
    let score = session.program(&mxrs).args(["score", "--network", "resnet-50", "--batch-size", "1"]);
    steps.run("resnet-50 at batch 1", || score.stream())?;
    eprintln!("demo finished in {}", steps.elapsed());
    Ok(())
}

/// Builds the program and returns its path.
fn build(session: &Session) -> Result<PathBuf> {
    session.cargo("build").args(["--profile", PROFILE, "-p", "mxrs-cli"]).stream()?;
    Ok(session.target_dir().join(PROFILE).join("mxrs"))
}

/// `mxrs predict` with one checkpoint on the validation records.
fn predict(session: &Session, mxrs: &PathBuf, model: &str) -> Run {
    let run = session.program(mxrs).args(["predict", "--model", &format!("data/digits/{model}"), "--epoch", "10"]);
    let run = run.args(["--data", "data/digits/digits_val.rec", "--data-shape", "1,28,28"]);
    run.args(["--batch-size", "32", "--scale", SCALE])
}

/// The accuracy that one checkpoint reached.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reached {
    n_images: u64,
    accuracy: f64,
}

fn accuracy(session: &Session, mxrs: &PathBuf, model: &str) -> Result<Reached> {
    let run = predict(session, mxrs, model).args(["--format", "json"]);
    eprintln!("$ {}", run.line());
    summary(&run.capture()?).with_context(|| format!("reading what `{}` printed", run.line()))
}

/// Reads the fields `images` and `accuracy` of the summary. `output`, or at least its last line, is a JSON document. The
/// fields are at the top of the document or in its member `summary`.
fn summary(output: &str) -> Result<Reached> {
    let whole = serde_json::from_str::<Value>(output).ok();
    let lines = output.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    for document in whole.into_iter().chain(lines) {
        for place in [&document["summary"], &document] {
            if let (Some(n_images), Some(accuracy)) = (place["images"].as_u64(), place["accuracy"].as_f64()) {
                return Ok(Reached { n_images, accuracy });
            }
        }
    }
    bail!("no JSON summary with `images` and `accuracy`")
}

/// One line of the table that is printed at the end.
struct Row {
    model: &'static str,
    mxnet: f64,
    reached: Reached,
}

impl Row {
    fn of(model: &'static str, mxnet: f64, reached: Reached) -> Self {
        Row { model, mxnet, reached }
    }

    /// Whether our accuracy and MXNet's mean the same number of right answers.
    fn agrees(&self) -> bool {
        let right = |accuracy: f64| (accuracy * self.reached.n_images as f64).round();
        right(self.mxnet) == right(self.reached.accuracy)
    }
}

fn table(rows: &[Row]) -> String {
    let mut text = format!("{:<12}{:>8}{:>12}{:>14}  same\n", "checkpoint", "images", "mxrs", "MXNet 1.9.1");
    for row in rows {
        let Reached { n_images, accuracy } = row.reached;
        let same = if row.agrees() { "yes" } else { "NO" };
        text += &format!("{:<12}{n_images:>8}{accuracy:>12.6}{:>14.6}  {same}\n", row.model, row.mxnet);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_is_found_in_each_form() {
        let reached = Reached { n_images: 297, accuracy: 0.5 };
        for output in [
            r#"{"images": 297, "accuracy": 0.5}"#,
            "{\n  \"predictions\": [],\n  \"summary\": {\"images\": 297, \"accuracy\": 0.5}\n}\n",
            "{\"image\": 0, \"class\": 3}\n{\"images\": 297, \"accuracy\": 0.5}\n",
        ] {
            assert_eq!(summary(output).unwrap(), reached, "{output}");
        }
        assert!(summary("no JSON here").is_err());
        assert!(summary(r#"{"images": 297}"#).is_err());
    }

    #[test]
    fn agreement_is_counted_in_images() {
        let row = |accuracy| Row::of("lenet", 0.986_532, Reached { n_images: 297, accuracy });
        assert!(row(293.0 / 297.0).agrees());
        assert!(!row(292.0 / 297.0).agrees());
        assert!(table(&[row(292.0 / 297.0)]).ends_with("NO\n"));
    }
}
