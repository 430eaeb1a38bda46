//! Tests DLPack in both directions. This file plays the other library: it has its own definition of the structures, a
//! consumer that reads elements by shape and strides, and a producer that counts the calls of its deleter.
#![cfg(not(loom))]
#![allow(unsafe_code)]
// Unsafe code is needed because the simulated library works with raw pointers.

use mxrs_engine::{Engine, EngineConfig, EngineKind};
use mxrs_ndarray::{ArrayContext, DlManagedTensor, Dlpack, NdArray};
use mxrs_simulated_gpu::SimulatedDevice;
use mxrs_storage::{Storage, StorageConfig};
use mxrs_types::{DType, Device, Error, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// `DLManagedTensor` of dlpack.h, written down independently, without nested structures.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Tensor)>,
}

fn context() -> ArrayContext {
    let engine = Engine::new(EngineConfig::of_kind(EngineKind::ThreadedPerDevice)).unwrap();
    ArrayContext::new(engine, Storage::new(StorageConfig::default()).unwrap())
}

/// Reads all elements as a consumer does, in row-major order.
fn consume(tensor: &Tensor) -> Vec<u8> {
    assert_eq!((tensor.device_type, tensor.device_id, tensor.lanes), (1, 0, 1));
    let n = tensor.ndim as usize;
    // SAFETY: the lender's shape and strides have `ndim` numbers.
    let (shape, strides) =
        unsafe { (std::slice::from_raw_parts(tensor.shape, n), std::slice::from_raw_parts(tensor.strides, n)) };
    let size = tensor.bits as usize / 8;
    let mut bytes = Vec::new();
    for number in 0..shape.iter().product::<i64>() {
        let (mut rest, mut offset) = (number, 0);
        for axis in (0..n).rev() {
            offset += rest % shape[axis] * strides[axis];
            rest /= shape[axis];
        }
        // SAFETY: the index of each axis is below its size, so the element exists.
        let element = unsafe {
            let start = tensor.data.cast::<u8>().add(tensor.byte_offset as usize);
            std::slice::from_raw_parts(start.offset(offset as isize * size as isize), size)
        };
        bytes.extend(element);
    }
    bytes
}

/// A tensor of the other library. The memory lives until the deleter is called, which `n_ended` counts.
struct Producer {
    tensor: Tensor,
    _memory: Vec<u64>,
    _numbers: [Vec<i64>; 2],
    n_ended: Arc<AtomicUsize>,
}

unsafe extern "C" fn end(tensor: *mut Tensor) {
    // SAFETY: `lend` stored the address of the producer's box, and the deleter is called once.
    let producer = unsafe { Box::from_raw((*tensor).context.cast::<Producer>()) };
    producer.n_ended.fetch_add(1, Ordering::SeqCst);
}

impl Producer {
    /// A tensor of float32 over `memory`, beginning at byte `byte_offset`.
    fn new(memory: Vec<u64>, shape: &[i64], strides: Option<&[i64]>, byte_offset: u64) -> Box<Self> {
        let (mut shape, mut strides) = (shape.to_vec(), strides.map(<[i64]>::to_vec));
        let tensor = Tensor {
            data: memory.as_ptr().cast_mut().cast(),
            device_type: 1,
            device_id: 0,
            ndim: shape.len() as i32,
            code: 2,
            bits: 32,
            lanes: 1,
            shape: shape.as_mut_ptr(),
            strides: strides.as_mut().map_or(null_mut(), Vec::as_mut_ptr),
            byte_offset,
            context: null_mut(),
            deleter: Some(end),
        };
        let numbers = [shape, strides.unwrap_or_default()];
        Box::new(Self { tensor, _memory: memory, _numbers: numbers, n_ended: Arc::default() })
    }

    fn lend(self: Box<Self>) -> (Dlpack, Arc<AtomicUsize>) {
        let n_ended = Arc::clone(&self.n_ended);
        let producer = Box::into_raw(self);
        // SAFETY: the pointer came from a box that `end` frees; the structure has the layout of `DlManagedTensor`.
        let lent = unsafe {
            (*producer).tensor.context = producer.cast();
            Dlpack::from_raw(NonNull::new(&raw mut (*producer).tensor).unwrap().cast::<DlManagedTensor>())
        };
        (lent, n_ended)
    }
}

fn floats(n: usize) -> Vec<u64> {
    let bytes: Vec<u8> = (0..n.next_multiple_of(2)).flat_map(|i| (i as f32).to_ne_bytes()).collect();
    bytes.chunks_exact(8).map(|chunk| u64::from_ne_bytes(chunk.try_into().unwrap())).collect()
}

