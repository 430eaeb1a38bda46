//! Links oneDNN and compiles the thread pool adapter when feature `static` is on; does nothing otherwise.
//!
//! oneDNN itself is compiled by the build script of `onednn-src`, once per target folder and profile.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "static")]
    link_static();
}

#[cfg(feature = "static")]
fn link_static() {
    use std::path::{Path, PathBuf};

    println!("cargo::rerun-if-changed=cpp/threadpool.cpp");
    println!("cargo::rerun-if-env-changed=DOCS_RS");
    // The documentation builders have no CMake, and `onednn-src` builds nothing there.
    #[allow(clippy::disallowed_methods, reason = "docs.rs tells a build script by this variable alone")]
    if std::env::var_os("DOCS_RS").is_some() {
        return;
    }
    // Where `onednn-src` (`links = "dnnl"`) installed what it built.
    #[allow(clippy::disallowed_methods, reason = "Cargo hands a build script what another one reports as a variable")]
    let include = std::env::var_os("DEP_DNNL_INCLUDE_PATH").expect("onednn-src reports its header folder");
    let include = PathBuf::from(include);
    require_threadpool_runtime(&include.join("oneapi/dnnl/dnnl_config.h"));

    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .file(Path::new("cpp/threadpool.cpp"))
        .include(&include)
        .compile("mxrs_threadpool");
    // Nothing more to name: `onednn-src` links oneDNN, `cc` the C++ library, and Rust's own library the rest.
}

/// oneDNN built with a runtime of its own would start a second team of threads beside the caller's: refuse it here,
/// where the remedy is known, rather than be slow later.
#[cfg(feature = "static")]
fn require_threadpool_runtime(config: &std::path::Path) {
    println!("cargo::rerun-if-changed={}", config.display());
    let text = std::fs::read_to_string(config).unwrap_or_else(|e| panic!("cannot read {}: {e}", config.display()));
    let threadpool = text.lines().any(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some("#define")
            && words.next() == Some("DNNL_CPU_RUNTIME")
            && words.next() == Some("DNNL_RUNTIME_THREADPOOL")
    });
    if !threadpool {
        let toolchain = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("cmake/threadpool.cmake");
        println!(
            "cargo::error=oneDNN was configured with a thread runtime of its own instead of THREADPOOL. Put \
             `CMAKE_TOOLCHAIN_FILE = \"{}\"` into the `[env]` table of your workspace's .cargo/config.toml (or set that \
             environment variable), run `cargo clean -p onednn-src`, and build again. If CMAKE_TOOLCHAIN_FILE already \
             names a file of yours, include this one from it.",
            toolchain.display()
        );
        std::process::exit(1);
    }
}
