//! `mxrs score --explain`: what each layer takes, who runs it, and how near to the processor's peak.

use crate::exit::Outcome;
use crate::terminal;
use mxrs::exec::{Executor, StepTimes};
use serde::Serialize;

/// One step of a network.
#[derive(Serialize)]
pub struct Layer {
    name: String,
    operator: String,
    backend: &'static str,
    kernel: String,
    /// What the choice of the kernel comes from: estimate, cache or search.
    chosen_by: &'static str,
    output: String,
    milliseconds: f64,
    /// Of the sum of all layers.
    share: f64,
    /// Operations of the direct algorithm per second, in units of 1e9; none where there is no product.
    #[serde(skip_serializing_if = "Option::is_none")]
    gflops: Option<f64>,
    /// Of the peak.
    #[serde(skip_serializing_if = "Option::is_none")]
    of_peak: Option<f64>,
    /// Inputs and outputs read and written once, per second, in units of 1e9 bytes.
    gbytes_per_sec: f64,
}

/// All steps of a network.
#[derive(Serialize)]
pub struct Explained {
    layers: Vec<Layer>,
    /// Sum of the layers.
    layers_ms: f64,
    /// A run without a look at the clock between layers.
    whole_ms: f64,
    peak_gflops: f64,
}

impl Explained {
    /// Times the steps of a bound network.
    ///
    /// # Errors
    /// What a kernel reports.
    pub fn measure(executor: &Executor, n_runs: u32, peak_flops: f64) -> Outcome<Self> {
        let StepTimes { steps: times, whole } = executor.time_steps(n_runs as usize)?;
        let layers_s: f64 = times.iter().map(std::time::Duration::as_secs_f64).sum();
        let report = executor.report().map(|report| report.steps).unwrap_or_default();
        let steps = report.into_iter().filter(|step| !step.is_prepare);
        let layer = |(step, time): (mxrs::exec::StepReport, &std::time::Duration)| {
            let seconds = time.as_secs_f64();
            let per_second = |amount: f64| amount / seconds.max(1e-9);
            let flops = (step.multiply_adds > 0).then(|| per_second(2.0 * step.multiply_adds as f64));
            Layer {
                name: step.name,
                operator: step.op,
                backend: step.backend,
                kernel: step.kernel,
                chosen_by: step.chosen_by.word(),
                output: step.outputs.into_iter().next().unwrap_or_default(),
                milliseconds: seconds * 1e3,
                share: seconds / layers_s.max(1e-12),
                gflops: flops.map(|flops| flops / 1e9),
                of_peak: flops.map(|flops| flops / peak_flops),
                gbytes_per_sec: per_second(step.bytes as f64) / 1e9,
            }
        };
        Ok(Self {
            layers: steps.zip(&times).map(layer).collect(),
            layers_ms: layers_s * 1e3,
            whole_ms: whole.as_secs_f64() * 1e3,
            peak_gflops: peak_flops / 1e9,
        })
    }

    /// The table for people.
    ///
    /// # Errors
    /// Standard output is closed.
    pub fn print(&self) -> Outcome {
        let headings =
            ["layer", "operator", "kernel", "chosen by", "output", "ms", "%", "GFLOP/s", "% of peak", "GB/s"];
        let mut table = terminal::table(&headings);
        for layer in self.layers.iter().filter(|layer| !layer.backend.is_empty()) {
            let optional = |figure: Option<f64>, digits| figure.map_or(String::new(), |f| format!("{f:.digits$}"));
            table.add_row([
                layer.name.clone(),
                layer.operator.clone(),
                layer.kernel.clone(),
                layer.chosen_by.to_owned(),
                layer.output.clone(),
                format!("{:.3}", layer.milliseconds),
                format!("{:.1}", layer.share * 100.0),
                optional(layer.gflops, 0),
                optional(layer.of_peak.map(|share| share * 100.0), 0),
                format!("{:.1}", layer.gbytes_per_sec),
            ]);
        }
        for column in 5..headings.len() {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(comfy_table::CellAlignment::Right);
            }
        }
        terminal::print(&format!(
            "{table}\nlayers {:.3} ms together, whole {:.3} ms ({:+.1} %); peak {:.0} GFLOP/s in float32\n",
            self.layers_ms,
            self.whole_ms,
            (self.layers_ms / self.whole_ms.max(1e-9) - 1.0) * 100.0,
            self.peak_gflops
        ))
    }
}
