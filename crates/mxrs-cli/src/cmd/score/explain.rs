//! `mxrs score --explain`: time, kernel and share of the processor's peak for each layer.

use crate::exit::Outcome;
use crate::terminal;
use mxrs::exec::{Executor, StepReport, StepTimes};
use mxrs::types::DType;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// One step of a network with its figures.
#[derive(Serialize)]
pub struct Layer {
    name: String,
    operator: String,
    backend: &'static str,
    kernel: String,
    /// How the kernel was chosen: estimate, cache or search.
    chosen_by: &'static str,
    output: String,
    milliseconds: f64,
    /// Time divided by the sum of the times of all layers.
    share: f64,
    /// Dtype of the data, if the layer is a convolution or a matrix product; otherwise `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    dtype: Option<&'static str>,
    /// Operations of the direct algorithm per second, in units of 1e9; `None` if the layer is neither a convolution nor
    /// a matrix product.
    #[serde(skip_serializing_if = "Option::is_none")]
    gflops: Option<f64>,
    /// The layer's speed divided by the processor's peak in the layer's dtype; `None` if the peak is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    of_peak: Option<f64>,
    /// Memory traffic per second in units of 1e9 bytes, if every input is read once and every output is written once.
    gbytes_per_sec: f64,
}

/// The figures of all steps of a network.
#[derive(Serialize)]
pub struct Explained {
    layers: Vec<Layer>,
    /// Sum of the times of all layers, in milliseconds.
    layers_ms: f64,
    /// Time of a run in which layers are not timed, in milliseconds.
    whole_ms: f64,
    /// The processor's peak, if it is known, for each dtype in which convolutions or matrix products compute.
    peak_gflops: BTreeMap<&'static str, f64>,
}

/// Dtype of the data, if the step is a convolution or a matrix product, where uint8 counts as int8; otherwise `None`.
fn product_type(step: &StepReport) -> Option<DType> {
    let data = step.inputs.first().filter(|_| step.multiply_adds > 0)?;
    match data.split(' ').next()?.parse::<DType>().ok()? {
        DType::U8 => Some(DType::I8),
        dtype => Some(dtype),
    }
}

impl Explained {
    /// Times the steps of a bound network. `peak` is called once for each dtype in which convolutions or matrix
    /// products compute.
    ///
    /// # Errors
    /// Returns an error if a kernel fails.
    pub fn measure(executor: &Executor, n_runs: u32, peak: impl Fn(DType) -> Option<f64>) -> Outcome<Self> {
        let StepTimes { steps: times, whole } = executor.time_steps(n_runs as usize)?;
        let layers_s: f64 = times.iter().map(Duration::as_secs_f64).sum();
        let report = executor.report().map(|report| report.steps).unwrap_or_default();
        let steps: Vec<StepReport> = report.into_iter().filter(|step| !step.is_prepare).collect();
        let types: BTreeSet<DType> = steps.iter().filter_map(product_type).collect();
        let peak_gflops: BTreeMap<&'static str, f64> =
            types.into_iter().filter_map(|dtype| Some((dtype.name(), peak(dtype)? / 1e9))).collect();
        let layer = |(step, time): (StepReport, &Duration)| {
            let seconds = time.as_secs_f64();
            let per_second = |amount: f64| amount / seconds.max(1e-9) / 1e9;
            let dtype = product_type(&step).map(DType::name);
            let gflops = (step.multiply_adds > 0).then(|| per_second(2.0 * step.multiply_adds as f64));
            Layer {
                name: step.name,
                operator: step.op,
                backend: step.backend,
                kernel: step.kernel,
                chosen_by: step.chosen_by.word(),
                output: step.outputs.into_iter().next().unwrap_or_default(),
                milliseconds: seconds * 1e3,
                share: seconds / layers_s.max(1e-12),
                dtype,
                gflops,
                of_peak: gflops.zip(dtype.and_then(|dtype| peak_gflops.get(dtype))).map(|(speed, peak)| speed / peak),
                gbytes_per_sec: per_second(step.bytes as f64),
            }
        };
        let layers = steps.into_iter().zip(&times).map(layer).collect();
        Ok(Self { layers, layers_ms: layers_s * 1e3, whole_ms: whole.as_secs_f64() * 1e3, peak_gflops })
    }

    /// Prints the figures as a table.
    ///
    /// # Errors
    /// Returns an error if stdout is closed.
    pub fn print(&self) -> Outcome {
        let headings =
            ["layer", "operator", "kernel", "chosen by", "output", "type", "ms", "%", "GFLOP/s", "% of peak", "GB/s"];
        let mut table = terminal::table(&headings);
        for layer in self.layers.iter().filter(|layer| !layer.backend.is_empty()) {
            let optional = |figure: Option<f64>, digits| figure.map_or(String::new(), |f| format!("{f:.digits$}"));
            table.add_row([
                layer.name.clone(),
                layer.operator.clone(),
                layer.kernel.clone(),
                layer.chosen_by.to_owned(),
                layer.output.clone(),
                layer.dtype.unwrap_or_default().to_owned(),
                format!("{:.3}", layer.milliseconds),
                format!("{:.1}", layer.share * 100.0),
                optional(layer.gflops, 0),
                optional(layer.of_peak.map(|share| share * 100.0), 0),
                format!("{:.1}", layer.gbytes_per_sec),
            ]);
        }
        for column in 6..headings.len() {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(comfy_table::CellAlignment::Right);
            }
        }
        terminal::print(&format!(
            "{table}\nlayers {:.3} ms together, whole {:.3} ms ({:+.1} %); {}\n",
            self.layers_ms,
            self.whole_ms,
            (self.layers_ms / self.whole_ms.max(1e-9) - 1.0) * 100.0,
            self.peaks()
        ))
    }

    /// The peak of each type, and the types whose peak is not known.
    fn peaks(&self) -> String {
        let known = self.peak_gflops.iter().map(|(dtype, peak)| format!("{peak:.0} GFLOP/s in {dtype}"));
        let types: BTreeSet<&str> = self.layers.iter().filter_map(|layer| layer.dtype).collect();
        let unknown = types.into_iter().filter(|dtype| !self.peak_gflops.contains_key(*dtype));
        let peaks: Vec<String> = known.chain(unknown.map(|dtype| format!("not known in {dtype}"))).collect();
        format!("peak {}", if peaks.is_empty() { "not needed: no products".to_owned() } else { peaks.join(", ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(dtype: &'static str, of_peak: Option<f64>) -> Layer {
        let [name, operator, kernel, output] = [(); 4].map(|()| String::new());
        Layer {
            name,
            operator,
            backend: "x",
            kernel,
            chosen_by: "estimate",
            output,
            milliseconds: 1.0,
            share: 0.5,
            dtype: Some(dtype),
            gflops: Some(100.0),
            of_peak,
            gbytes_per_sec: 1.0,
        }
    }

    #[test]
    fn every_type_is_told_its_peak_or_that_there_is_none() {
        let layers = vec![layer("float32", Some(0.5)), layer("int8", None), layer("float32", Some(0.5))];
        let explained =
            Explained { layers, layers_ms: 2.0, whole_ms: 2.0, peak_gflops: BTreeMap::from([("float32", 200.4)]) };
        assert_eq!(explained.peaks(), "peak 200 GFLOP/s in float32, not known in int8");
    }
}
