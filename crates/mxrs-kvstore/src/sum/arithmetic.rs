//! The additions, for each element type, in both orders.

use super::store;
use half::{bf16, f16};
use mxrs_types::{DType, Error, Result, bfloat16};

/// In which order the elements `a0`, `a1`, … of several arrays are added. Every addition rounds to the arrays' type;
/// integers wrap around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Four elements are added before they are added to `a0`: `a0 + (((a1 + a2) + a3) + a4)`, and to this the sum of the
    /// next four. The last group may be shorter. MXNet's store `local` adds in this order.
    GroupsOfFour,
    /// From left to right: `((a0 + a1) + a2) + a3`. MXNet's store `device` adds in this order.
    LeftToRight,
}

/// The types of elements that can be summed.
pub const SUMMED: [DType; 8] =
    [DType::F32, DType::F64, DType::F16, DType::BF16, DType::U8, DType::I8, DType::I32, DType::I64];

/// Whether arrays of this type can be summed.
pub fn is_summed(dtype: DType) -> bool {
    SUMMED.contains(&dtype)
}

/// Checks that arrays of this type can be summed.
pub(crate) fn check_dtype(dtype: DType) -> Result<()> {
    if is_summed(dtype) {
        return Ok(());
    }
    let expected = format!("one of {}", SUMMED.map(DType::name).join(", "));
    Err(Error::invalid("type of values to sum", dtype, expected))
}

/// An element with the addition of its type.
trait Addend: bytemuck::Pod {
    fn plus(self, other: Self) -> Self;
}

macro_rules! addend {
    ($($t:ty: |$a:ident, $b:ident| $sum:expr;)+) => {
        $(impl Addend for $t {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $sum
            }
        })+
    };
}
addend! {
    f32: |a, b| a + b;
    f64: |a, b| a + b;
    f16: |a, b| f16::from_f32(a.to_f32() + b.to_f32());
    bf16: |a, b| bfloat16::narrow(bfloat16::widen(a) + bfloat16::widen(b));
    u8: |a, b| a.wrapping_add(b);
    i8: |a, b| a.wrapping_add(b);
    i32: |a, b| a.wrapping_add(b);
    i64: |a, b| a.wrapping_add(b);
}

/// Number of elements that are summed at a time, so that the partial sums of one block stay in the first-level cache.
const BLOCK: usize = 1024;

/// Sums `n` elements of each input, and writes the sums to each output. If there are several outputs, large ones that are
/// not inputs too are written past the caches, so that the processor does not read their old content.
///
/// # Safety
/// `dtype` is one of [`SUMMED`]. Every input and every output points to `n` initialized elements of this type, aligned for
/// it. No other code writes an input or uses an output during the call. Two of these pointers may be equal; memory behind
/// pointers that differ does not overlap if one of them is an output.
pub(crate) unsafe fn sum_range(dtype: DType, order: Order, outs: &[*mut u8], inputs: &[*const u8], n: usize) {
    // SAFETY: the caller's promises, for the type of each arm.
    unsafe {
        match dtype {
            DType::F32 => sum_of::<f32>(order, outs, inputs, n),
            DType::F64 => sum_of::<f64>(order, outs, inputs, n),
            DType::F16 => sum_of::<f16>(order, outs, inputs, n),
            DType::BF16 => sum_of::<bf16>(order, outs, inputs, n),
            DType::U8 => sum_of::<u8>(order, outs, inputs, n),
            DType::I8 => sum_of::<i8>(order, outs, inputs, n),
            DType::I32 => sum_of::<i32>(order, outs, inputs, n),
            DType::I64 => sum_of::<i64>(order, outs, inputs, n),
            _ => debug_assert!(false, "{dtype} is not summed; `check_dtype` comes first"),
        }
    }
}

