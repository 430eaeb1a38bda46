//! Chooses the backend for a call: of the backends whose kernel can be prepared, the one that estimates the fewest seconds.
//! A result of timing, if there is one, takes precedence over estimates.

use crate::tune::{ChosenBy, Tuning};
use mxrs_op::{Attrs, Backend, Kernel, Offer, OpCall, OpDef, OpParams, OpSet, PlannedKernel, TensorDesc};
use mxrs_sync::Team;
use mxrs_types::{DType, Device, Error, Result};
use std::sync::Arc;

/// A backend's refusal, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The backend that refused.
    pub backend: &'static str,
    /// Why the backend refused the call.
    pub reason: String,
}

/// The kernel chosen for a call.
pub struct Choice {
    /// The backend that made the kernel.
    pub backend: &'static str,
    /// The kernel and its layouts.
    pub planned: PlannedKernel,
    /// The backends that have no kernel for the call, with their reasons.
    pub refusals: Vec<Refusal>,
    /// How the kernel was chosen: by estimates, or by timing.
    pub chosen_by: ChosenBy,
}

/// Like [`choose`], but a result of timing on this kind of device, if there is one, takes precedence over estimates. Without
/// `tuning`, estimates decide.
///
/// # Errors
/// Returns the errors of [`choose`], or the error of the callback that was given to
/// [`Search::looked_on_by`](crate::Search::looked_on_by).
pub(crate) fn choose_tuned(
    backends: &[Arc<dyn Backend>],
    call: &OpCall<'_>,
    device: Device,
    (tuning, team): (Option<&Tuning>, &Team),
    node: &str,
) -> Result<Choice> {
    expect_dtype_of(call)?;
    match tuning.map(|tuning| tuning.choose(backends, call, (device, team), node)).transpose()?.flatten() {
        Some(choice) => Ok(choice),
        None => choose(backends, call),
    }
}

/// Offers for a call with the backends that make them, the one with the fewest seconds first.
type Offers<'a> = Vec<(Offer<'a>, &'a Arc<dyn Backend>)>;

/// The offers for a call, and the refusals of the other backends.
pub(crate) fn offers<'a>(backends: &'a [Arc<dyn Backend>], call: &'a OpCall<'a>) -> (Offers<'a>, Vec<Refusal>) {
    let (mut offers, mut refusals) = (Offers::new(), Vec::new());
    for backend in backends {
        match backend.offer(call) {
            Ok(offer) => offers.push((offer, backend)),
            Err(reason) => refusals.push(Refusal { backend: backend.name(), reason }),
        }
    }
    offers.sort_by(|a, b| a.0.seconds().total_cmp(&b.0.seconds()));
    (offers, refusals)
}

/// Whether a backend has a kernel for the call that is not the reference kernel.
pub(crate) fn has_fast_kernel(backend: &dyn Backend, call: &OpCall<'_>) -> bool {
    backend.offer(call).is_ok_and(|offer| !offer.is_reference())
}

/// Requests an offer from every backend and takes the one with the fewest seconds whose kernel can be prepared.
///
/// # Errors
/// Returns `NotBuilt` with all refusals if no backend can prepare a kernel, or an error if the operator does not support
/// the element type.
pub fn choose(backends: &[Arc<dyn Backend>], call: &OpCall<'_>) -> Result<Choice> {
    expect_dtype_of(call)?;
    let (offers, mut refusals) = offers(backends, call);
    for (offer, backend) in offers {
        match offer.build() {
            Ok(planned) => {
                let chosen_by = ChosenBy::Estimate;
                return Ok(Choice { backend: backend.name(), planned, refusals, chosen_by });
            }
            Err(error) => {
                tracing::debug!(op = call.op.name, backend = backend.name(), %error, "backend could not prepare the call");
                refusals.push(Refusal { backend: backend.name(), reason: error.to_string() });
            }
        }
    }
    let reasons: Vec<String> = refusals.iter().map(|r| format!("{}: {}", r.backend, r.reason)).collect();
    let reason = if reasons.is_empty() { "no backend is loaded".into() } else { reasons.join("; ") };
    Err(Error::not_built(format!("{} for {}", call.op.name, describe(call.inputs)), reason))
}

fn expect_dtype_of(call: &OpCall<'_>) -> Result<()> {
    call.inputs.first().map_or(Ok(()), |first| expect_dtype(call.op, call.params, first.dtype))
}

/// Returns an error if the operator does not support this element type of its first input.
pub fn expect_dtype(op: &OpDef, params: &OpParams, first: DType) -> Result<()> {
    if op.dtypes.contains(&first) {
        return Ok(());
    }
    let name = op.input_names(params).into_iter().next().unwrap_or_default();
    let taken: Vec<&str> = op.dtypes.iter().map(|dtype| dtype.name()).collect();
    Err(Error::dtype(op.name, name, format!("one of {}", taken.join(", ")), first.name()))
}

/// A kernel that copies between two layouts of one tensor.
///
/// # Errors
/// Returns `NotBuilt` if no backend knows both layouts, or the error of a backend.
pub fn choose_reorder(
    backends: &[Arc<dyn Backend>],
    from: &TensorDesc,
    to: &TensorDesc,
) -> Result<(&'static str, Arc<dyn Kernel>)> {
    for backend in backends {
        if let Some(kernel) = backend.reorder(from, to)? {
            return Ok((backend.name(), kernel));
        }
    }
    Err(Error::not_built(format!("copy from {from} to {to}"), "no backend knows both layouts"))
}

/// A kernel of the operator `_copy`, for an output with the request to add: the copy is added to the output.
///
/// # Errors
/// Returns an error if the operator is missing, or `NotBuilt` if no backend copies tensors of this layout.
pub(crate) fn choose_adder(
    backends: &[Arc<dyn Backend>],
    ops: &OpSet,
    desc: &TensorDesc,
) -> Result<(&'static str, PlannedKernel)> {
    let op = ops.get("_copy")?;
    let params = op.parse(&Attrs::new())?;
    let tensor = std::slice::from_ref(desc);
    let call = OpCall { op, params: &params, inputs: tensor, outputs: tensor, is_constant: &[false], is_train: false };
    let choice = choose(backends, &call)?;
    let layouts = choice.planned.input_layouts.iter().chain(&choice.planned.output_layouts);
    if let Some(other) = layouts.into_iter().find(|layout| **layout != desc.layout) {
        return Err(Error::not_built(
            format!("adding {desc} on a device"),
            format!("{} copies {other}", choice.backend),
        ));
    }
    Ok((choice.backend, choice.planned))
}

fn describe(inputs: &[TensorDesc]) -> String {
    inputs.iter().map(TensorDesc::to_string).collect::<Vec<_>>().join(", ")
}
