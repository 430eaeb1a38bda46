//! Binding on one or several devices: the backends that may be used on each, and the check that arrays are on the right
//! device.

use crate::options::BindOptions;
use mxrs_graph::Node;
use mxrs_ndarray::NdArray;
use mxrs_op::Backend;
use mxrs_types::{Device, DeviceKind, Error, Result};
use std::borrow::Cow;
use std::sync::Arc;

/// The options without the backends that cannot run on the device of the graph. If the graph has several devices, all
/// backends stay, and [`backends_on`] chooses among them for each node.
///
/// # Errors
/// Returns an error if there are backends, but none of them runs on one of the devices. Returns an error if a device is
/// memory for copies only, such as pinned memory.
pub fn on_device(options: &BindOptions) -> Result<Cow<'_, BindOptions>> {
    let devices = options.devices();
    for device in &devices {
        if is_for_copies(*device) {
            return Err(Error::invalid("device of a graph", device, "a cpu or a gpu"));
        }
        if !options.backends.is_empty() && !options.backends.iter().any(|backend| backend.runs_on(*device)) {
            return Err(nothing_there(options, *device));
        }
    }
    let device = options.device;
    let is_whole = options.backends.iter().all(|backend| backend.runs_on(device));
    if is_whole || devices.len() > 1 {
        return Ok(Cow::Borrowed(options));
    }
    let backends = options.backends.iter().filter(|backend| backend.runs_on(device)).cloned().collect();
    Ok(Cow::Owned(BindOptions { backends, ..options.clone() }))
}

/// The backends of these options that run on `device`, which is one of the graph's devices.
pub fn backends_on(options: &BindOptions, device: Device) -> Cow<'_, [Arc<dyn Backend>]> {
    // Without groups there is one device, and `on_device` has left out the backends that cannot run on it.
    if options.groups.is_empty() || options.backends.iter().all(|backend| backend.runs_on(device)) {
        return Cow::Borrowed(&options.backends);
    }
    options.backends.iter().filter(|backend| backend.runs_on(device)).cloned().collect()
}

/// The device of a node.
pub fn device_of(node: &Node, options: &BindOptions) -> Device {
    node.device.unwrap_or(options.device)
}

/// The error for a device on which no backend runs. Its message lists the devices on which each backend runs, looking at the
/// cpu and at the first eight GPUs only.
fn nothing_there(options: &BindOptions, device: Device) -> Error {
    const N_ASKED: u32 = 8;
    let asked = || (0..N_ASKED).map(Device::gpu);
    let place = |backend: &Arc<dyn Backend>| {
        let mut places: Vec<String> = asked().filter(|d| backend.runs_on(*d)).map(|d| d.to_string()).collect();
        if backend.runs_on(Device::cpu(0)) {
            places.insert(0, "the cpu".into());
        }
        let places = if places.is_empty() { "other devices".into() } else { places.join(", ") };
        format!("{} runs on {places}", backend.name())
    };
    let places: Vec<String> = options.backends.iter().map(place).collect();
    Error::not_built(format!("operators on {device}"), format!("no backend runs there: {}", places.join("; ")))
}

/// Whether a device is host memory for copies to devices (pinned) or between processes (shared). Kernels of the host can use
/// this memory, but no graph is bound to it.
fn is_for_copies(device: Device) -> bool {
    matches!(device.kind, DeviceKind::CpuPinned | DeviceKind::CpuShared)
}

/// Checks that an array is on the device of the graph that it is bound to. For a graph on the host it may be pinned or
/// shared memory too.
///
/// # Errors
/// Returns an error that names the array by `what`, and both devices.
pub fn expect_device(array: &NdArray, device: Device, what: impl FnOnce() -> String) -> Result<()> {
    if array.device() == device || (device.is_host() && is_for_copies(array.device())) {
        return Ok(());
    }
    let expected = format!("{device}, where the graph is bound; `as_in_context` copies an array there");
    Err(Error::invalid(format!("device of {}", what()), array.device(), expected))
}
