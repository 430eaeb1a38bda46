//! The packages that peers in Python take, with their versions: the only place that says them.
//!
//! MXNet is compared with in one version. Of the others pip takes the newest there is when they are installed; the
//! lower bounds are what the scripts that run them were written for. What was measured says its version, and when it
//! was installed, in the report. Peers in Rust have theirs in `benches/peers/Cargo.lock`.

/// PyTorch's own index of wheels without CUDA; PyPI's are several gigabytes larger and run as fast on a CPU.
const TORCH_CPU: [&str; 6] =
    ["--index-url", "https://download.pytorch.org/whl/cpu", "--retries", "0", "--timeout", "20"];

/// What a peer takes.
#[derive(Clone, Copy)]
pub struct Packages {
    /// Whom to name when they cannot be installed.
    pub name: &'static str,
    /// As pip reads them.
    pub requirements: &'static [&'static str],
    /// Flags of pip, in each of the ways to try.
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
/// Makes PyTorch's networks of ONNX files.
pub const ONNX2TORCH: Packages = packages("PyTorch", &["onnx2torch>=1.5.13"]);
/// Quantizes networks for OpenVINO. It is particular about its NumPy, which the others bring and take as it is.
pub const NNCF: Packages = packages("OpenVINO in 8 bits", &["nncf>=2.14"]);
/// What ONNX Runtime's own quantization imports.
pub const ONNX: Packages = packages("ONNX Runtime in 8 bits", &["onnx>=1.16", "sympy>=1.12"]);
/// Candle's build calls the compiler in it.
pub const PROTOC: Packages = packages("Candle", &["grpcio-tools>=1.60"]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_says_its_version() {
        for packages in [MXNET, OPENVINO, ONNXRUNTIME, TORCH, ONNX2TORCH, NNCF, ONNX, PROTOC] {
            assert!(!packages.requirements.is_empty() && !packages.ways.is_empty(), "{}", packages.name);
            for requirement in packages.requirements {
                let parts = requirement.split_once("==").or_else(|| requirement.split_once(">="));
                let is_whole = parts.is_some_and(|(name, version)| !name.is_empty() && !version.is_empty());
                assert!(is_whole, "{requirement}");
            }
        }
    }
}
