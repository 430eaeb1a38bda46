//! Networks that PyTorch exports to ONNX (`benches/peers/export_torch.py`). In reports their names begin with `torch:`,
//! because mxrs has networks of its own with the same names.
//!
//! mxrs loads the symbol and the parameters that `mxrs convert onnx import` makes of the file. Each library's outputs are
//! compared with PyTorch's; a library whose outputs differ has no speed in the report.

use super::Failure;
use super::check::Expected;
use super::files::Files;
use super::peers::Tools;
use super::process::finish;
use super::serve;
use anyhow::{Context, Result, anyhow, ensure};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Beginning of the names of these networks in reports.
pub const PREFIX: &str = "torch:";

/// Batch sizes that are measured by default.
pub const BATCHES: [usize; 2] = [1, 8];

/// Names of the networks, without the prefix, and the height and width of their images. `cargo xtask` reads the names from
/// the same file.
pub fn networks() -> impl Iterator<Item = (&'static str, usize)> {
    let pair = |line: &'static str| {
        let (name, size) = line.split_once(' ')?;
        Some((name, size.parse().ok()?))
    };
    include_str!("networks_onnx.txt").lines().filter_map(pair)
}

/// The name of the network in reports.
///
/// # Errors
/// Fails if PyTorch exports no network of this name here; the error lists those there are.
pub fn in_reports(name: &str) -> Result<String> {
    let all: Vec<&str> = networks().map(|(name, _)| name).collect();
    ensure!(all.contains(&name), "--onnx has no network `{name}`; there are {}", all.join(", "));
    Ok(format!("{PREFIX}{name}"))
}

/// If PyTorch exports this network: its name without the prefix, and the height and width of its images.
fn known(network: &str) -> Option<(&'static str, usize)> {
    let name = network.strip_prefix(PREFIX)?;
    networks().find(|(other, _)| *other == name)
}

/// Whether this is a network that PyTorch exports.
pub fn is_one(network: &str) -> bool {
    known(network).is_some()
}

/// Shape of a batch of images for a network that PyTorch exports.
///
/// # Errors
/// Fails if there is no such network.
pub fn shape(network: &str, batch: usize) -> Result<Vec<usize>> {
    let (_, size) = known(network).with_context(|| format!("PyTorch exports no network `{network}`"))?;
    Ok(vec![batch, 3, size, size])
}

/// Writes the network at this batch size to the file `onnx`. If `images` is given, which names two files, reads images from
/// the first and writes PyTorch's outputs for them to the second.
///
/// # Errors
/// Fails if there is no Python with PyTorch, or if the script fails or takes longer than `limit`.
pub fn export(
    network: &str,
    batch: usize,
    onnx: &Path,
    images: Option<[&Path; 2]>,
    tools: Tools<'_>,
    limit: Duration,
) -> Result<()> {
    let python = tools.places.torch_python.as_ref().or(tools.places.python.as_ref());
    let python = python.context("give --torch-python PATH: PyTorch writes this network")?;
    let (name, size) = known(network).with_context(|| format!("PyTorch exports no network `{network}`"))?;
    let mut command = Command::new(python);
    command.arg(tools.scripts.join("export_torch.py")).args([name, &batch.to_string(), &size.to_string()]);
    // The file gets its name last, so that a kept file is complete.
    let part = onnx.with_extension("part");
    command.arg(&part).args(images.into_iter().flatten());
    finish(command, &format!("exporting {name} with PyTorch"), limit).map_err(|failure| anyhow!(failure.why))?;
    std::fs::rename(&part, onnx).with_context(|| format!("exporting {name} with PyTorch wrote no {}", part.display()))
}

/// Writes `n_checked` images or more, exports the network and reads PyTorch's outputs for the images.
///
/// # Errors
/// Fails if a file cannot be written or [`export`] fails.
pub fn with_outputs(files: &Files, n_checked: usize, tools: Tools<'_>, limit: Duration) -> Result<Expected> {
    let shape = files.shape();
    let (batch, each) = (shape[0], shape.iter().product::<usize>());
    let [images, outputs] = ["images.f32", "outputs.f32"].map(|name| files.beside(name));
    if !files.has(&files.onnx()) {
        let n = each * batch_count(n_checked, batch);
        let bytes: Vec<u8> = serve::uniform(n).iter().flat_map(|x| x.to_le_bytes()).collect();
        std::fs::write(&images, bytes).with_context(|| format!("writing {}", images.display()))?;
        export(files.network(), batch, &files.onnx(), Some([&images, &outputs]), tools, limit)?;
    }
    let n_bytes = std::fs::metadata(&images).with_context(|| format!("reading {}", images.display()))?.len() as usize;
    let n_batches = n_bytes / (each * size_of::<f32>());
    let bytes = std::fs::read(&outputs).with_context(|| format!("reading {}", outputs.display()))?;
    let numbers: Vec<f32> = bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let is_whole = n_batches > 0 && !numbers.is_empty() && numbers.len().is_multiple_of(n_batches);
    ensure!(is_whole, "PyTorch wrote {} outputs for {n_batches} batches", numbers.len());
    Ok(Expected::new(numbers.chunks(numbers.len() / n_batches).map(<[f32]>::to_vec).collect()))
}

/// Number of batches with at least `n_checked` images, and at least one.
fn batch_count(n_checked: usize, batch: usize) -> usize {
    n_checked.max(1).div_ceil(batch)
}

/// Makes symbol and parameter files of the ONNX file for mxrs.
///
/// # Errors
/// Fails with mxrs's error if it cannot import the file.
pub fn import(files: &Files, prefix: &Path, tools: Tools<'_>, limit: Duration) -> Result<(), Failure> {
    let mut command = Command::new(tools.mxrs);
    command.args(["convert", "onnx", "import", "--no-check"]).arg(files.onnx()).arg(prefix);
    finish(command, "mxrs convert onnx import", limit)
        .map_err(|failure| Failure::new(super::converted::NOT_RUN, failure.why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_have_sizes_and_reports_have_their_names() {
        assert_eq!(networks().count(), include_str!("networks_onnx.txt").lines().count());
        assert_eq!(in_reports("mobilenet-v2").unwrap(), "torch:mobilenet-v2");
        assert_eq!(shape("torch:efficientnet-b3", 8).unwrap(), [8, 3, 300, 300]);
        // mxrs has a network of this name too, which has no prefix.
        assert!(is_one("torch:resnet-18") && !is_one("resnet-18"));
        let error = in_reports("alexnet").unwrap_err().to_string();
        assert!(error.contains("`alexnet`") && error.contains("squeezenet"), "{error}");
        assert!(shape("alexnet", 1).is_err());
    }

    #[test]
    fn the_script_knows_every_network() {
        let script = include_str!("../../peers/export_torch.py");
        for (name, _) in networks() {
            assert!(script.contains(&format!("'{name}':")), "{name}");
        }
    }
}
