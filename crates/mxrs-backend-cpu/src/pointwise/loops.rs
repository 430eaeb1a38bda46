//! Loops over slices, for functions of one and of two elements.

use super::Run;
use crate::level::{Level, Loop};
use crate::number::Number;

/// A function of one element. `at` must be `#[inline(always)]`.
pub trait Unary<T>: Copy + Send + Sync + 'static {
    /// The value of the function.
    fn at(self, x: T) -> T;
}

/// A function of two elements. `at` must be `#[inline(always)]`.
pub trait Binary<T>: Copy + Send + Sync + 'static {
    /// The value of the function.
    fn at(self, a: T, b: T) -> T;
}

/// A function of one element: function `F` of two elements with a fixed second argument `T`.
#[derive(Clone, Copy)]
pub struct Right<F, T>(pub F, pub T);

impl<T: Copy + Send + Sync + 'static, F: Binary<T>> Unary<T> for Right<F, T> {
    #[inline(always)]
    fn at(self, x: T) -> T {
        self.0.at(x, self.1)
    }
}

/// A function of one element: function `F` of two elements with a fixed first argument `T`.
#[derive(Clone, Copy)]
pub struct Left<F, T>(pub F, pub T);

impl<T: Copy + Send + Sync + 'static, F: Binary<T>> Unary<T> for Left<F, T> {
    #[inline(always)]
    fn at(self, x: T) -> T {
        self.0.at(self.1, x)
    }
}

struct MapLoop<'a, T, F>(F, &'a [T], &'a mut [T]);

impl<T: Copy, F: Unary<T>> Loop for MapLoop<'_, T, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self(f, x, out) = self;
        for (out, x) in out.iter_mut().zip(x) {
            *out = f.at(*x);
        }
    }
}

struct ZipLoop<'a, T, F>(F, &'a [T], &'a [T], &'a mut [T]);

impl<T: Copy, F: Binary<T>> Loop for ZipLoop<'_, T, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self(f, a, b, out) = self;
        for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
            *out = f.at(*a, *b);
        }
    }
}

/// Computes `out[i] = f(x[i])`.
pub fn map_slice<T: Copy, F: Unary<T>>(level: Level, f: F, x: &[T], out: &mut [T]) {
    level.run(MapLoop(f, x, out));
}

/// Computes `out[i] = f(a[i], b[i])`.
pub fn zip_slices<T: Copy, F: Binary<T>>(level: Level, f: F, a: &[T], b: &[T], out: &mut [T]) {
    level.run(ZipLoop(f, a, b, out));
}

/// Does the same as [`map_slice`], with the instructions that every processor has.
pub fn map_slice_plain<T: Copy, F: Unary<T>>(f: F, x: &[T], out: &mut [T]) {
    MapLoop(f, x, out).run();
}

/// Does the same as [`zip_slices`], with the instructions that every processor has.
pub fn zip_slices_plain<T: Copy, F: Binary<T>>(f: F, a: &[T], b: &[T], out: &mut [T]) {
    ZipLoop(f, a, b, out).run();
}

/// Makes a `Run`, a function of bytes, from a function of one element.
pub fn map<T: Number>(level: Level, f: impl Unary<T>) -> Run {
    Box::new(move |inputs, out| map_slice(level, f, cast(inputs[0]), cast_mut(out)))
}

/// Makes a `Run`, a function of bytes, from a function of two elements.
pub fn zip<T: Number>(level: Level, f: impl Binary<T>) -> Run {
    Box::new(move |inputs, out| zip_slices(level, f, cast(inputs[0]), cast(inputs[1]), cast_mut(out)))
}

/// Makes a `Run`, a function of bytes, that applies `f` to the result so far and each further input: `f(f(x0, x1),
/// x2)`.
pub fn fold<T: Number>(level: Level, f: impl Binary<T>) -> Run {
    Box::new(move |inputs, out| {
        let [first, rest @ ..] = inputs else { return };
        let Some((second, rest)) = rest.split_first() else { return out.copy_from_slice(first) };
        zip_slices(level, f, cast(first), cast::<T>(second), cast_mut(out));
        for next in rest {
            level.run(UpdateLoop(f, cast::<T>(next), cast_mut(out)));
        }
    })
}

struct UpdateLoop<'a, T, F>(F, &'a [T], &'a mut [T]);

impl<T: Copy, F: Binary<T>> Loop for UpdateLoop<'_, T, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self(f, x, out) = self;
        for (out, x) in out.iter_mut().zip(x) {
            *out = f.at(*out, *x);
        }
    }
}

/// Casts the bytes of whole, aligned elements. Empty slices may have any address.
pub fn cast<T: bytemuck::Pod>(bytes: &[u8]) -> &[T] {
    if bytes.is_empty() { &[] } else { bytemuck::cast_slice(bytes) }
}

/// Casts the bytes of whole, aligned elements as [`cast`] does, for writing.
pub fn cast_mut<T: bytemuck::Pod>(bytes: &mut [u8]) -> &mut [T] {
    if bytes.is_empty() { &mut [] } else { bytemuck::cast_slice_mut(bytes) }
}

/// Declares functions of one or two elements, each as a type that implements [`Unary`] or [`Binary`].
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident<$t:ident: $bound:ident>($a:ident $(, $b:ident)?) = $body:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name;
        $crate::pointwise::loops::functions!(@impl $name <$t: $bound> ($a $(, $b)?) = $body);
    )*};
    (@impl $name:ident <$t:ident: $bound:ident> ($a:ident) = $body:expr) => {
        impl<$t: $bound> $crate::pointwise::loops::Unary<$t> for $name {
            #[inline(always)]
            fn at(self, $a: $t) -> $t {
                $body
            }
        }
    };
    (@impl $name:ident <$t:ident: $bound:ident> ($a:ident, $b:ident) = $body:expr) => {
        impl<$t: $bound> $crate::pointwise::loops::Binary<$t> for $name {
            #[inline(always)]
            fn at(self, $a: $t, $b: $t) -> $t {
                $body
            }
        }
    };
}
pub(crate) use functions;
