//! Quantization of a float network in five steps: fold, mark, calibrate, emit, quantize the weights.

use crate::fold::{fold_batch_norms, values};
use crate::mark::{Marks, check_exclusions, is_excluded, mark};
use crate::pass::{Emitted, LayerParams, emit, param_names};
use crate::report::{NodeReport, Outcome, QuantizeReport};
use crate::rules::Facts;
use crate::table::CalibrationTable;
use crate::weights::{QuantizedParam, quantize_param};
use crate::{CalibMode, Calibrator, Granularity, QuantizeOptions, QuantizedDType};
use indexmap::IndexMap;
use mxrs_exec::BindOptions;
use mxrs_format::{Checkpoint, Tensor};
use mxrs_graph::{Graph, NodeId, infer_dtypes};
use mxrs_ndarray::ArrayContext;
use mxrs_op::OpSet;
use mxrs_types::{DType, Error, Result, ResultExt};

/// Largest integer that may represent a bias in the int32 sums that it is added to. It leaves half of the int32 range
/// for the products.
const BIAS_QUANTA: f32 = (1 << 30) as f32;
/// The integer that represents the product of an activation and a weight that are both at the end of their range.
const STEPS: f32 = 255.5 * 127.5;
/// If the range of a layer's activations is unknown, this range is assumed when its bias is quantized.
const LEAST_RANGE: f32 = 1e-2;

/// A float network whose nodes are marked for quantization, but whose ranges are not known yet.
pub struct Quantizer {
    graph: Graph,
    params: IndexMap<String, Tensor>,
    bytes_before: u64,
    ops: OpSet,
    options: QuantizeOptions,
    marks: Marks,
    folded: Vec<NodeReport>,
    /// Names and operators of the nodes of the original network.
    order: Vec<(String, String)>,
    needed: Vec<String>,
}

/// A quantized network.
#[derive(Debug)]
pub struct QuantizedNetwork {
    /// The graph of the network.
    pub graph: Graph,
    /// Parameters, split into arguments and auxiliary states.
    pub checkpoint: Checkpoint,
    /// Result for each node, ranges, and sizes.
    pub report: QuantizeReport,
}

impl Quantizer {
    /// Decides what to quantize in a network with these parameters (arguments and auxiliary states by name).
    ///
    /// # Errors
    /// Fails for an exclusion that matches no node; for a network without a layer that can be quantized (the error lists the
    /// reasons); and for uint8 without calibration.
    pub fn new(
        graph: &Graph,
        params: &IndexMap<String, Tensor>,
        ops: &OpSet,
        options: &QuantizeOptions,
    ) -> Result<Self> {
        if options.dtype == QuantizedDType::UInt8 && options.calib_mode == CalibMode::None {
            let expected = "naive or entropy calibration, which finds out whether values are negative; or auto";
            return Err(Error::invalid("calibration mode for uint8", "none", expected));
        }
        check_exclusions(graph, options)?;
        let order = graph.nodes().iter().filter(|node| !node.is_variable());
        let order = order.map(|node| (node.name.clone(), node.op_name().to_owned())).collect();
        let bytes_before = params.values().map(|tensor| tensor.stored_bytes().len() as u64).sum();
        let (graph, params, folded) = if options.fold_batch_norm {
            let folded = fold_batch_norms(graph, params, ops, &|node| is_excluded(options, node))?;
            (folded.graph, folded.params, folded.nodes)
        } else {
            (graph.clone(), params.clone(), Vec::new())
        };
        let given = params.iter().filter(|(name, _)| graph.find(name).is_some_and(|id| graph.node(id).is_variable()));
        let given: Vec<(&str, DType)> = given.filter_map(|(name, t)| Some((name.as_str(), t.dtype()?))).collect();
        let dtypes = infer_dtypes(&graph, given, Some(DType::F32))?;
        let marks = mark(&Facts { graph: &graph, params: &params, dtypes: &dtypes, ops }, options);
        let mut made = Self {
            graph,
            params,
            bytes_before,
            ops: ops.clone(),
            options: options.clone(),
            marks,
            folded,
            order,
            needed: Vec::new(),
        };
        if !made.marks.iter().any(Result::is_ok) {
            let expected = "a convolution or fully connected layer with float32 parameters that is not excluded";
            return Err(Error::invalid("network to quantize", made.reasons(), expected));
        }
        let mut needed = made.emit(&CalibrationTable::empty())?.ranges.into_iter().map(|range| range.value).collect();
        std::mem::swap(&mut made.needed, &mut needed);
        made.needed.sort_unstable();
        made.needed.dedup();
        Ok(made)
    }

    /// The reasons why layers are not quantized, for the error about a network without quantizable layers.
    fn reasons(&self) -> String {
        let calls = self.graph.iter().filter(|(_, node)| !node.is_variable());
        let reasons = calls.filter_map(|(id, node)| match &self.marks[id.index()] {
            Err(reason) if reason != "no quantized form" => Some(format!("`{}`: {reason}", node.name)),
            _ => None,
        });
        let reasons: Vec<String> = reasons.take(4).collect();
        if reasons.is_empty() { "no layer that has a quantized form".into() } else { reasons.join("; ") }
    }

