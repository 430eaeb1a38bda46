//! Products of matrices by oneDNN's primitive `matmul`, through the C interface of version 3 of its shared library, such as
//! that of PyPI's package `onednn-cpu-gomp`. In bfloat16, the right matrices are packed once, before the rounds, in the
//! layout that the primitive chooses.

use super::library::{Library, Prepared};
use super::operands::{Aligned, Operands};
use super::shapes::{Number, Shape};
use anyhow::{Context, Result, ensure};
use libloading::Library as Shared;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::ptr::null_mut;

/// Constants of `dnnl_types.h` and `dnnl_common_types.h`, version 3.
const CPU: c_int = 1;
const IN_ORDER: c_uint = 1;
const BF16: c_int = 2;
const F32: c_int = 3;
const ANY_LAYOUT: c_int = 1;
const QUERY_IMPLEMENTATION: c_int = 8;
const QUERY_WEIGHTS: c_int = 131;
const MOST_AXES: usize = 12;
const SOURCE: c_int = 1;
const WEIGHTS: c_int = 33;
const DESTINATION: c_int = 17;
/// Stands for memory that oneDNN allocates itself.
const ALLOCATE: Handle = std::ptr::without_provenance_mut(usize::MAX);

type Handle = *mut c_void;
type Sizes = [i64; MOST_AXES];

/// An argument of a primitive: which one, and its memory.
#[repr(C)]
#[derive(Clone, Copy)]
struct Argument {
    which: c_int,
    memory: Handle,
}

#[repr(C)]
struct Version {
    major: c_int,
    minor: c_int,
    patch: c_int,
}

/// The functions of the C interface that products need. Each returns 0 for success.
#[derive(Clone, Copy)]
struct Functions {
    engine: unsafe extern "C" fn(*mut Handle, c_int, usize) -> c_int,
    stream: unsafe extern "C" fn(*mut Handle, Handle, c_uint) -> c_int,
    description: unsafe extern "C" fn(*mut Handle, c_int, *const i64, c_int, *const i64) -> c_int,
    description_by_tag: unsafe extern "C" fn(*mut Handle, c_int, *const i64, c_int, c_int) -> c_int,
    matmul: unsafe extern "C" fn(*mut Handle, Handle, Handle, Handle, Handle, Handle, Handle) -> c_int,
    reorder: unsafe extern "C" fn(*mut Handle, Handle, Handle, Handle, Handle, Handle) -> c_int,
    query: unsafe extern "C" fn(Handle, c_int, c_int, *mut c_void) -> c_int,
    query_description: unsafe extern "C" fn(Handle, c_int, c_int) -> Handle,
    primitive: unsafe extern "C" fn(*mut Handle, Handle) -> c_int,
    memory: unsafe extern "C" fn(*mut Handle, Handle, Handle, *mut c_void) -> c_int,
    execute: unsafe extern "C" fn(Handle, Handle, c_int, *const Argument) -> c_int,
    wait: unsafe extern "C" fn(Handle) -> c_int,
}

/// oneDNN in this process. Its objects live until the process ends.
pub struct OneDnn {
    name: String,
    functions: Functions,
    engine: Handle,
    stream: Handle,
    /// Keeps the functions loaded.
    _library: Shared,
}

fn done(what: &str, status: c_int) -> Result<()> {
    ensure!(status == 0, "oneDNN: {what} ended with status {status}");
    Ok(())
}