fn borrow(context: &ArrayContext, lent: Dlpack) -> Result<NdArray> {
    // SAFETY: the producers of this file describe their memory correctly and leave it alone.
    unsafe { NdArray::from_dlpack(context, lent) }
}

#[test]
fn structures_have_the_layout_of_the_header() {
    assert_eq!(size_of::<DlManagedTensor>(), size_of::<Tensor>());
    assert_eq!((size_of::<Tensor>(), std::mem::offset_of!(Tensor, shape)), (64, 24));
    assert_eq!(std::mem::offset_of!(DlManagedTensor, manager_ctx), std::mem::offset_of!(Tensor, context));
}

/// Every element type is lent with its code, and the consumer finds the elements of the array or of a view.
#[test]
fn lent_arrays_have_their_elements() {
    let codes = [
        (DType::F32, 2, 32),
        (DType::F64, 2, 64),
        (DType::F16, 2, 16),
        (DType::U8, 1, 8),
        (DType::I32, 0, 32),
        (DType::I8, 0, 8),
        (DType::I64, 0, 64),
        (DType::Bool, 6, 8),
        (DType::I16, 0, 16),
        (DType::U16, 1, 16),
        (DType::U32, 1, 32),
        (DType::U64, 1, 64),
        (DType::BF16, 4, 16),
    ];
    assert_eq!(codes.len(), DType::ALL.len());
    let context = context();
    for (dtype, code, bits) in codes {
        let bytes: Vec<u8> = (0..24 * dtype.size_of()).map(|i| (i % 2) as u8).collect();
        let array = NdArray::from_bytes(&context, [4, 2, 3], dtype, &bytes).unwrap();
        for (view, expected) in
            [(array.clone(), &bytes[..]), (array.slice(1, 3).unwrap(), &bytes[bytes.len() / 4..][..bytes.len() / 2])]
        {
            let lent = view.to_dlpack_for_read().unwrap().into_raw().cast::<Tensor>();
            // SAFETY: the lender filled the structure in, and this test ends the loan below.
            let tensor = unsafe { lent.as_ref() };
            assert_eq!((tensor.code, tensor.bits, tensor.ndim), (code, bits, 3), "{dtype}");
            drop(view);
            assert_eq!(consume(tensor), expected);
            // SAFETY: the loan is ended once.
            unsafe { tensor.deleter.unwrap()(lent.as_ptr()) };
        }
    }
    context.engine().wait_for_all().unwrap();
    assert_eq!(context.storage().stats(Device::cpu(0)).live_blocks, 0, "loans do not keep memory after their end");
}

/// What the consumer writes is in the array, and the array can be read after the loan was dropped.
#[test]
fn consumers_write_through() {
    let context = context();
    let array = NdArray::from_slice(&context, [3], &[1i16, 2, 3]).unwrap();
    let lent = array.to_dlpack_for_write().unwrap();
    assert_eq!((lent.shape(), lent.strides(), array.n_writes()), (&[3][..], Some(&[1][..]), 1));
    // SAFETY: the array is lent for writing and has three elements.
    unsafe { lent.tensor().data.cast::<i16>().add(1).write(20) };
    drop(lent);
    assert_eq!(array.to_vec::<i16>().unwrap(), [1, 20, 3]);
    context.engine().task("fails").write(array.var()).push(|_| Err(Error::invalid("test", "x", "y"))).unwrap();
    assert!(array.to_dlpack_for_read().unwrap_err().to_string().contains("test: got x"));
}

