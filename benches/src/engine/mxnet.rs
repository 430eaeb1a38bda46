//! MXNet's engine, called through the C interface of its library (`include/mxnet/c_api.h` of release 1.9.1).
//!
//! Operators are pushed with `MXEnginePushSyncND`, which orders them by the engine variables of arrays. The arrays are
//! created with delayed allocation, so they never get memory. The library allocates with the C library, not with Rust's
//! allocator.

use super::{Assignment, Operator, Peer};
use anyhow::{Context, Result, bail, ensure};
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LAZY};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

type Handle = *mut c_void;
type SyncFunction = extern "C" fn(run_context: *mut c_void, parameter: *mut c_void);
type Deleter = extern "C" fn(parameter: *mut c_void);
type PushSync = unsafe extern "C" fn(
    function: SyncFunction,
    parameter: *mut c_void,
    deleter: Option<Deleter>,
    context: *const Context_,
    const_arrays: *const Handle,
    n_const: c_int,
    mutable_arrays: *const Handle,
    n_mutable: c_int,
    property: *const c_void,
    priority: c_int,
    name: *const c_char,
) -> c_int;
type CreateArray = unsafe extern "C" fn(
    shape: *const u32,
    n_dims: u32,
    device_type: c_int,
    device_id: c_int,
    delay_alloc: c_int,
    out: *mut Handle,
) -> c_int;

/// MXNet's C++ struct `mxnet::Context`, which names a device.
#[repr(C)]
struct Context_ {
    device_type: c_int,
    device_id: i32,
}

/// The device `cpu(0)`.
static CPU_0: Context_ = Context_ { device_type: 1, device_id: 0 };

/// MXNet's engine. The library has only one engine, whose workers live until the process ends.
pub struct Mxnet {
    push_sync: PushSync,
    create_array: CreateArray,
    free_array: unsafe extern "C" fn(array: Handle) -> c_int,
    wait_all: unsafe extern "C" fn() -> c_int,
    set_bulk_size: unsafe extern "C" fn(size: c_int, previous: *mut c_int) -> c_int,
    last_error: unsafe extern "C" fn() -> *const c_char,
    version: c_int,
    arrays: Vec<Handle>,
    lanes: Vec<Vec<Bound>>,
}

/// An operator with its arrays.
struct Bound {
    reads: Vec<Handle>,
    writes: Vec<Handle>,
}

// SAFETY: the handles are pointers to arrays, which MXNet lets any thread name in a push. They are freed only by `Drop` and
// `prepare`, which have `&mut self`. All other fields are functions and numbers.
unsafe impl Send for Mxnet {}
// SAFETY: through a shared reference, library functions are called only by `push` and `wait`; MXNet accepts those calls from
// any thread.
unsafe impl Sync for Mxnet {}

extern "C" fn do_nothing(_: *mut c_void, _: *mut c_void) {}

impl Mxnet {
    /// Loads the library and runs some operators, to check that its functions behave as expected and not only that they
    /// exist.
    ///
    /// # Errors
    /// Fails if the library or one of its dependencies cannot be loaded, lacks a function, has another version, or does not
    /// run operators in order.
    pub fn load(path: &Path) -> Result<Self> {
        // SAFETY: loading runs the library's initializers; the user named this file to have it loaded. MXNet's initializers
        // start threads and install handlers, and rely on no state of this process. `RTLD_GLOBAL` is what MXNet's own
        // dependencies expect.
        let library = unsafe { Library::open(Some(path), RTLD_LAZY | RTLD_GLOBAL) };
        let library = library.with_context(|| format!("loading {}", path.display()))?;
        // SAFETY: each type repeats the declaration in c_api.h of MXNet 1.9.1. The version is checked below, before any of
        // these functions is called.
        let mxnet = unsafe {
            Self {
                push_sync: *library.get(c"MXEnginePushSyncND".to_bytes_with_nul())?,
                create_array: *library.get(c"MXNDArrayCreate".to_bytes_with_nul())?,
                free_array: *library.get(c"MXNDArrayFree".to_bytes_with_nul())?,
                wait_all: *library.get(c"MXNDArrayWaitAll".to_bytes_with_nul())?,
                set_bulk_size: *library.get(c"MXEngineSetBulkSize".to_bytes_with_nul())?,
                last_error: *library.get(c"MXGetLastError".to_bytes_with_nul())?,
                version: version(&library)?,
                arrays: Vec::new(),
                lanes: Vec::new(),
            }
        };
        // MXNet's workers run until the process ends, so the library's code must stay loaded.
        std::mem::forget(library);
        ensure!(
            mxnet.version / 100 == 109,
            "{} is MXNet {}, but the interface known here is that of 1.9",
            path.display(),
            mxnet.version_text()
        );
        let mut mxnet = mxnet;
        mxnet.check_order()?;
        Ok(mxnet)
    }

    /// The version as text, such as `1.9.1`.
    pub fn version_text(&self) -> String {
        format!("{}.{}.{}", self.version / 10_000, self.version / 100 % 100, self.version % 100)
    }

