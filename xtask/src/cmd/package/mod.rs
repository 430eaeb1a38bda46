//! `cargo xtask package`: packs every crate as for the registry, and builds small programs from the packed files alone.
//!
//! The programs are in a temporary folder outside the workspace, so that nothing else of the workspace can help the build:
//! no file that was not packed, no setting of `.cargo/config.toml`, no feature that another crate enables. Each crate is
//! built with its default features and run. The facade (the crate `mxrs`) is also built with each of its features alone, and
//! each crate that can compile oneDNN also with the feature that does. Without a C++ compiler (`CXX=false` simulates that),
//! the features that compile oneDNN are left out.

mod folder;
mod program;
mod table;

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::elapsed;
use crate::session::{Kernels, Session};
use crate::workspace::Member;
use folder::Folder;
use program::Program;
use table::Row;

/// The crate that users depend on.
const FACADE: &str = "mxrs";
/// The largest number of crates that the facade without features should add to a program.
const MOST_CRATES: usize = 60;
/// The largest file that the registry accepts, in bytes.
const MOST_PACKED: u64 = 10 << 20;

/// Arguments of `package`.
#[derive(clap::Args)]
pub struct Args {
    /// Build programs for these crates only; all are packed
    #[arg(long = "crate", value_name = "NAME")]
    crates: Vec<String>,
    /// Leave out the features that compile oneDNN
    #[arg(long)]
    without_onednn: bool,
}

/// Runs the command.
///
/// # Errors
/// Fails if a crate cannot be packed or is too large for the registry, or if a program does not build or run. All programs
/// are tried before the error is returned.
pub fn run(args: &Args) -> Result<()> {
    let session = if args.without_onednn { Session::rust_only()? } else { Session::native()? };
    let crates: Vec<&Member> = session.workspace.members.iter().filter(|member| is_published(member)).collect();
    for name in &args.crates {
        if !crates.iter().any(|member| member.name == *name) {
            bail!("--crate {name}: no such crate is published; `cargo metadata` lists the members");
        }
    }
    let folder = Folder::new(&session)?;
    pack(&session, &folder, &crates)?;
    let mut rows = Vec::new();
    for member in crates.iter().filter(|member| args.crates.is_empty() || args.crates.contains(&member.name)) {
        let packed = folder.packed_size(&member.name)?;
        for program in program::programs(member, session.kernels) {
            let row = build(&session, &folder, &program, packed);
            eprintln!("{}", row.summary());
            rows.push(row);
        }
    }
    println!("{}", table::show(&rows));
    if session.kernels == Kernels::Own {
        println!("Left out: the features that compile oneDNN ({}).", program::COMPILE_ONEDNN.join(", "));
    }
    if let Some(facade) = rows.iter().find(|row| row.program == program::title(FACADE, "no features")) {
        let verdict = if facade.n_crates > MOST_CRATES { "more than wanted" } else { "as wanted" };
        println!(
            "{FACADE} without features adds {} crates (at most {MOST_CRATES} wanted: {verdict}) and builds in {}.",
            facade.n_crates,
            elapsed::show(facade.time)
        );
    }
    let failed: Vec<&str> = rows.iter().filter(|row| row.failure.is_some()).map(|row| row.program.as_str()).collect();
    if !failed.is_empty() {
        bail!("{} of {} programs failed: {}", failed.len(), rows.len(), failed.join(", "));
    }
    Ok(())
}

fn is_published(member: &Member) -> bool {
    let publish = member.manifest.get("package").and_then(|package| package.get("publish"));
    publish.and_then(toml::Value::as_bool) != Some(false)
}

/// Packs the crates and unpacks them into the folder that the programs use.
fn pack(session: &Session, folder: &Folder, crates: &[&Member]) -> Result<()> {
    let packages = crates.iter().flat_map(|member| ["-p", member.name.as_str()]);
    // The working tree is packed as it is, uncommitted changes included. The programs built later replace the check that
    // `--no-verify` skips.
    let run = session.cargo("package").args(["--no-verify", "--allow-dirty", "--target-dir"]).arg(folder.packing());
    run.args(packages).stream().context("packing the crates")?;
    for member in crates {
        let size = folder.packed_size(&member.name)?;
        if size > MOST_PACKED {
            bail!("{} is {size} bytes when packed; the registry takes {MOST_PACKED}", member.name);
        }
        folder.unpack(session, &member.name)?;
    }
    folder.write_patches(crates)
}

fn build(session: &Session, folder: &Folder, program: &Program, packed: u64) -> Row {
    let mut row = Row::new(program.title(), packed);
    let result = || -> Result<_> {
        let dir = folder.write_program(program)?;
        row.n_crates = count_crates(session, folder, program, &dir)?;
        let started = Instant::now();
        // Without `--quiet`, cargo would warn about each packed crate that this program does not use.
        folder.cargo(session, &dir, program, "build").arg("--quiet").stream()?;
        row.time = started.elapsed();
        if program.runs() {
            folder
                .cargo(session, &dir, program, "run")
                .arg("--quiet")
                .stream()
                .context("the program built, but fails")?;
        }
        Ok(())
    }();
    row.failure = result.err().map(|error| format!("{error:#}"));
    row
}

/// Number of crates that the program depends on.
fn count_crates(session: &Session, folder: &Folder, program: &Program, dir: &Path) -> Result<usize> {
    let run = folder.cargo(session, dir, program, "tree");
    let tree = run.args(["--edges", "normal,build", "--prefix", "none", "--format", "{p}", "--no-dedupe"]).capture()?;
    let mut crates: Vec<&str> = tree.lines().skip(1).map(str::trim).filter(|line| !line.is_empty()).collect();
    crates.sort_unstable();
    crates.dedup();
    Ok(crates.len())
}
