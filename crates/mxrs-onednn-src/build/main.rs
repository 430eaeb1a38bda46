//! Compiles oneDNN from `vendor/` and links it. It needs only a C++ compiler, and compiles once per set of sources,
//! flags and compiler. Does nothing without feature `compile`.

#[cfg(feature = "compile")]
mod cache;
#[cfg(feature = "compile")]
mod compile;
#[cfg(feature = "compile")]
mod link;
#[cfg(feature = "compile")]
mod plan;

fn main() {
    println!("cargo::rerun-if-changed=build");
    #[cfg(feature = "compile")]
    link::library();
}