    /// Pushes operators that each read the variable written by the one before, and checks that they ran in that order.
    fn check_order(&mut self) -> Result<()> {
        static STEP: AtomicU64 = AtomicU64::new(0);
        static WRONG: AtomicU64 = AtomicU64::new(0);
        extern "C" fn step(_: *mut c_void, parameter: *mut c_void) {
            // Each operator depends on the one before, so the bodies must run one at a time and in order.
            if STEP.fetch_add(1, Ordering::SeqCst) != parameter.addr() as u64 {
                WRONG.fetch_add(1, Ordering::SeqCst);
            }
        }
        STEP.store(0, Ordering::SeqCst);
        let a = self.array()?;
        let b = self.array()?;
        for i in 0..200 {
            // Every operator reads the variable that the one before wrote: a, b, a, b, …
            let (reads, writes) = if i % 2 == 0 { ([a], [b]) } else { ([b], [a]) };
            self.push_one(step, ptr::without_provenance_mut(i), &reads, &writes)?;
        }
        self.wait()?;
        ensure!(STEP.load(Ordering::SeqCst) == 200, "MXNet's engine ran {STEP:?} of 200 operators");
        ensure!(
            WRONG.load(Ordering::SeqCst) == 0,
            "MXNet's engine ran operators out of order: not the expected interface"
        );
        Ok(())
    }

    fn array(&mut self) -> Result<Handle> {
        let shape = [1u32];
        let mut array = ptr::null_mut();
        // SAFETY: `shape` has one element, which matches `n_dims` = 1, and `array` is writable for the result. The device is
        // cpu(0), with delayed allocation.
        self.check(unsafe { (self.create_array)(shape.as_ptr(), 1, 1, 0, 1, &mut array) }, "MXNDArrayCreate")?;
        self.arrays.push(array);
        Ok(array)
    }

    fn push_one(
        &self,
        function: SyncFunction,
        parameter: *mut c_void,
        reads: &[Handle],
        writes: &[Handle],
    ) -> Result<()> {
        // SAFETY: the lengths are those of the slices. The handles are live: `free_arrays` also clears `lanes`, which
        // holds them. No operator names an array twice. MXNet copies the lists before it returns. `function` accepts
        // any parameter, and there is no deleter.
        let status = unsafe {
            (self.push_sync)(
                function,
                parameter,
                None,
                &CPU_0,
                reads.as_ptr(),
                reads.len() as c_int,
                writes.as_ptr(),
                writes.len() as c_int,
                ptr::null(),
                0,
                c"empty".as_ptr(),
            )
        };
        self.check(status, "MXEnginePushSyncND")
    }

    fn check(&self, status: c_int, call: &str) -> Result<()> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: the function has no arguments. It returns a text that lives until the thread's next call.
        let text = unsafe { (self.last_error)() };
        if text.is_null() {
            bail!("{call} failed");
        }
        // SAFETY: `text` is not null, so it is a C string, as c_api.h documents.
        bail!("{call}: {}", unsafe { CStr::from_ptr(text) }.to_string_lossy());
    }

    fn free_arrays(&mut self) {
        self.lanes.clear();
        for array in self.arrays.drain(..) {
            // SAFETY: each handle was made by `array`, and `drain` removes it, so it is freed once. No operator is pending:
            // `prepare` requires that, and `drop` waits first. A failure would only leak a few bytes.
            unsafe { (self.free_array)(array) };
        }
    }
}

/// The version number that the library reports, such as 10901 for 1.9.1.
fn version(library: &Library) -> Result<c_int> {
    // SAFETY: the type repeats the declaration in c_api.h, which is the same in every release.
    let get = unsafe { library.get::<unsafe extern "C" fn(*mut c_int) -> c_int>(c"MXGetVersion".to_bytes_with_nul()) }?;
    let mut version = 0;
    // SAFETY: `version` is writable for the result.
    ensure!(unsafe { get(&mut version) } == 0, "MXGetVersion failed");
    Ok(version)
}

impl Peer for Mxnet {
    fn name(&self) -> &str {
        "MXNet"
    }

    fn prepare(&mut self, assignment: &Assignment<'_>) -> Result<()> {
        self.free_arrays();
        let arrays = (0..assignment.n_vars()).map(|_| self.array()).collect::<Result<Vec<Handle>>>()?;
        let of = |numbers: &[u32]| numbers.iter().map(|var| arrays[*var as usize]).collect();
        let bound = |op: &Operator| Bound { reads: of(&op.reads), writes: of(&op.writes) };
        self.lanes = assignment.lanes().iter().map(|lane| lane.iter().map(bound).collect()).collect();
        Ok(())
    }

    fn push(&self, lane: usize, n: usize) -> Result<()> {
        let mut previous = 0;
        // Bulk size 0, which is also the default, keeps MXNet from merging operators into one. The setting is per thread.
        // SAFETY: `previous` is writable for the result.
        self.check(unsafe { (self.set_bulk_size)(0, &mut previous) }, "MXEngineSetBulkSize")?;
        for op in self.lanes[lane].iter().cycle().take(n) {
            self.push_one(do_nothing, ptr::null_mut(), &op.reads, &op.writes)?;
        }
        Ok(())
    }

    fn wait(&self) -> Result<()> {
        // SAFETY: the function has no arguments, and any thread may call it.
        self.check(unsafe { (self.wait_all)() }, "MXNDArrayWaitAll")
    }
}

impl Drop for Mxnet {
    fn drop(&mut self) {
        // Arrays may be freed only while no operator is pending. If the wait fails, they are leaked.
        if self.wait().is_ok() {
            self.free_arrays();
        }
    }
}
