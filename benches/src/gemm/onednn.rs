//! Products of matrices by oneDNN's primitive `matmul`, through the C interface of version 3 of its shared library, such as
//! that of PyPI's package `onednn-cpu-gomp`.

use super::library::{Library, Prepared};
use super::operands::Operands;
use super::shapes::Shape;
use anyhow::{Context, Result, ensure};
use libloading::Library as Shared;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::ptr::null_mut;

/// Constants of `dnnl_types.h` and `dnnl_common_types.h`, version 3.
const CPU: c_int = 1;
const IN_ORDER: c_uint = 1;
const F32: c_int = 3;
const QUERY_IMPLEMENTATION: c_int = 8;
const MOST_AXES: usize = 12;
const SOURCE: c_int = 1;
const WEIGHTS: c_int = 33;
const DESTINATION: c_int = 17;

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
    matmul: unsafe extern "C" fn(*mut Handle, Handle, Handle, Handle, Handle, Handle, Handle) -> c_int,
    query: unsafe extern "C" fn(Handle, c_int, c_int, *mut c_void) -> c_int,
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
                matmul: *library.get(b"dnnl_matmul_primitive_desc_create")?,
                query: *library.get(b"dnnl_primitive_desc_query")?,
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

    /// Describes float32 matrices with these sizes and strides, and wraps the memory at `at`. Returns both handles.
    fn memory(&self, sizes: &[usize], strides: &[usize], at: *mut f32) -> Result<[Handle; 2]> {
        let list = |values: &[usize]| {
            let mut list: Sizes = [0; MOST_AXES];
            list.iter_mut().zip(values).for_each(|(to, from)| *to = *from as i64);
            list
        };
        let (sizes_list, strides_list) = (list(sizes), list(strides));
        let (mut description, mut memory) = (null_mut(), null_mut());
        let n_axes = sizes.len() as c_int;
        // SAFETY: the lists have room for all axes that oneDNN knows. The memory at `at` holds the described matrices.
        unsafe {
            let made =
                (self.functions.description)(&mut description, n_axes, sizes_list.as_ptr(), F32, strides_list.as_ptr());
            done("describing matrices", made)?;
            done("wrapping memory", (self.functions.memory)(&mut memory, description, self.engine, at.cast()))?;
        }
        Ok([description, memory])
    }
}

impl Library for OneDnn {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn prepare(&self, shape: &Shape, operands: &Operands) -> Result<Prepared> {
        let Shape { batch, rows, columns, steps, is_transposed, .. } = *shape;
        // For a single pair of matrices, the axis of the batch is left out.
        let skipped = usize::from(batch == 1);
        let matrix = |sizes: [usize; 2], strides: [usize; 2], values: &[f32]| {
            let (sizes, strides) = ([batch, sizes[0], sizes[1]], [sizes[0] * sizes[1], strides[0], strides[1]]);
            self.memory(&sizes[skipped..], &strides[skipped..], values.as_ptr().cast_mut())
        };
        let right_strides = if is_transposed { [1, steps] } else { [columns, 1] };
        let left = matrix([rows, steps], [steps, 1], operands.left.values())?;
        let right = matrix([steps, columns], right_strides, operands.right.values())?;
        let result = matrix([rows, columns], [columns, 1], operands.result.values())?;
        let (mut description, mut primitive) = (null_mut(), null_mut());
        let mut implementation: *const c_char = std::ptr::null();
        // SAFETY: all handles were made above; a null bias and null attributes are allowed. The query writes the address of
        // a constant text.
        let implementation = unsafe {
            let f = &self.functions;
            let bias = null_mut();
            let made = (f.matmul)(&mut description, self.engine, left[0], right[0], bias, result[0], null_mut());
            done("planning matmul", made)?;
            done("making matmul", (f.primitive)(&mut primitive, description))?;
            let into = (&raw mut implementation).cast();
            done("asking for the implementation", (f.query)(description, QUERY_IMPLEMENTATION, 0, into))?;
            ensure!(!implementation.is_null(), "oneDNN names no implementation");
            CStr::from_ptr(implementation).to_string_lossy().into_owned()
        };
        let arguments = [(SOURCE, left[1]), (WEIGHTS, right[1]), (DESTINATION, result[1])];
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
