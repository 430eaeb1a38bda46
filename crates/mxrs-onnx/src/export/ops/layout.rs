//! Channels behind space become channels before space and back: ONNX knows the latter only.

use crate::export::call::Call;

/// `[N, …, C]` as `[N, C, …]`; also weights `[O, …, I]` as `[O, I, …]`.
pub(super) fn channels_first(call: &mut Call<'_>, value: &str, ndim: usize) -> String {
    let axes: Vec<usize> = [0, ndim - 1].into_iter().chain(1..ndim - 1).collect();
    call.transposed(value, &axes)
}

/// `[N, C, …]` as `[N, …, C]`.
pub(super) fn channels_last(call: &mut Call<'_>, value: &str, ndim: usize) -> String {
    let axes: Vec<usize> = std::iter::once(0).chain(2..ndim).chain([1]).collect();
    call.transposed(value, &axes)
}
