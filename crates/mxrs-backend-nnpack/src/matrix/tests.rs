//! Tests products of all orders against sums in double precision.

use super::{MatrixProblem, MatrixProduct, Order};
use crate::convolve::{Convolve, Operands};
use crate::epilogue::Bounds;
use crate::tiles::cases::numbers;
use mxrs_processor::Isa;
use mxrs_testkit::AlignedBuffer;
use mxrs_testkit::conformance::team;
use mxrs_types::DType;

const ORDERS: [Order; 2] = [Order::StepsInside, Order::StepsOutside];
/// Rows, columns and steps: tiles that are whole and not, one and several pieces of steps, rows of data few and many.
const SIZES: [[usize; 3]; 9] = [
    [1, 1, 1],
    [14, 32, 16],
    [3, 70, 40],
    [32, 300, 512],
    [33, 17, 513],
    [300, 33, 31],
    [5, 600, 1100],
    [64, 48, 1024],
    [29, 16, 7],
];

fn value(operand: &[f32], order: Order, [row, step]: [usize; 2], [rows, steps]: [usize; 2]) -> f64 {
    f64::from(match order {
        Order::StepsInside => operand[row * steps + step],
        Order::StepsOutside => operand[step * rows + row],
    })
}

fn run(p: MatrixProblem, isa: Isa, threads: usize, tensors: [&[f32]; 2], bias: Option<&[f32]>) -> Vec<f32> {
    let buffers =
        tensors.map(|t| AlignedBuffer::from_f64(&t.iter().map(|x| f64::from(*x)).collect::<Vec<_>>(), DType::F32));
    let product = MatrixProduct::new(p, isa, threads);
    let mut scratch = AlignedBuffer::poisoned(product.scratch_bytes());
    let mut result = AlignedBuffer::poisoned(p.rows * p.columns * size_of::<f32>());
    let operands = Operands {
        src: buffers[0].bytes().as_ptr().cast(),
        weights: buffers[1].bytes().as_ptr().cast(),
        bias: bias.map_or(std::ptr::null(), <[f32]>::as_ptr),
        sum: std::ptr::null(),
        dst: result.bytes_mut().as_mut_ptr().cast(),
        dst_image_stride: None,
        scratch: scratch.bytes_mut().as_mut_ptr().cast(),
        bounds: Bounds::NONE,
    };
    // SAFETY: all buffers have the sizes of the problem, and only this test uses them.
    unsafe { product.run(&operands, &team(threads)) }.expect("it runs");
    assert!(result.guard_is_intact() && scratch.guard_is_intact(), "{p:?}: wrote behind the end");
    bytemuck::cast_slice(result.bytes()).to_vec()
}

#[test]
fn products_of_all_orders_agree_with_double() {
    for (isa, [rows, columns, steps]) in Isa::available().into_iter().flat_map(|isa| SIZES.map(|sizes| (isa, sizes))) {
        let (a, b, bias) = (numbers(rows * steps, 1), numbers(columns * steps, 2), numbers(columns, 3));
        for (left, right) in ORDERS.into_iter().flat_map(|left| ORDERS.map(|right| (left, right))) {
            let p = MatrixProblem { rows, columns, steps, left, right };
            let results = [1, 3].map(|threads| run(p, isa, threads, [&a, &b], Some(&bias)));
            assert!(results[0] == results[1], "{p:?}: other bits on three threads");
            for (at, got) in results[0].iter().enumerate() {
                let (row, column) = (at / columns, at % columns);
                let product = |step| {
                    value(&a, left, [row, step], [rows, steps]) * value(&b, right, [column, step], [columns, steps])
                };
                let want = (0..steps).map(product).sum::<f64>() + f64::from(bias[column]);
                let bound = 4e-7 * (steps as f64 + 8.0);
                assert!((f64::from(*got) - want).abs() < bound, "{} {p:?} [{row}][{column}]: {got} {want}", isa.name());
            }
        }
    }
}

#[test]
fn large_weights_are_read_in_place() {
    // The output of a layer: the data are copied, the weights are the left operand.
    let [rows, columns, steps] = [32, 4096, 1024];
    let inside = Order::StepsInside;
    let (fastest, is_swapped) = MatrixProblem { rows, columns, steps, left: inside, right: inside }.fastest();
    assert!(is_swapped && fastest.rows == 4096 && fastest.left == Order::StepsInside, "{fastest:?}");
    // The gradient of the data: weights are copied by cache lines.
    let problem = MatrixProblem { rows, columns: steps, steps: columns, left: inside, right: Order::StepsOutside };
    assert!(!problem.fastest().1);
}
