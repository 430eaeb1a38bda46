//! The steps of `test` and `ci`, cheapest first.

use anyhow::{Context, Result, bail};

use super::{doc, fmt, generate, lint, tidy};
use crate::failures::Failures;
use crate::session::{Kernels, Session};
use crate::skips::Skips;
use crate::steps::Steps;
use crate::tally::Tally;

/// One step of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The code is formatted.
    Fmt,
    /// The project's own rules hold.
    Tidy,
    /// The tests pass in a debug build of Rust code alone, where overflow checks and debug assertions are on.
    Debug,
    /// oneDNN compiles.
    OneDnn,
    /// Clippy reports nothing.
    Lint,
    /// The tests pass in an optimized build with oneDNN.
    Test,
    /// The tests and doc examples pass in a release build with oneDNN.
    Release,
    /// The documentation builds.
    Doc,
    /// The generated tables are up to date.
    Gen,
}

/// Every step, cheapest first.
pub const FULL: [Step; 8] =
    [Step::Fmt, Step::Tidy, Step::Debug, Step::OneDnn, Step::Lint, Step::Test, Step::Doc, Step::Gen];
/// Every step, with the build that users have in place of the one that compiles faster.
pub const RELEASE: [Step; 8] =
    [Step::Fmt, Step::Tidy, Step::Debug, Step::OneDnn, Step::Lint, Step::Release, Step::Doc, Step::Gen];
/// The steps that need neither a C++ compiler nor a second build.
pub const QUICK: [Step; 3] = [Step::Fmt, Step::Tidy, Step::Debug];

/// What to do after a failed step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// Count the failure and continue.
    GoOn,
    /// Skip the remaining steps.
    Stop,
}

impl Step {
    fn title(self) -> &'static str {
        match self {
            Step::Fmt => "fmt: the code is formatted",
            Step::Tidy => "tidy: the project's own rules",
            Step::Debug => "debug: every test and doc example of the default build, with debug assertions",
            Step::OneDnn => "onednn: the library (the first time about eight minutes on two cores)",
            Step::Lint => "lint: clippy, warnings denied",
            Step::Test => "test: every test with oneDNN, optimized",
            Step::Release => "release: every test and doc example with oneDNN, in release",
            Step::Doc => "doc: the documentation, warnings denied",
            Step::Gen => "gen: the generated tables are fresh",
        }
    }

    /// Whether the step needs oneDNN.
    fn needs_onednn(self) -> bool {
        matches!(self, Step::OneDnn | Step::Test | Step::Release)
    }

    fn run(self, session: &Session, tally: &mut Tally, failures: &mut Failures) -> Result<()> {
        let before = tally.failed;
        let result = match self {
            Step::Fmt => fmt::format(session, true),
            Step::Tidy => tidy::check(session, false),
            Step::Debug => tests(session, Kernels::Own.workspace_flags(), tally, failures),
            Step::OneDnn => compile_onednn(session),
            Step::Lint => lint::clippy(session),
            Step::Test => {
                let flags = Kernels::OneDnn.workspace_flags().into_iter().chain(["--tests".to_owned()]).collect();
                tests(session, flags, tally, failures)
            }
            Step::Release => tests(session, Kernels::OneDnn.workspace_flags_of("release"), tally, failures),
            Step::Doc => doc::build(session, false),
            Step::Gen => generate::check(session),
        };
        // A failed check counts as one failure. So does a test program that crashed or did not compile.
        if result.is_err() && tally.failed == before {
            tally.failed += 1;
        }
        result
    }
}

/// Runs the steps and prints `N passed, M failed` as the last line. Steps that need oneDNN are left out, and named, if the
/// session cannot build it. What tests leave out on this machine is named too.
///
/// # Errors
/// Fails if a step fails.
pub fn run(session: &Session, suite: &[Step], on_failure: OnFailure) -> Result<()> {
    Skips::clear(&session.target_dir())?;
    let can_build = session.kernels == Kernels::OneDnn;
    let (suite, skipped): (Vec<Step>, Vec<Step>) = suite.iter().partition(|step| can_build || !step.needs_onednn());
    let mut steps = Steps::new(suite.len());
    let mut tally = Tally::default();
    let mut failures = Failures::default();
    let mut failed = Vec::new();
    for step in &suite {
        if steps.run(step.title(), || step.run(session, &mut tally, &mut failures)).is_err() {
            failed.push(step.title());
            if on_failure == OnFailure::Stop {
                break;
            }
        }
    }
    eprint!("{failures}");
    for title in &failed {
        eprintln!("failed: {title}");
    }
    for step in skipped {
        eprintln!("skipped, since oneDNN cannot be compiled here: {}", step.title());
    }
    eprint!("{}", Skips::read(&session.target_dir()));
    eprintln!("finished in {}", steps.elapsed());
    println!("{tally}");
    if !failed.is_empty() {
        bail!("{} of {} steps failed", failed.len(), suite.len());
    }
    Ok(())
}

/// Compiles oneDNN alone, so that its progress and time are seen.
fn compile_onednn(session: &Session) -> Result<()> {
    session.cargo("build").args(["--profile", "suite", "-p", "mxrs-onednn-sys", "--features", "static"]).stream()
}

fn tests(session: &Session, flags: Vec<String>, tally: &mut Tally, failures: &mut Failures) -> Result<()> {
    let run = session.cargo("test").args(flags).arg("--no-fail-fast");
    let result = run.stream_lines(|line| {
        tally.read(line);
        failures.read(line);
    });
    failures.end();
    result.context("the tests")
}