/// # Safety
/// The promises of [`sum_range`], for the type `T`.
unsafe fn sum_of<T: Addend>(order: Order, outs: &[*mut u8], inputs: &[*const u8], n: usize) {
    let mut sums = [T::zeroed(); BLOCK];
    let is_large = outs.len() > 1 && n * size_of::<T>() >= store::STREAMED_BYTES;
    for begin in (0..n).step_by(BLOCK) {
        let len = BLOCK.min(n - begin);
        // SAFETY: `begin + len <= n`, so the elements belong to the input, which no code writes while the slice exists:
        // this function writes the outputs only after the last use of the slices.
        let input = |i: usize| unsafe { std::slice::from_raw_parts(inputs[i].cast::<T>().add(begin), len) };
        if let [out] = outs
            && !inputs.contains(&out.cast_const())
        {
            // SAFETY: `begin + len <= n`, so the elements belong to the output, which is not an input.
            let sums = unsafe { std::slice::from_raw_parts_mut(out.cast::<T>().add(begin), len) };
            fold(order, sums, inputs.len(), input);
            continue;
        }
        let sums = &mut sums[..len];
        fold(order, sums, inputs.len(), input);
        for &out in outs {
            let past_caches = is_large && !inputs.contains(&out.cast_const());
            // SAFETY: `begin + len <= n`, so the elements belong to the output. `sums` is a local variable.
            unsafe { store::write(bytemuck::cast_slice(sums), out.cast::<T>().add(begin).cast(), past_caches) };
        }
    }
    if is_large {
        store::finish();
    }
}

/// Overwrites `sums` with the sum of `n` inputs of the same length.
#[inline(always)]
fn fold<'a, T: Addend>(order: Order, sums: &mut [T], n: usize, input: impl Fn(usize) -> &'a [T]) {
    let group = match order {
        Order::GroupsOfFour => 4,
        Order::LeftToRight => 1,
    };
    if n == 0 {
        return sums.fill(T::zeroed());
    }
    // The first input and the first group are added in one loop, which saves a pass over `sums`.
    let first = input(0);
    match (n - 1).min(group) {
        0 => return sums.copy_from_slice(first),
        1 => zip2(sums, first, input(1), |a0, a| a0.plus(a)),
        2 => zip3(sums, first, input(1), input(2), |a0, a, b| a0.plus(a.plus(b))),
        _ => {
            sums.copy_from_slice(first);
            add_group(sums, 1, (n - 1).min(group), &input);
        }
    }
    for begin in (1 + group..n).step_by(group) {
        add_group(sums, begin, group.min(n - begin), &input);
    }
}

#[inline(always)]
fn zip2<T: Addend>(sums: &mut [T], first: &[T], a: &[T], f: impl Fn(T, T) -> T) {
    for ((sum, &a0), &a) in sums.iter_mut().zip(first).zip(a) {
        *sum = f(a0, a);
    }
}

#[inline(always)]
fn zip3<T: Addend>(sums: &mut [T], first: &[T], a: &[T], b: &[T], f: impl Fn(T, T, T) -> T) {
    for (((sum, &a0), &a), &b) in sums.iter_mut().zip(first).zip(a).zip(b) {
        *sum = f(a0, a, b);
    }
}

/// Adds the sum of the inputs `begin..begin + len`, of which there are 1 to 4.
#[inline(always)]
fn add_group<'a, T: Addend>(sums: &mut [T], begin: usize, len: usize, input: &impl Fn(usize) -> &'a [T]) {
    let a = input(begin);
    match len {
        1 => sums.iter_mut().zip(a).for_each(|(sum, &a)| *sum = sum.plus(a)),
        2 => {
            for ((sum, &a), &b) in sums.iter_mut().zip(a).zip(input(begin + 1)) {
                *sum = sum.plus(a.plus(b));
            }
        }
        3 => {
            for (((sum, &a), &b), &c) in sums.iter_mut().zip(a).zip(input(begin + 1)).zip(input(begin + 2)) {
                *sum = sum.plus(a.plus(b).plus(c));
            }
        }
        _ => {
            let (b, c, d) = (input(begin + 1), input(begin + 2), input(begin + 3));
            for ((((sum, &a), &b), &c), &d) in sums.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                *sum = sum.plus(a.plus(b).plus(c).plus(d));
            }
        }
    }
}
