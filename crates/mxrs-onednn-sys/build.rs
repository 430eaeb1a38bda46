//! Compiles the thread pool adapter when feature `static` is on; does nothing otherwise.
//!
//! oneDNN itself is compiled and linked by the build script of `mxrs-onednn-src`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "static")]
    compile_adapter();
}

#[cfg(feature = "static")]
fn compile_adapter() {
    println!("cargo::rerun-if-changed=cpp/threadpool.cpp");
    println!("cargo::rerun-if-env-changed=DOCS_RS");
    // docs.rs only builds documentation, so there is nothing to compile or link.
    #[allow(clippy::disallowed_methods, reason = "docs.rs marks its builds only by this variable")]
    if std::env::var_os("DOCS_RS").is_some() {
        return;
    }
    #[allow(clippy::disallowed_methods, reason = "Cargo hands a build script what another one reports as a variable")]
    let include = std::env::var_os("DEP_DNNL_INCLUDE").expect("mxrs-onednn-src reports its header folder");
    cc::Build::new().cpp(true).std("c++17").file("cpp/threadpool.cpp").include(include).compile("mxrs_threadpool");
    // This script need not name other libraries to link: `mxrs-onednn-src` links oneDNN, `cc` links the C++ library, and
    // Rust's standard library links the rest.
}
