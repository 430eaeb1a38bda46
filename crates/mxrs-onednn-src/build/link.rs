//! Reads the settings that cargo passes to this build script, and prints the lines that make cargo link the library.

// Cargo passes settings to build scripts in environment variables, and a build script has no other source of settings.
#![allow(clippy::disallowed_methods, reason = "cargo describes the build in environment variables")]

use std::path::PathBuf;
use std::process::exit;

use crate::{cache, compile, plan};

/// Compiles the library, or finds it in the cache, and links it. Ends the build script with an error if that fails.
pub fn library() {
    println!("cargo::rerun-if-changed=vendor");
    println!("cargo::rerun-if-env-changed=DOCS_RS");
    println!("cargo::rerun-if-env-changed={}", cache::VARIABLE);
    let vendor = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("vendor");
    // `mxrs-onednn-sys` reads this as DEP_DNNL_INCLUDE.
    println!("cargo::metadata=INCLUDE={}", vendor.join("include").display());
    // docs.rs only builds documentation, so there is nothing to compile or link.
    if std::env::var_os("DOCS_RS").is_some() {
        return;
    }
    if let Err(error) = build(vendor) {
        println!("cargo::error={}", error.replace('\n', " "));
        exit(1);
    }
}

fn build(vendor: PathBuf) -> Result<(), String> {
    require_x86_64()?;
    let plan = plan::Plan::new(vendor)?;
    let entry = cache::Entry::open(&plan)?;
    if !entry.holds_library() {
        let objects = compile::objects(&plan, &entry.objects_dir()?)?;
        entry.publish(|folder| compile::archive(&objects, folder))?;
    }
    println!("cargo::rustc-link-search=native={}", entry.dir().display());
    println!("cargo::rustc-link-lib=static=dnnl");
    println!("cargo::rustc-link-lib=dylib={}", cpp_library());
    Ok(())
}

/// Returns an error for targets other than x86-64, because the vendored sources are for this architecture only.
fn require_x86_64() -> Result<(), String> {
    let (arch, family) =
        (variable("CARGO_CFG_TARGET_ARCH"), std::env::var("CARGO_CFG_TARGET_FAMILY").unwrap_or_default());
    if arch == "x86_64" && family.split(',').any(|family| family == "unix") {
        return Ok(());
    }
    Err(format!(
        "oneDNN is compiled from source for x86_64 Linux and macOS only, and the target is {}. Use feature `dynamic` of \
         mxrs-onednn-sys instead of `static`: it loads an installed libdnnl.so.3 when the program runs. Or build without \
         oneDNN.",
        variable("TARGET")
    ))
}

/// The name of the C++ standard library, which oneDNN calls. The variable `CXXSTDLIB` can name another library, as it does
/// for the crate `cc`.
fn cpp_library() -> String {
    println!("cargo::rerun-if-env-changed=CXXSTDLIB");
    let usual = if variable("CARGO_CFG_TARGET_VENDOR") == "apple" { "c++" } else { "stdc++" };
    std::env::var("CXXSTDLIB").unwrap_or_else(|_| usual.to_owned())
}

/// Returns an environment variable that cargo sets for every build script.
pub fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo sets {name} for build scripts"))
}
