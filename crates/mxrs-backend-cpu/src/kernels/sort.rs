//! `sort`, `argsort` and `topk`, and the gradients of `sort` and `topk`.
//!
//! Each line along the axis is sorted as pairs of a key and a place. The key is an unsigned integer with the order of the
//! elements, so pairs are compared as one integer, and equal elements keep their order. `topk` first selects, and sorts only
//! what it selected. NaN counts as largest; -0 and 0 are equal.

use super::{around, for_element};
use crate::number::Element;
use crate::plan::{Build, Planned, out_of_place};
use crate::split::{in_element_ranges, in_ranges};
use crate::tensors::{Mode, Scratch, Sink, Source};
use half::{bf16, f16};
use mxrs_op::{KernelArgs, OpCall, elements};
use mxrs_ops::sorting::argsort::ArgsortParams;
use mxrs_ops::sorting::sort::SortParams;
use mxrs_ops::sorting::topk::{ReturnType, TopkParams};
use mxrs_types::{DType, Result};

/// How many elements of an elementwise loop cost as much as sorting one element.
const SORT_COST: usize = 32;

/// What a call does with the elements that come first in sorted order.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// Output 0 gets the elements; output 1, if there is one, their places.
    Values,
    /// Output 0 gets the places.
    Places,
    /// Output 0 gets 1 at the elements and 0 elsewhere.
    Mask,
    /// The output is the gradient of the data: input 0 at the places of the elements, and 0 elsewhere.
    Back,
}

/// The lines of a call.
#[derive(Clone, Copy)]
struct Lines {
    role: Role,
    /// Index of the input that is sorted.
    data: usize,
    outer: usize,
    /// Number of elements of a line.
    size: usize,
    inner: usize,
    /// Number of elements that are taken from the start of the sorted line.
    k: usize,
    is_ascending: bool,
}

impl Lines {
    fn n(&self) -> usize {
        self.outer * self.inner
    }

    /// The position of place `i` of a line in a tensor that has `size` elements on the axis.
    fn position(&self, line: usize, i: usize, size: usize) -> usize {
        (line / self.inner * size + i) * self.inner + line % self.inner
    }
}

/// Plans operators that sort.
pub fn plan(call: &OpCall<'_>) -> Option<Planned> {
    let (role, axis, k, is_ascending) = match call.op.name {
        "sort" | "_backward_sort" => {
            let params: &SortParams = call.params.get();
            let role = if call.op.name == "sort" { Role::Values } else { Role::Back };
            (role, params.axis, 0, params.is_ascend)
        }
        "argsort" => {
            let params: &ArgsortParams = call.params.get();
            (Role::Places, params.axis, 0, params.is_ascend)
        }
        "topk" | "_backward_topk" => {
            let params: &TopkParams = call.params.get();
            let role = match params.ret_typ {
                _ if call.op.name != "topk" => Role::Back,
                ReturnType::Indices => Role::Places,
                ReturnType::Mask => Role::Mask,
                ReturnType::Value | ReturnType::Both => Role::Values,
            };
            (role, params.axis, params.k.max(0) as usize, params.is_ascend)
        }
        _ => return None,
    };
    let data = usize::from(role == Role::Back);
    let shape = &call.inputs[data].shape;
    let (outer, size, inner) = match axis.map(|axis| shape.axis(i64::from(axis))) {
        None => (1, shape.n_elements(), 1),
        Some(Ok(axis)) => around(shape, axis),
        Some(Err(error)) => return Some(Err(error.to_string())),
    };
    if u32::try_from(size).is_err() || k > size {
        return Some(Err(format!("{k} of {size} elements in sorted order")));
    }
    let lines = Lines { role, data, outer, size, inner, k: if k == 0 { size } else { k }, is_ascending };
    let dtype = call.inputs[data].dtype;
    let places_at = match role {
        Role::Places => Some(0),
        Role::Values => Some(1),
        Role::Mask | Role::Back => None,
    };
    let places = places_at.and_then(|at| Some((at, call.outputs.get(at)?.dtype)));
    let write_places = match places.map(|(_, dtype)| for_element!(call, dtype, T => write_places::<T> as WritePlaces)) {
        Some(Err(reason)) => return Some(Err(reason)),
        Some(Ok(write)) => Some(write),
        None => None,
    };
    if role != Role::Places && call.outputs[0].dtype != dtype {
        return Some(Err(format!("{} of {dtype} gives {}", call.op.name, call.outputs[0].dtype)));
    }
    let write_places = write_places.zip(places);
    Some(for_element!(call, dtype, T => sorted::<T>(call, lines, dtype, write_places)))
}

