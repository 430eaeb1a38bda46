//! Build script: compiles oneDNN from `vendor/` and links it. The script needs only a C++ compiler. It compiles again
//! only if the sources, the flags or the compiler changed. Without feature `compile` it does nothing.

#[cfg(feature = "compile")]
mod cache;
#[cfg(feature = "compile")]
mod compile;
#[cfg(feature = "compile")]
mod headers;
#[cfg(feature = "compile")]
mod link;
#[cfg(feature = "compile")]
mod plan;

fn main() {
    println!("cargo::rerun-if-changed=build");
    #[cfg(feature = "compile")]
    link::library();
}
