//! MXNet's engine, by the C interface of its library (`include/mxnet/c_api.h` of release 1.9.1).
//!
//! An operator is pushed with `MXEnginePushSyncND`, whose variables are those of arrays; the arrays are made with their
//! memory delayed, so there is none. The library allocates with the C library, not with Rust's allocator.

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

/// `mxnet::Context`.
#[repr(C)]
struct Context_ {
    device_type: c_int,
    device_id: i32,
}

/// `cpu(0)`.
static CPU_0: Context_ = Context_ { device_type: 1, device_id: 0 };

/// MXNet's engine. It is the library's only one, and its workers live until the process ends.
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

// SAFETY: the handles are pointers to arrays that MXNet lets any thread name in a push; they are freed by `Drop` and
// `prepare` only, which have the value to themselves. Everything else is functions and numbers.
unsafe impl Send for Mxnet {}
// SAFETY: `push` and `wait` are all that is called through a shared reference; MXNet takes both from any thread.
unsafe impl Sync for Mxnet {}

extern "C" fn do_nothing(_: *mut c_void, _: *mut c_void) {}

impl Mxnet {
    /// Loads the library and tries the engine: that the interface is the one expected, not only its names.
    ///
    /// # Errors
    /// The library or one of its own cannot be loaded, lacks a function, or does not run operators in order.
    pub fn load(path: &Path) -> Result<Self> {
        // SAFETY: loading runs the library's initializers. That is what the user asked for by naming it; MXNet's own
        // start threads and handlers, and rely on nothing in this process. Global, as its own libraries expect.
        let library = unsafe { Library::open(Some(path), RTLD_LAZY | RTLD_GLOBAL) };
        let library = library.with_context(|| format!("loading {}", path.display()))?;
        // SAFETY: each type is the declaration in MXNet 1.9.1's c_api.h, which the version below is checked against.
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
        // Its workers run for as long as the process does, so its code must stay.
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

    /// Such as `1.9.1`.
    pub fn version_text(&self) -> String {
        format!("{}.{}.{}", self.version / 10_000, self.version / 100 % 100, self.version % 100)
    }

    /// Pushes readers and writers of two variables and looks whether each writer came after all readers before it.
    fn check_order(&mut self) -> Result<()> {
        static STEP: AtomicU64 = AtomicU64::new(0);
        static WRONG: AtomicU64 = AtomicU64::new(0);
        extern "C" fn step(_: *mut c_void, parameter: *mut c_void) {
            // Bodies of one variable's writers run one at a time, in order.
            if STEP.fetch_add(1, Ordering::SeqCst) != parameter.addr() as u64 {
                WRONG.fetch_add(1, Ordering::SeqCst);
            }
        }
        STEP.store(0, Ordering::SeqCst);
        let a = self.array()?;
        let b = self.array()?;
        for i in 0..200 {
            // Every operator reads what the one before wrote: a, b, a, b, …
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
        // SAFETY: `shape` has the one dimension announced, `array` is a place for the result; cpu(0), memory delayed.
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
        // SAFETY: the lists are as long as announced and hold live arrays, no array twice; MXNet copies them before it
        // returns. The function takes any parameter, and the deleter is absent.
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
        // SAFETY: the call has no arguments; it answers a text that lives until the thread's next call.
        let text = unsafe { (self.last_error)() };
        if text.is_null() {
            bail!("{call} failed");
        }
        // SAFETY: not null, so a C string, as the interface says.
        bail!("{call}: {}", unsafe { CStr::from_ptr(text) }.to_string_lossy());
    }

    fn free_arrays(&mut self) {
        self.lanes.clear();
        for array in self.arrays.drain(..) {
            // SAFETY: each was made by `array` and is freed once; nothing is under way (`Peer::prepare`). A failure would
            // leave a few bytes behind.
            unsafe { (self.free_array)(array) };
        }
    }
}

/// Asks the library which version it is: 10901 for 1.9.1.
fn version(library: &Library) -> Result<c_int> {
    // SAFETY: the declaration in c_api.h, the same in every release.
    let get = unsafe { library.get::<unsafe extern "C" fn(*mut c_int) -> c_int>(c"MXGetVersion".to_bytes_with_nul()) }?;
    let mut version = 0;
    // SAFETY: `version` is a place for the result.
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
        // Operators are not merged into one, as it is without a call of this function; it counts per thread.
        // SAFETY: `previous` is a place for the result.
        self.check(unsafe { (self.set_bulk_size)(0, &mut previous) }, "MXEngineSetBulkSize")?;
        for op in self.lanes[lane].iter().cycle().take(n) {
            self.push_one(do_nothing, ptr::null_mut(), &op.reads, &op.writes)?;
        }
        Ok(())
    }

    fn wait(&self) -> Result<()> {
        // SAFETY: no arguments.
        self.check(unsafe { (self.wait_all)() }, "MXNDArrayWaitAll")
    }
}

impl Drop for Mxnet {
    fn drop(&mut self) {
        // Nothing may be under way when arrays are freed; what cannot be waited for is left.
        if self.wait().is_ok() {
            self.free_arrays();
        }
    }
}