/// Writes the places, which are in scratch memory, to an output of this index and dtype.
type WritePlaces = fn(&KernelArgs<'_>, Lines, usize, DType) -> Result<()>;

fn sorted<T: Key>(
    call: &OpCall<'_>,
    lines: Lines,
    dtype: DType,
    places: Option<(WritePlaces, (usize, DType))>,
) -> Build {
    let n_places = lines.n() * lines.k;
    out_of_place(call, n_places * size_of::<u32>(), move |args| {
        let scratch = Scratch::<u32>::of(args, 0, n_places);
        let data = Source::<T>::of(args, lines.data);
        in_ranges(args.team, lines.n(), lines.size.saturating_mul(SORT_COST), &|range| {
            let mut pairs = Vec::with_capacity(lines.size);
            for line in range {
                // SAFETY: the kernel never runs in place (`out_of_place`), so nothing writes the input.
                let at = |i: usize| unsafe { data.at(lines.position(line, i, lines.size)) };
                // SAFETY: each line has its own part of the scratch memory, and `in_ranges` gives it to one thread.
                let places = unsafe { scratch.slice(line * lines.k..(line + 1) * lines.k) };
                T::first_places(&mut pairs, lines.size, at, lines.is_ascending, places);
            }
        });
        if let Some((write, (output, dtype))) = places {
            write(args, lines, output, dtype)?;
        }
        match lines.role {
            Role::Places => {}
            Role::Values => write_values::<T>(args, lines, dtype)?,
            Role::Mask | Role::Back => scatter::<T>(args, lines, dtype)?,
        }
        Ok(())
    })
}

/// Calls `value(line, rank, place)` for each element of an output of `k` elements per line, and writes what it returns.
fn write_each<T: Element>(
    args: &KernelArgs<'_>,
    lines: Lines,
    out: &Sink<'_, T>,
    value: &(dyn Fn(usize, u32) -> T + Sync),
) {
    let places = Scratch::<u32>::of(args, 0, lines.n() * lines.k).written();
    in_element_ranges(args.team, lines.n() * lines.k, &|range| {
        // SAFETY: ranges are disjoint and each belongs to one thread. The kernel never runs in place (`out_of_place`), and
        // the places have been written.
        unsafe {
            out.write(range, |piece, to| {
                for (to, at) in to.iter_mut().zip(piece) {
                    let (outer, inner) = (at / (lines.inner * lines.k), at % lines.inner);
                    let (line, rank) = (outer * lines.inner + inner, at / lines.inner % lines.k);
                    *to = value(line, places.at(line * lines.k + rank));
                }
            });
        }
    });
}

fn write_values<T: Element>(args: &KernelArgs<'_>, lines: Lines, dtype: DType) -> Result<()> {
    let (data, out) = (Source::<T>::of(args, lines.data), Sink::<T>::of(args, 0, dtype)?);
    // SAFETY: the kernel never runs in place (`out_of_place`), so nothing writes the input.
    let value = |line: usize, place: u32| unsafe { data.at(lines.position(line, place as usize, lines.size)) };
    write_each(args, lines, &out, &value);
    Ok(())
}

fn write_places<T: Element>(args: &KernelArgs<'_>, lines: Lines, output: usize, dtype: DType) -> Result<()> {
    let out = Sink::<T>::of(args, output, dtype)?;
    if out.is_wanted() {
        write_each(args, lines, &out, &|_, place| of_number(f64::from(place), dtype));
    }
    Ok(())
}

/// A number as an element of this dtype, whose type is `T`.
fn of_number<T: Element>(number: f64, dtype: DType) -> T {
    let mut element = [T::ZERO];
    elements::write_f64(&[number], dtype, bytemuck::cast_slice_mut(&mut element));
    element[0]
}

/// Writes 1, or the values of input 0, to the places of the chosen elements. All other elements become 0.
fn scatter<T: Element>(args: &KernelArgs<'_>, lines: Lines, dtype: DType) -> Result<()> {
    let out = Sink::<T>::of(args, 0, dtype)?;
    let places = Scratch::<u32>::of(args, 0, lines.n() * lines.k).written();
    let ograd = Source::<T>::of(args, 0);
    let one: T = of_number(1.0, dtype);
    if out.mode() != Mode::Add {
        in_element_ranges(args.team, lines.n() * lines.size, &|range| {
            // SAFETY: ranges are disjoint and each belongs to one thread.
            unsafe { out.write(range, |_, to| to.fill(T::ZERO)) };
        });
    }
    in_ranges(args.team, lines.n(), lines.k, &|range| {
        for line in range {
            for rank in 0..lines.k {
                // SAFETY: the places of a line differ, and `in_ranges` gives a line to one thread. The kernel never runs in
                // place (`out_of_place`), so nothing writes the input. The places are written.
                unsafe {
                    let place = places.at(line * lines.k + rank) as usize;
                    let value = match lines.role {
                        Role::Back => ograd.at(lines.position(line, rank, lines.k)),
                        _ => one,
                    };
                    out.put_each(lines.position(line, place, lines.size), 1, std::iter::once(value));
                }
            }
        }
    });
    Ok(())
}

/// An element that can be sorted.
trait Key: Element {
    /// A key and a place, which are compared as one integer.
    type Pair: Copy + Ord + Send;

    /// The key of the element and its place.
    fn pair(self, place: u32, is_ascending: bool) -> Self::Pair;
    /// The place of a pair.
    fn place(pair: Self::Pair) -> u32;

    /// Finds the places of the first elements in sorted order of a line of `n` elements. `pairs` is memory for the line.
    fn first_places(
        pairs: &mut Vec<Self::Pair>,
        n: usize,
        at: impl Fn(usize) -> Self,
        is_ascending: bool,
        places: &mut [u32],
    ) {
        pairs.clear();
        pairs.extend((0..n).map(|i| at(i).pair(i as u32, is_ascending)));
        let k = places.len().min(n);
        if k > 0 && k < n {
            pairs.select_nth_unstable(k - 1);
        }
        pairs[..k].sort_unstable();
        places.iter_mut().zip(&pairs[..k]).for_each(|(to, pair)| *to = Self::place(*pair));
    }
}

/// The bits of a float as an integer with the order of floats. NaN is largest, and -0 equals 0.
macro_rules! float_key {
    ($x:expr, $bits:ident) => {{
        let x = $x;
        let bits = x.to_bits();
        let sign = 1 << ($bits::BITS - 1);
        if x != x {
            $bits::MAX
        } else if bits & !sign == 0 {
            sign
        } else if bits & sign != 0 {
            !bits
        } else {
            bits | sign
        }
    }};
}

macro_rules! keys {
    ($($t:ident: $key:ident in $pair:ident, |$x:ident| $of:expr;)*) => {$(
        impl Key for $t {
            type Pair = $pair;
            #[inline(always)]
            fn pair(self, place: u32, is_ascending: bool) -> $pair {
                let $x = self;
                let key: $key = $of;
                let key = if is_ascending { key } else { !key };
                $pair::from(key) << 32 | $pair::from(place)
            }
            #[inline(always)]
            fn place(pair: $pair) -> u32 {
                pair as u32
            }
        }
    )*};
}
keys! {
    u8: u8 in u64, |x| x;
    i8: u8 in u64, |x| (x as u8) ^ (1 << 7);
    i32: u32 in u64, |x| (x as u32) ^ (1 << 31);
    i64: u64 in u128, |x| (x as u64) ^ (1 << 63);
    f32: u32 in u64, |x| float_key!(x, u32);
    f64: u64 in u128, |x| float_key!(x, u64);
    f16: u16 in u64, |x| float_key!(x, u16);
    bf16: u16 in u64, |x| float_key!(x, u16);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places<T: Key>(line: &[T], is_ascending: bool, k: usize) -> Vec<u32> {
        let mut found = vec![0; k];
        T::first_places(&mut Vec::new(), line.len(), |i| line[i], is_ascending, &mut found);
        found
    }

    #[test]
    fn equal_elements_keep_their_order_and_nan_is_largest() {
        let line = [1.0f32, f32::NAN, -0.0, 0.0, f32::NEG_INFINITY, 1.0, f32::INFINITY, -f32::NAN];
        assert_eq!(places(&line, true, 8), [4, 2, 3, 0, 5, 6, 1, 7]);
        assert_eq!(places(&line, false, 8), [1, 7, 6, 0, 5, 2, 3, 4]);
        assert_eq!(places(&line, false, 3), [1, 7, 6]);
    }

    #[test]
    fn integers_are_ordered_by_value() {
        assert_eq!(places(&[3i8, -128, 127, -1], true, 4), [1, 3, 0, 2]);
        assert_eq!(places(&[i64::MAX, i64::MIN, 0], false, 3), [0, 2, 1]);
        assert_eq!(places(&[200u8, 3, 255], false, 2), [2, 0]);
    }
}
