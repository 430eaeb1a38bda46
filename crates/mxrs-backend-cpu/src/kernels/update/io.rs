//! The tensors of an update, piece by piece, as slices of `f32`.

use super::PIECE;
use crate::level::Level;
use crate::number::Element;
use crate::pointwise::{narrow_at, widen_at};
use crate::stream;
use crate::tensors::{Mode, Sink, Source};
use half::{bf16, f16};
use mxrs_op::{KernelArgs, OpCall, TensorDesc};
use mxrs_types::{DType, Result};
use std::ops::Range;

/// The dtypes of a call's tensors.
pub struct Types {
    inputs: Vec<DType>,
    outputs: Vec<DType>,
}

impl Types {
    /// The dtypes of a call.
    ///
    /// # Errors
    /// Fails if an input is neither `f32` nor a 16-bit float.
    pub fn of(call: &OpCall<'_>) -> std::result::Result<Self, String> {
        if let Some(desc) = call.inputs.iter().find(|d| !matches!(d.dtype, DType::F32 | DType::F16 | DType::BF16)) {
            return Err(format!("{} on {}", call.op.name, desc.dtype));
        }
        let types = |descs: &[TensorDesc]| descs.iter().map(|desc| desc.dtype).collect();
        Ok(Self { inputs: types(call.inputs), outputs: types(call.outputs) })
    }

    /// The tensors of a running call, converted with these instructions.
    ///
    /// # Errors
    /// Fails as [`Mode::of`] does.
    pub fn io<'a>(&'a self, args: &'a KernelArgs<'a>, level: Level) -> Result<Io<'a>> {
        let modes = (0..self.outputs.len()).map(|output| Mode::of(args, output, self.outputs[output]));
        Ok(Io { args, types: self, modes: modes.collect::<Result<_>>()?, level })
    }
}

/// The tensors of a running call.
pub struct Io<'a> {
    /// The arguments of the call.
    pub args: &'a KernelArgs<'a>,
    types: &'a Types,
    modes: Vec<Mode>,
    level: Level,
}