    /// The float network to calibrate; normalizations are already folded.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Names of the variables that inference reads and that have no parameter; the caller must feed them.
    pub fn inputs(&self) -> Vec<&str> {
        let is_fed = |id: &NodeId| !self.params.contains_key(&self.graph.node(*id).name) && !self.graph.is_label(*id);
        self.graph.arguments().filter(is_fed).map(|id| self.graph.node(id).name.as_str()).collect()
    }

    /// Names of the values whose ranges must be calibrated.
    pub fn needed(&self) -> &[String] {
        &self.needed
    }

    /// Creates the calibrator that collects the ranges; `None` if ranges are computed in each run.
    ///
    /// # Errors
    /// Returns the errors of [`Calibrator::new`].
    pub fn calibrator(&self, context: &ArrayContext, options: &BindOptions) -> Result<Option<Calibrator>> {
        if self.options.calib_mode == CalibMode::None {
            return Ok(None);
        }
        let QuantizeOptions { calib_mode, dtype, .. } = self.options;
        Calibrator::new(&self.graph, &self.params, &self.needed, calib_mode, dtype, context, options).map(Some)
    }

    fn emit(&self, table: &CalibrationTable) -> Result<Emitted> {
        emit(&self.graph, &self.marks, table, &self.options, &self.ops)
    }

    /// Creates the quantized network with the ranges of `table`. A range that is not in the table is computed in each run.
    ///
    /// # Errors
    /// Fails if the dtype is uint8 and a range has negative numbers, or if parameters are not finite.
    pub fn finish(self, table: &CalibrationTable) -> Result<QuantizedNetwork> {
        let Emitted { graph, ranges, weights, n_dequantize } = self.emit(table)?;
        let mut params = self.params.clone();
        for layer in &weights {
            self.quantize_layer(layer, table, &mut params)?;
        }
        let mut checkpoint = Checkpoint::default();
        for (name, tensor) in params {
            match graph.find(&name).filter(|id| graph.node(*id).is_variable()) {
                Some(id) if graph.is_aux_state(id) => checkpoint.aux.insert(name, tensor),
                Some(_) => checkpoint.arg.insert(name, tensor),
                None => None,
            };
        }
        let tensors = checkpoint.arg.values().chain(checkpoint.aux.values());
        let bytes_after = tensors.map(|tensor| tensor.stored_bytes().len() as u64).sum();
        let nodes = self.node_reports();
        let report = QuantizeReport { nodes, ranges, n_dequantize, bytes_before: self.bytes_before, bytes_after };
        if self.options.verbose {
            report.log();
        }
        Ok(QuantizedNetwork { graph, checkpoint, report })
    }

    fn node_reports(&self) -> Vec<NodeReport> {
        let outcome = |name: &str, op: &str| {
            if let Some(folded) = self.folded.iter().find(|folded| folded.name == *name) {
                return folded.outcome.clone();
            }
            let found = self.graph.iter().find(|(_, node)| node.name == *name && node.op_name() == op);
            match found.map(|(id, _)| &self.marks[id.index()]) {
                Some(Ok(_)) => Outcome::Quantized,
                Some(Err(reason)) => Outcome::Left { reason: reason.clone() },
                None => Outcome::Left { reason: "no node reads it".into() },
            }
        };
        let report = |(name, op): &(String, String)| NodeReport {
            name: name.clone(),
            op: op.clone(),
            outcome: outcome(name, op),
        };
        self.order.iter().map(report).collect()
    }

    /// Adds the quantized weight and bias of a layer to the parameters.
    fn quantize_layer(
        &self,
        layer: &LayerParams,
        table: &CalibrationTable,
        params: &mut IndexMap<String, Tensor>,
    ) -> Result<()> {
        let bias = layer.bias.as_ref().and_then(|name| values(&self.params, name));
        let range = table.get(&layer.data).map_or(LEAST_RANGE, |range| range.widened().max_abs());
        // A bias is added to int32 sums, so it gets the scale of the products. If the weights of a channel are small,
        // that scale is small too, and the integer of the bias might not fit in int32. So the range of the channel's
        // weights must be large enough for its bias to fit.
        let at_least = |bias: f32| bias.abs() * STEPS / (range * BIAS_QUANTA);
        let at_least: Vec<f32> = bias.iter().flat_map(|bias| &bias.values).map(|bias| at_least(*bias)).collect();
        let put = |params: &mut IndexMap<String, Tensor>, name: &str, granularity, at_least: &[f32]| -> Result<()> {
            let [values_name, min_name, max_name] = param_names(name);
            if params.contains_key(&values_name) {
                return Ok(());
            }
            let Some(float) = values(&self.params, name) else { return Ok(()) };
            let QuantizedParam { values, min, max } =
                quantize_param(&float.shape, &float.values, granularity, at_least)
                    .context(|| format!("quantizing `{name}`"))?;
            params.extend([(values_name, values), (min_name, min), (max_name, max)]);
            Ok(())
        };
        put(params, &layer.weight, self.options.granularity, &at_least)?;
        match &layer.bias {
            Some(bias) => put(params, bias, Granularity::Tensor, &[]),
            None => Ok(()),
        }
    }
}