#[test]
fn borrowed_tensors_are_arrays_and_loans_end_once() {
    for kind in [EngineKind::Naive, EngineKind::Threaded, EngineKind::ThreadedPerDevice] {
        let engine = Engine::new(EngineConfig::of_kind(kind)).unwrap();
        let context = ArrayContext::new(engine, Storage::new(StorageConfig::default()).unwrap());
        for strides in [None, Some(&[3, 1][..]), Some(&[3, 1])] {
            let (lent, n_ended) = Producer::new(floats(8), &[2, 3], strides, 8).lend();
            let array = borrow(&context, lent).unwrap();
            assert_eq!(array.to_vec::<f32>().unwrap(), [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
            let row = array.at(1).unwrap();
            drop(array);
            row.copy_from_owned(1.5f32.to_ne_bytes().repeat(3)).unwrap();
            // The array may be lent on while it is borrowed.
            let lent_on = row.to_dlpack_for_read().unwrap();
            drop(row);
            context.engine().wait_for_all().unwrap();
            assert_eq!(n_ended.load(Ordering::SeqCst), 0);
            drop(lent_on);
            context.engine().wait_for_all().unwrap();
            assert_eq!(n_ended.load(Ordering::SeqCst), 1);
        }
        // Strides of axes of size 1 have no effect.
        let (lent, n_ended) = Producer::new(floats(2), &[1, 2, 1], Some(&[77, 1, -5]), 0).lend();
        assert_eq!(borrow(&context, lent).unwrap().to_vec::<f32>().unwrap(), [0.0, 1.0]);
        context.engine().wait_for_all().unwrap();
        assert_eq!(n_ended.load(Ordering::SeqCst), 1);
    }
}

/// A tensor that cannot be an array is refused with a reason, and its loan ends, once.
#[test]
fn refused_tensors_go_back() {
    type Change = fn(&mut Tensor);
    let cases: [(Change, &str); 8] = [
        (|tensor| tensor.device_type = 2, "device type 2"),
        (|tensor| tensor.lanes = 4, "4 lanes"),
        (|tensor| tensor.code = 5, "code 5"),
        (|tensor| tensor.bits = 24, "24 bits"),
        (|tensor| tensor.byte_offset = 2, "multiple of 4"),
        (|tensor| tensor.ndim = -1, "-1 axes"),
        (|tensor| tensor.shape = null_mut(), "2 axes"),
        // SAFETY: the shape has two numbers.
        (|tensor| unsafe { tensor.shape.write(-2) }, "[-2, 3]"),
    ];
    let context = context();
    for (change, expected) in cases {
        let mut producer = Producer::new(floats(8), &[2, 3], None, 0);
        change(&mut producer.tensor);
        let (lent, n_ended) = producer.lend();
        let text = borrow(&context, lent).unwrap_err().to_string();
        assert!(text.contains(expected), "{text}");
        assert_eq!(n_ended.load(Ordering::SeqCst), 1);
    }
    let (lent, n_ended) = Producer::new(floats(8), &[2, 3], Some(&[1, 2]), 0).lend();
    let text = borrow(&context, lent).unwrap_err().to_string();
    assert!(text.contains("[1, 2]") && text.contains("[3, 1]") && n_ended.load(Ordering::SeqCst) == 1, "{text}");
    let (lent, n_ended) = Producer::new(floats(8), &[i64::MAX, i64::MAX, 4], None, 0).lend();
    assert!(borrow(&context, lent).is_err() && n_ended.load(Ordering::SeqCst) == 1);
}

/// Copies of tensors with any strides, negative and zero ones included, have the elements that the consumer of this file
/// finds.
#[test]
fn copies_follow_any_strides() {
    let context = context();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for _ in 0..if cfg!(miri) { 5 } else { 200 } {
        let n_axes = rng.random_range(0..=3);
        let shape: Vec<i64> = (0..n_axes).map(|_| rng.random_range(0..4)).collect();
        let strides: Vec<i64> = (0..n_axes).map(|_| rng.random_range(-4..=4)).collect();
        // At most 3 axes, indices up to 3, strides up to 4: offsets are within 36 of the middle.
        let producer = Producer::new(floats(80), &shape, Some(&strides), 4 * 40);
        let expected = consume(&producer.tensor);
        let (lent, n_ended) = producer.lend();
        // SAFETY: the producer describes its memory correctly and leaves it alone.
        let copy = unsafe { NdArray::copy_of_dlpack(&context, &lent) }.unwrap();
        drop(lent);
        assert_eq!(n_ended.load(Ordering::SeqCst), 1);
        assert_eq!(copy.read_bytes(<[u8]>::to_vec).unwrap(), expected, "{shape:?} {strides:?}");
        let sizes: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
        assert_eq!(copy.shape()[..], sizes);
    }
}

#[test]
fn arrays_on_devices_are_not_lent() {
    let device = SimulatedDevice::new(Device::gpu(0), 1 << 20);
    let storage = Storage::builder(StorageConfig::default()).device(device.device_memory()).build().unwrap();
    let engine = Engine::builder(EngineConfig::default()).gpu(device.gpu_device()).build().unwrap();
    let context = ArrayContext::builder(engine, storage).device(device.clone()).build().unwrap();
    let array = NdArray::zeros_on(&context, [2], DType::F32, Device::gpu(0)).unwrap();
    let text = array.to_dlpack_for_read().unwrap_err().to_string();
    assert!(text.contains("gpu(0)") && text.contains("cpu(0)"), "{text}");
    let pinned = array.copy_to_device(&context, Device::cpu_pinned(0)).unwrap().to_dlpack_for_read().unwrap();
    assert_eq!(pinned.tensor().device.device_type, 3);
    // A borrowed tensor may be copied to a device.
    let (lent, _) = Producer::new(floats(2), &[2], None, 0).lend();
    array.copy_from_array(&borrow(&context, lent).unwrap()).unwrap();
    assert_eq!(array.to_vec::<f32>().unwrap(), [0.0, 1.0]);
}