impl Io<'_> {
    /// Whether an input is `f32`.
    pub fn is_f32(&self, input: usize) -> bool {
        self.types.inputs[input] == DType::F32
    }

    /// Whether an output is the memory of an input, and both are `f32`, so that the input is updated where it is.
    pub fn is_in_place(&self, input: usize, output: usize) -> bool {
        let (from, to) = (&self.args.inputs[input], &self.args.outputs[output]);
        self.types.inputs[input] == DType::F32
            && self.types.outputs[output] == DType::F32
            && self.modes[output] == Mode::Copy
            && (from.as_ptr(), from.len_bytes()) == (to.as_ptr(), to.len_bytes())
    }

    /// The elements `at` of an input that an output replaces: the elements themselves if the output is the [same
    /// memory](Self::is_in_place), otherwise a copy in the buffer. The caller later passes the copy to [`Self::store`].
    ///
    /// # Safety
    /// While the slice exists, no other code may use these elements of the input and of the output.
    pub unsafe fn open<'b>(
        &'b self,
        (input, output): (usize, usize),
        at: Range<usize>,
        buffer: &'b mut [f32; PIECE],
    ) -> &'b mut [f32] {
        if self.is_in_place(input, output) {
            let sink = Sink::<f32>::with_mode(self.args, output, self.modes[output]);
            // SAFETY: the caller guarantees what `slice_mut` requires.
            return unsafe { sink.slice_mut(at) };
        }
        let buffer = &mut buffer[..at.len()];
        // SAFETY: the caller guarantees what `load` requires.
        unsafe { self.load(input, at, buffer) };
        buffer
    }

    /// The elements `at` of an input that no output replaces: the elements themselves, or if they are 16-bit floats, a copy
    /// in the buffer.
    ///
    /// # Safety
    /// No thread may write these elements while the slice exists.
    pub unsafe fn read<'b>(&'b self, input: usize, at: Range<usize>, buffer: &'b mut [f32; PIECE]) -> &'b [f32] {
        // SAFETY: the caller guarantees what `slice` and `load` require; the dtype is that of the planned call.
        unsafe {
            if self.is_f32(input) {
                return Source::<f32>::of(self.args, input).slice(at);
            }
            let buffer = &mut buffer[..at.len()];
            self.load(input, at, buffer);
            buffer
        }
    }

    /// One element of an input.
    ///
    /// # Safety
    /// No thread may write the element during the call.
    pub unsafe fn one(&self, input: usize, index: usize) -> f32 {
        let mut one = [0.0];
        // SAFETY: the caller guarantees what `load` requires.
        unsafe { self.load(input, index..index + 1, &mut one) };
        one[0]
    }

    /// Copies the elements `at` of an input.
    ///
    /// # Safety
    /// No thread may write these elements during the call.
    pub unsafe fn load(&self, input: usize, at: Range<usize>, to: &mut [f32]) {
        // SAFETY: the caller guarantees what `slice` requires; the dtypes are those of the planned call.
        unsafe {
            match self.types.inputs[input] {
                DType::F16 => widen_at::<f16>(self.level, Source::of(self.args, input).slice(at), to),
                DType::BF16 => widen_at::<bf16>(self.level, Source::of(self.args, input).slice(at), to),
                _ => to.copy_from_slice(Source::<f32>::of(self.args, input).slice(at)),
            }
        }
    }

    /// Writes at most [`PIECE`] elements `at` of an output, or adds to them, as the request says.
    ///
    /// # Safety
    /// No other thread may use these elements during the call.
    pub unsafe fn store(&self, output: usize, at: Range<usize>, from: &[f32]) {
        let mode = self.modes[output];
        let streams = mode == Mode::Direct && self.is_large(output);
        // SAFETY: the caller guarantees that no other thread uses these elements.
        unsafe { self.store_in(output, at, from, if streams { Mode::Stream } else { mode }) };
    }

    /// Does the same as [`Self::store`] for an output whose old elements the call has not read, so that they are in no
    /// cache.
    ///
    /// # Safety
    /// As for [`Self::store`].
    pub unsafe fn store_unread(&self, output: usize, at: Range<usize>, from: &[f32]) {
        let mode = self.modes[output];
        let streams = mode.replaces() && self.is_large(output);
        // SAFETY: the caller guarantees that no other thread uses these elements.
        unsafe { self.store_in(output, at, from, if streams { Mode::Stream } else { mode }) };
    }

    /// Whether an output is so large that it is written around the caches.
    fn is_large(&self, output: usize) -> bool {
        stream::pays(self.args.outputs[output].len_bytes())
    }

    /// Stores elements in this mode.
    ///
    /// # Safety
    /// As for [`Self::store`].
    unsafe fn store_in(&self, output: usize, at: Range<usize>, from: &[f32], mode: Mode) {
        // SAFETY: the caller guarantees what `put` requires; the dtypes are those of the planned call.
        unsafe {
            match self.types.outputs[output] {
                DType::F16 => self.put::<f16>(output, mode, at, |to| narrow_at(self.level, from, to)),
                DType::BF16 => self.put::<bf16>(output, mode, at, |to| narrow_at(self.level, from, to)),
                _ => self.put::<f32>(output, mode, at, |to| to.copy_from_slice(from)),
            }
        }
    }

    /// Lets `fill` compute at most [`PIECE`] elements, and writes them to the output or adds them to the old values.
    ///
    /// # Safety
    /// No other thread may use these elements during the call.
    unsafe fn put<T: Element>(&self, output: usize, mode: Mode, at: Range<usize>, fill: impl FnOnce(&mut [T])) {
        if mode == Mode::Skip {
            return;
        }
        let sink = Sink::<T>::with_mode(self.args, output, mode);
        // SAFETY: the caller guarantees what `slice_mut` requires.
        let to = unsafe { sink.slice_mut(at) };
        if !matches!(mode, Mode::Add | Mode::Stream) {
            return fill(to);
        }
        let mut made = [T::ZERO; PIECE];
        let made = &mut made[..to.len()];
        fill(made);
        if mode == Mode::Stream {
            stream::copy(made, to);
        } else {
            to.iter_mut().zip(made).for_each(|(to, x)| *to = to.plus(*x));
        }
    }
}
