//! Converts between channels last and channels second; ONNX supports only channels second.

use crate::export::call::Call;

/// Transposes `[N, …, C]` to `[N, C, …]`, and weights `[O, …, I]` to `[O, I, …]`.
pub(super) fn channels_first(call: &mut Call<'_>, value: &str, ndim: usize) -> String {
    let axes: Vec<usize> = [0, ndim - 1].into_iter().chain(1..ndim - 1).collect();
    call.transposed(value, &axes)
}

/// Transposes `[N, C, …]` to `[N, …, C]`.
pub(super) fn channels_last(call: &mut Call<'_>, value: &str, ndim: usize) -> String {
    let axes: Vec<usize> = std::iter::once(0).chain(2..ndim).chain([1]).collect();
    call.transposed(value, &axes)
}
