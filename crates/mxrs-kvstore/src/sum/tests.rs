//! Compares the sums with serial additions that are written here, from the formulas of the documentation.

use super::*;
use half::{bf16, f16};
use mxrs_types::DType;
use proptest::prelude::*;

/// `a0 += ((a1 + a2) + a3) + a4` and so on, for one element.
fn groups_of_four<T: Copy>(a: &[T], add: impl Fn(T, T) -> T) -> T {
    let mut sum = a[0];
    let mut rest = &a[1..];
    while !rest.is_empty() {
        let (group, after) = rest.split_at(rest.len().min(4));
        let mut part = group[0];
        for &x in &group[1..] {
            part = add(part, x);
        }
        sum = add(sum, part);
        rest = after;
    }
    sum
}

fn left_to_right<T: Copy>(a: &[T], add: impl Fn(T, T) -> T) -> T {
    let mut sum = a[0];
    for &x in &a[1..] {
        sum = add(sum, x);
    }
    sum
}

/// A number made from random bits. Its magnitude lies between 2^-20 and 2^12.
fn spread(bits: u64) -> f64 {
    let sign = if bits & 1 == 0 { 1.0 } else { -1.0 };
    let exponent = (bits >> 1 & 31) as i32 - 20;
    sign * (1.0 + (bits >> 8 & 0xffff_ffff) as f64 / 4_294_967_296.0) * 2f64.powi(exponent)
}

fn random(seed: u64, n: usize) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    };
    (0..n).map(|_| next()).collect()
}

fn check<T: bytemuck::Pod + PartialEq + std::fmt::Debug>(
    dtype: DType,
    (m, n, seed): (usize, usize, u64),
    in_place: bool,
    make: impl Fn(u64) -> T,
    add: impl Fn(T, T) -> T + Copy,
) {
    let arrays: Vec<Vec<T>> =
        (0..m).map(|i| random(seed ^ (i as u64) << 32, n).into_iter().map(&make).collect()).collect();
    for order in [Order::GroupsOfFour, Order::LeftToRight] {
        let mut out = if in_place { arrays[0].clone() } else { vec![make(1); n] };
        let mut second = vec![make(2); n];
        let at = out.as_mut_ptr().cast::<u8>();
        let mut inputs: Vec<*const u8> = arrays.iter().map(|array| array.as_ptr().cast()).collect();
        if in_place {
            inputs[0] = at;
        }
        // SAFETY: all arrays have `n` elements of this type, and only this code uses them. Only `inputs[0]` may be `out`.
        unsafe { sum_range(dtype, order, &[at, second.as_mut_ptr().cast()], &inputs, n) };
        assert_eq!(bytemuck::cast_slice::<T, u8>(&out), bytemuck::cast_slice::<T, u8>(&second));
        for i in 0..n {
            let column: Vec<T> = arrays.iter().map(|array| array[i]).collect();
            let expected = match order {
                Order::GroupsOfFour => groups_of_four(&column, add),
                Order::LeftToRight => left_to_right(&column, add),
            };
            let (got, expected) = (bytemuck::bytes_of(&out[i]), bytemuck::bytes_of(&expected));
            assert_eq!(got, expected, "{dtype} {order:?} m={m} n={n} i={i}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn sums_are_bit_equal_to_a_serial_fold(m in 1usize..14, n in 0usize..2100, seed: u64, in_place: bool) {
        let size = (m, n, seed);
        check::<f32>(DType::F32, size, in_place, |b| spread(b) as f32, |a, b| a + b);
        check::<f64>(DType::F64, size, in_place, spread, |a, b| a + b);
        check::<f16>(DType::F16, size, in_place, |b| f16::from_f64(spread(b) / 64.0),
            |a, b| f16::from_f64(a.to_f64() + b.to_f64()));
        check::<bf16>(DType::BF16, size, in_place, |b| bf16::from_f64(spread(b)),
            |a, b| bf16::from_f32(a.to_f32() + b.to_f32()));
        check::<u8>(DType::U8, size, in_place, |b| b as u8, |a, b| ((u16::from(a) + u16::from(b)) % 256) as u8);
        check::<i8>(DType::I8, size, in_place, |b| b as i8, |a, b| (i16::from(a) + i16::from(b)) as i8);
        check::<i32>(DType::I32, size, in_place, |b| b as i32, |a, b| (i64::from(a) + i64::from(b)) as i32);
        check::<i64>(DType::I64, size, in_place, |b| b as i64, |a, b| (i128::from(a) + i128::from(b)) as i64);
    }
}

#[test]
fn the_two_orders_differ() {
    // 2^24 + 1 rounds to 2^24 in float32. So ones that are added one by one are lost, but the sum of a group of ones is not.
    let values = [16_777_216.0f32, 1.0, 1.0, 1.0, 1.0];
    let inputs: Vec<*const u8> = values.iter().map(|v| std::ptr::from_ref(v).cast()).collect();
    let mut sums = [0.0f32; 2];
    for (sum, order) in sums.iter_mut().zip([Order::GroupsOfFour, Order::LeftToRight]) {
        // SAFETY: each input and `sum` have one element, and only this code uses them.
        unsafe { sum_range(DType::F32, order, &[std::ptr::from_mut(sum).cast()], &inputs, 1) };
    }
    assert_eq!(sums, [16_777_220.0, 16_777_216.0]);
}

#[test]
fn other_types_are_refused() {
    for dtype in DType::ALL {
        assert_eq!(check_dtype(dtype).is_ok(), SUMMED.contains(&dtype));
    }
    let error = check_dtype(DType::Bool).unwrap_err().to_string();
    assert!(error.contains("bool") && error.contains("float16"), "{error}");
}
