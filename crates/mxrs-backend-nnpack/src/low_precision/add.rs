//! The sum of two quantized tensors, each i8 or u8, in a calibrated range.

use super::level::{Level, for_each_level};
use super::loops::{Shared, in_parts, planned};
use super::number::Number;
use super::ranges::{range, write_ranges};
use super::{Build, Context, like};
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::quant::quantized_elemwise_add::{self, QuantizedAddParams};
use mxrs_types::{DType, Result};

/// Consecutive elements of the two tensors that are added (`sides`), and where their sums are stored.
struct Run {
    sides: [*const u8; 2],
    dst: *mut u8,
    len: usize,
    scales: [f32; 2],
}

for_each_level! {
    fn added [A: Number, B: Number, O: Number] [A, B, O]: unsafe fn(run: &Run) = add
}

/// # Safety
/// The run must be readable and writable for its elements.
#[inline(always)]
unsafe fn add<A: Number, B: Number, O: Number>(run: &Run) {
    let (a, b, dst) = (run.sides[0].cast::<A>(), run.sides[1].cast::<B>(), run.dst.cast::<O>());
    let [of_a, of_b] = run.scales;
    for i in 0..run.len {
        // SAFETY: the caller promises `len` elements.
        unsafe { *dst.add(i) = O::of((*a.add(i)).wide() * of_a + (*b.add(i)).wide() * of_b) }
    }
}

/// Number of elements of a piece. Threads share the pieces.
const PIECE: usize = 1024;

/// Returns the function that prepares the kernel of a call, or the reason why there is none. Returns `None` if another
/// module handles the call.
pub fn look_at<'a>(call: &'a OpCall<'a>, context: &Context) -> Option<Result<Build<'a>, String>> {
    (call.op.name == quantized_elemwise_add::NAME).then(|| fit(call, context))
}

fn fit<'a>(call: &'a OpCall<'a>, context: &Context) -> Result<Build<'a>, String> {
    let calibrated = call.params.get::<QuantizedAddParams>().calibrated().map_err(|error| error.to_string())?;
    let to = calibrated.ok_or("the range is not calibrated")?;
    let (sides, out) = (&call.inputs[..2], &call.outputs[0]);
    let (types, level, threads) = ([sides[0].dtype, sides[1].dtype], Level::of(context.isa), context.threads);
    let kernel = match (types, out.dtype) {
        ([DType::I8, DType::I8], DType::I8) => added::<i8, i8, i8>(level),
        ([DType::U8, DType::I8], DType::I8) => added::<u8, i8, i8>(level),
        ([DType::I8, DType::U8], DType::I8) => added::<i8, u8, i8>(level),
        ([DType::U8, DType::U8], DType::U8) => added::<u8, u8, u8>(level),
        (_, other) => return Err(format!("no kernel for a sum in {other}")),
    };
    let (n, dtype) = (out.shape.n_elements(), out.dtype);
    let layout = like(sides.iter().find(|side| !side.layout.is_row_major()).unwrap_or(&sides[0]));
    Ok(Box::new(move || {
        let body = move |args: &KernelArgs<'_>| {
            let scales = [0, 1].map(|i| (range(args, 2 + 2 * i).quantum(types[i]) * to.per_unit(dtype)) as f32);
            let [a, b, dst] = [&args.inputs[0], &args.inputs[1], &args.outputs[0]].map(|t| Shared(t.as_ptr()));
            in_parts(args.team, threads, n.div_ceil(PIECE), 3 * PIECE, &|part| {
                let (first, end) = (part.start * PIECE, (part.end * PIECE).min(n));
                // SAFETY: all tensors have the planned layout, in which they have `n` bytes. Each thread has its own part of
                // the output, and nothing writes the inputs.
                unsafe {
                    let sides = [a.at(first).cast_const(), b.at(first).cast_const()];
                    kernel(&Run { sides, dst: dst.at(first), len: end - first, scales });
                }
            });
            write_ranges(args, std::iter::once(to));
            Ok(())
        };
        Ok(planned(call, "quantized_add", vec![layout.clone(); 2], layout, body))
    }))
}
