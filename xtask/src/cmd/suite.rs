//! The steps that `test` and `ci` are made of, cheapest first.

use anyhow::{Context, Result, bail};

use super::{doc, fmt, generate, lint, tidy};
use crate::session::{Kernels, Session};
use crate::steps::Steps;
use crate::tally::Tally;

/// One step of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The code is formatted.
    Fmt,
    /// The project's own rules hold.
    Tidy,
    /// Clippy has nothing to say.
    Lint,
    /// The tests pass, in a debug build without oneDNN: overflow checks and debug assertions are on.
    Debug,
    /// The tests pass.
    Test,
    /// The documentation builds.
    Doc,
    /// The generated tables are fresh.
    Gen,
}

/// Every step, cheapest first.
pub const FULL: [Step; 7] = [Step::Fmt, Step::Tidy, Step::Debug, Step::Lint, Step::Test, Step::Doc, Step::Gen];
/// The steps that need neither oneDNN nor a second build.
pub const QUICK: [Step; 3] = [Step::Fmt, Step::Tidy, Step::Debug];

/// What to do after a failed step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// Count it and go on.
    GoOn,
    /// Leave the rest undone.
    Stop,
}

impl Step {
    fn title(self) -> &'static str {
        match self {
            Step::Fmt => "fmt: the code is formatted",
            Step::Tidy => "tidy: the project's own rules",
            Step::Lint => "lint: clippy, warnings denied",
            Step::Debug => "debug: every test that needs no oneDNN, with debug assertions",
            Step::Test => "test: every test and doc example, in release",
            Step::Doc => "doc: the documentation, warnings denied",
            Step::Gen => "gen: the generated tables are fresh",
        }
    }

    fn run(self, session: &Session, tally: &mut Tally) -> Result<()> {
        let before = tally.failed;
        let result = match self {
            Step::Fmt => fmt::format(session, true),
            Step::Tidy => tidy::check(session, false),
            Step::Lint => lint::clippy(session),
            Step::Debug => tests(session, Kernels::Reference, tally),
            // On a machine without a C++ compiler the debug step was the whole suite.
            Step::Test if session.kernels == Kernels::Reference => Ok(()),
            Step::Test => tests(session, session.kernels, tally),
            Step::Doc => doc::build(session, false),
            Step::Gen => generate::check(session),
        };
        // A failed check, or a test program that did not compile or crashed, counts as one failure.
        if result.is_err() && tally.failed == before {
            tally.failed += 1;
        }
        result
    }
}

/// Runs the steps and prints the closing line `N passed, M failed`.
///
/// # Errors
/// A step failed.
pub fn run(session: &Session, suite: &[Step], on_failure: OnFailure) -> Result<()> {
    let mut steps = Steps::new(suite.len());
    let mut tally = Tally::default();
    let mut failed = Vec::new();
    for step in suite {
        if steps.run(step.title(), || step.run(session, &mut tally)).is_err() {
            failed.push(step.title());
            if on_failure == OnFailure::Stop {
                break;
            }
        }
    }
    for title in &failed {
        eprintln!("failed: {title}");
    }
    eprintln!("finished in {}", steps.elapsed());
    println!("{tally}");
    if !failed.is_empty() {
        bail!("{} of {} steps failed", failed.len(), suite.len());
    }
    Ok(())
}

fn tests(session: &Session, kernels: Kernels, tally: &mut Tally) -> Result<()> {
    let run = session.cargo("test").args(kernels.workspace_flags()).arg("--no-fail-fast");
    run.stream_lines(|line| tally.read(line)).context("the tests")
}