impl OneDnn {
    /// Loads the library. It uses as many threads as `OMP_NUM_THREADS` says.
    ///
    /// # Errors
    /// Fails if the file cannot be loaded or is not oneDNN 3.
    pub fn load(path: &Path) -> Result<Self> {
        // SAFETY: initializers of oneDNN and of OpenMP only read the environment and the processor's features.
        let library = unsafe { Shared::new(path) }.with_context(|| format!("loading {}", path.display()))?;
        // SAFETY: `dnnl_version` has this prototype in all versions, and returns a constant that begins with three numbers.
        let (major, minor, patch) = unsafe {
            let version = library.get::<unsafe extern "C" fn() -> *const Version>(b"dnnl_version")?();
            ((*version).major, (*version).minor, (*version).patch)
        };
        ensure!(major == 3, "{} is oneDNN {major}.{minor}.{patch}, expected version 3", path.display());
        // SAFETY: these are the C prototypes of version 3, which was checked; all handles are pointers.
        let functions = unsafe {
            Functions {
                engine: *library.get(b"dnnl_engine_create")?,
                stream: *library.get(b"dnnl_stream_create")?,
                description: *library.get(b"dnnl_memory_desc_create_with_strides")?,
                description_by_tag: *library.get(b"dnnl_memory_desc_create_with_tag")?,
                matmul: *library.get(b"dnnl_matmul_primitive_desc_create")?,
                reorder: *library.get(b"dnnl_reorder_primitive_desc_create")?,
                query: *library.get(b"dnnl_primitive_desc_query")?,
                query_description: *library.get(b"dnnl_primitive_desc_query_md")?,
                primitive: *library.get(b"dnnl_primitive_create")?,
                memory: *library.get(b"dnnl_memory_create")?,
                execute: *library.get(b"dnnl_primitive_execute")?,
                wait: *library.get(b"dnnl_stream_wait")?,
            }
        };
        let (mut engine, mut stream) = (null_mut(), null_mut());
        // SAFETY: each call writes a handle; the stream is made of the engine that the first call made.
        unsafe {
            done("making an engine", (functions.engine)(&mut engine, CPU, 0))?;
            done("making a stream", (functions.stream)(&mut stream, engine, IN_ORDER))?;
        }
        Ok(Self { name: format!("oneDNN {major}.{minor}.{patch}"), functions, engine, stream, _library: library })
    }

    /// Describes matrices with these sizes and strides, and wraps the memory of `values`. Returns both handles.
    fn memory(&self, sizes: &[usize], strides: &[usize], values: &Aligned, number: Number) -> Result<[Handle; 2]> {
        let (sizes_list, strides_list) = (list(sizes), list(strides));
        let (mut description, mut memory) = (null_mut(), null_mut());
        let (n_axes, dtype) = (sizes.len() as c_int, dtype(number));
        let at = values.bytes().as_ptr().cast_mut().cast();
        // SAFETY: the lists have room for all axes that oneDNN knows. The memory of `values` holds the described matrices.
        unsafe {
            let f = &self.functions;
            let made = (f.description)(&mut description, n_axes, sizes_list.as_ptr(), dtype, strides_list.as_ptr());
            done("describing matrices", made)?;
            done("wrapping memory", (f.memory)(&mut memory, description, self.engine, at))?;
        }
        Ok([description, memory])
    }

    /// Describes matrices with these sizes, whose layout a primitive may choose.
    fn of_any_layout(&self, sizes: &[usize], number: Number) -> Result<Handle> {
        let mut description = null_mut();
        let (n_axes, dtype, sizes) = (sizes.len() as c_int, dtype(number), list(sizes));
        // SAFETY: the list has room for all axes that oneDNN knows.
        let made =
            unsafe { (self.functions.description_by_tag)(&mut description, n_axes, sizes.as_ptr(), dtype, ANY_LAYOUT) };
        done("describing packed matrices", made)?;
        Ok(description)
    }

