//! The packages and versions of the libraries that `compare score`, `compare gemm` and `compare operators` install from PyPI
//! (the peers). They are specified only in this file.
//!
//! MXNet is compared in one version. For the other packages, pip installs the newest version; the lower bounds are the
//! versions that the scripts were written for. The report names the version of each library and the day of its installation.
//! The versions of peers in Rust are in `benches/peers/Cargo.lock`.

/// pip flags for PyTorch's own index of wheels without CUDA. The wheels on PyPI are several gigabytes larger and run equally
/// fast on a CPU.
const TORCH_CPU: [&str; 6] =
    ["--index-url", "https://download.pytorch.org/whl/cpu", "--retries", "0", "--timeout", "20"];

/// The packages that a peer needs.
#[derive(Clone, Copy)]
pub struct Packages {
    /// Name of the peer, for the message if the packages cannot be installed.
    pub name: &'static str,
    /// Requirements in pip's syntax.
    pub requirements: &'static [&'static str],
    /// Sets of pip flags, tried in order until one works.
    pub ways: &'static [&'static [&'static str]],
}

const fn packages(name: &'static str, requirements: &'static [&'static str]) -> Packages {
    Packages { name, requirements, ways: &[&[]] }
}

pub const MXNET: Packages = packages("MXNet", &["mxnet==1.9.1", "numpy==1.23.5"]);
pub const OPENVINO: Packages = packages("OpenVINO", &["openvino>=2024.4"]);
pub const ONNXRUNTIME: Packages = packages("ONNX Runtime", &["onnxruntime>=1.19"]);
pub const TORCH: Packages =
    Packages { ways: &[&TORCH_CPU, &[]], ..packages("PyTorch", &["torch>=2.4", "torchvision>=0.19"]) };
pub const MNN: Packages = packages("MNN", &["MNN>=3.0"]);
pub const NCNN: Packages = packages("ncnn", &["ncnn>=1.0.20250916"]);
/// Converts ONNX files for ncnn. Only the program in this package is used, which does not need PyTorch.
pub const PNNX: Packages = Packages { ways: &[&["--no-deps"]], ..packages("ncnn", &["pnnx>=20250916"]) };
pub const OPENBLAS: Packages = packages("OpenBLAS", &["scipy-openblas32>=0.3.29"]);
/// oneDNN with GCC's OpenMP. Newer packages of oneDNN on PyPI need SYCL's compiler runtime.
pub const ONEDNN: Packages = packages("oneDNN", &["onednn-cpu-gomp>=2023.2"]);
/// Converts ONNX files to PyTorch networks.
pub const ONNX2TORCH: Packages = packages("PyTorch", &["onnx2torch>=1.5.13"]);
/// Quantizes networks for OpenVINO. It restricts NumPy's version, so it is installed after the other packages, which work
/// with any version of NumPy.
pub const NNCF: Packages = packages("OpenVINO in 8 bits", &["nncf>=2.14"]);
/// Packages that ONNX Runtime's quantization imports.
pub const ONNX: Packages = packages("ONNX Runtime in 8 bits", &["onnx>=1.16", "sympy>=1.12"]);
/// Contains the protocol buffer compiler that Candle's build calls.
pub const PROTOC: Packages = packages("Candle", &["grpcio-tools>=1.60"]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_says_its_version() {
        for packages in
            [MXNET, OPENVINO, ONNXRUNTIME, MNN, NCNN, PNNX, OPENBLAS, ONEDNN, TORCH, ONNX2TORCH, NNCF, ONNX, PROTOC]
        {
            assert!(!packages.requirements.is_empty() && !packages.ways.is_empty(), "{}", packages.name);
            for requirement in packages.requirements {
                let parts = requirement.split_once("==").or_else(|| requirement.split_once(">="));
                let is_whole = parts.is_some_and(|(name, version)| !name.is_empty() && !version.is_empty());
                assert!(is_whole, "{requirement}");
            }
        }
    }
}