    /// Copies the right matrices (their description and memory) into the layout that the described product has chosen. The
    /// copy lives until the process ends.
    fn packed(&self, product: Handle, right: [Handle; 2]) -> Result<Handle> {
        let (mut packed, mut description, mut copy) = (null_mut(), null_mut(), null_mut());
        let f = &self.functions;
        // SAFETY: all handles were made before, or are made by these calls. The description of the weights lives as long as
        // that of the product. Null attributes are allowed.
        unsafe {
            let to = (f.query_description)(product, QUERY_WEIGHTS, 0);
            ensure!(!to.is_null(), "oneDNN names no layout of the weights");
            done("allocating packed matrices", (f.memory)(&mut packed, to, self.engine, ALLOCATE))?;
            let made = (f.reorder)(&mut description, right[0], self.engine, to, self.engine, null_mut());
            done("planning a copy", made)?;
            done("making a copy", (f.primitive)(&mut copy, description))?;
            let arguments = [(SOURCE, right[1]), (DESTINATION, packed)];
            let arguments = arguments.map(|(which, memory)| Argument { which, memory });
            done("copying", (f.execute)(copy, self.stream, arguments.len() as c_int, arguments.as_ptr()))?;
            done("waiting", (f.wait)(self.stream))?;
        }
        Ok(packed)
    }
}

/// Sizes or strides as oneDNN takes them.
fn list(values: &[usize]) -> Sizes {
    let mut list: Sizes = [0; MOST_AXES];
    list.iter_mut().zip(values).for_each(|(to, from)| *to = *from as i64);
    list
}

/// The element type in oneDNN.
fn dtype(number: Number) -> c_int {
    match number {
        Number::Float32 => F32,
        Number::Bfloat16 => BF16,
    }
}

impl Library for OneDnn {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn prepare(&self, shape: &Shape, operands: &Operands) -> Result<Prepared> {
        let Shape { batch, rows, columns, steps, is_transposed, number, .. } = *shape;
        // For a single pair of matrices, the axis of the batch is left out.
        let skipped = usize::from(batch == 1);
        let matrix = |sizes: [usize; 2], strides: [usize; 2], values: &Aligned| {
            let (sizes, strides) = ([batch, sizes[0], sizes[1]], [sizes[0] * sizes[1], strides[0], strides[1]]);
            self.memory(&sizes[skipped..], &strides[skipped..], values, number)
        };
        let right_strides = if is_transposed { [1, steps] } else { [columns, 1] };
        let left = matrix([rows, steps], [steps, 1], &operands.left)?;
        let right = matrix([steps, columns], right_strides, &operands.right)?;
        let result = matrix([rows, columns], [columns, 1], &operands.result)?;
        let weights = match number {
            Number::Float32 => right[0],
            Number::Bfloat16 => self.of_any_layout(&[batch, steps, columns][skipped..], number)?,
        };
        let (mut description, mut primitive) = (null_mut(), null_mut());
        let mut implementation: *const c_char = std::ptr::null();
        // SAFETY: all handles were made above; a null bias and null attributes are allowed. The query writes the address of
        // a constant text.
        let implementation = unsafe {
            let f = &self.functions;
            let bias = null_mut();
            let made = (f.matmul)(&mut description, self.engine, left[0], weights, bias, result[0], null_mut());
            done("planning matmul", made)?;
            done("making matmul", (f.primitive)(&mut primitive, description))?;
            let into = (&raw mut implementation).cast();
            done("asking for the implementation", (f.query)(description, QUERY_IMPLEMENTATION, 0, into))?;
            ensure!(!implementation.is_null(), "oneDNN names no implementation");
            CStr::from_ptr(implementation).to_string_lossy().into_owned()
        };
        let right = match number {
            Number::Float32 => right[1],
            Number::Bfloat16 => self.packed(description, right)?,
        };
        let arguments = [(SOURCE, left[1]), (WEIGHTS, right), (DESTINATION, result[1])];
        let arguments = arguments.map(|(which, memory)| Argument { which, memory });
        let (functions, stream) = (self.functions, self.stream);
        let run = move |_: &mut Operands| {
            // SAFETY: the primitive, the stream and the memory objects live as long as the process. The memory is that of
            // the operands, which the caller lends for this call.
            unsafe {
                done("matmul", (functions.execute)(primitive, stream, arguments.len() as c_int, arguments.as_ptr()))?;
                done("waiting", (functions.wait)(stream))
            }
        };
        Ok(Prepared { call: format!("matmul ({implementation})"), run: Box::new(run) })
    }
}
