//! A loaded MPI library: its functions, its binary interface, and its errors as `Result`.

use crate::abi::Numbers;
use crate::{Abi, MpiOptions};
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW, Symbol};
use mxrs_types::{Error, ErrorKind, Result};
use std::ffi::{c_char, c_int, c_void};
use std::path::Path;

/// A handle of any kind.
pub(crate) type Handle = usize;
/// Memory that is large enough for the status of every interface: the largest has 32 bytes. It is aligned to 8 bytes,
/// because Open MPI's status has a `size_t`.
#[repr(C, align(8))]
#[derive(Clone, Copy, Default)]
pub(crate) struct Status([c_int; 16]);

const _: () = assert!(align_of::<Status>() >= align_of::<usize>(), "a `size_t` in a status is aligned");

/// `MPI_MAX_LIBRARY_VERSION_STRING` of the interface in which this constant is largest.
const MOST_VERSION_BYTES: usize = 8192;
/// Larger than `MPI_MAX_ERROR_STRING` of every interface.
const MOST_ERROR_BYTES: usize = 2048;

macro_rules! functions {
    ($($field:ident = $name:literal: fn($($argument:ty),*);)+) => {
        /// The functions of a library.
        struct Functions {
            $($field: unsafe extern "C" fn($($argument),*) -> c_int,)+
        }

        impl Functions {
            /// # Safety
            /// The library is an MPI library, and is never unloaded.
            unsafe fn of(library: &Library) -> std::result::Result<Self, String> {
                let missing = |name: &str| format!("it does not have {name}, so it is not an MPI library");
                // SAFETY: the functions have these arguments in the MPI standard. A handle has the size of a pointer, or
                // is an `int` in the same register.
                unsafe { Ok(Self { $($field: *library.get($name).map_err(|_| missing($name))?,)+ }) }
            }
        }
    };
}

functions! {
    init_thread = "MPI_Init_thread": fn(*const c_int, *const c_void, c_int, *mut c_int);
    initialized = "MPI_Initialized": fn(*mut c_int);
    finalize = "MPI_Finalize": fn();
    get_library_version = "MPI_Get_library_version": fn(*mut c_char, *mut c_int);
    error_string = "MPI_Error_string": fn(c_int, *mut c_char, *mut c_int);
    comm_set_errhandler = "MPI_Comm_set_errhandler": fn(Handle, Handle);
    comm_dup = "MPI_Comm_dup": fn(Handle, *mut Handle);
    comm_rank = "MPI_Comm_rank": fn(Handle, *mut c_int);
    comm_size = "MPI_Comm_size": fn(Handle, *mut c_int);
    isend = "MPI_Isend": fn(*const c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    irecv = "MPI_Irecv": fn(*mut c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    iprobe = "MPI_Iprobe": fn(c_int, c_int, Handle, *mut c_int, *mut Status);
    test = "MPI_Test": fn(*mut Handle, *mut c_int, *mut Status);
    get_count = "MPI_Get_count": fn(*const Status, Handle, *mut c_int);
    allreduce = "MPI_Allreduce": fn(*const c_void, *mut c_void, c_int, Handle, Handle, Handle);
}

/// A loaded library. It is never unloaded, because the library may have threads, and functions that run at the end of the
/// process.
pub(crate) struct Mpi {
    functions: Functions,
    pub abi: Abi,
    handles: Numbers,
    /// The communicator of all workers. [`Self::init`] replaces it by one that no other code of the process uses.
    world: Handle,
    /// The library's description of itself.
    pub version: String,
}

impl Mpi {
    /// Loads the library that the options name, or the first that is found.
    ///
    /// # Errors
    /// Fails if no library is found, with the reason of each attempt.
    pub fn load(options: &MpiOptions) -> Result<Self> {
        if let Some(path) = &options.library {
            return Self::open(path).map_err(|reason| {
                Error::not_built("MPI", format!("MXRS_MPI_LIB={} cannot be loaded: {reason}", path.display()))
            });
        }
        let first = options.first.into_iter();
        let order = first.chain(Abi::ALL.into_iter().filter(|abi| options.first != Some(*abi)));
        let mut reasons = Vec::new();
        for name in order.flat_map(Abi::libraries) {
            match Self::open(Path::new(name)) {
                Ok(mpi) => return Ok(mpi),
                Err(reason) => reasons.push(reason),
            }
        }
        let reason = format!(
            "no MPI library was found; install Open MPI or MPICH, or set MXRS_MPI_LIB to the path of a library ({})",
            reasons.join("; ")
        );
        Err(Error::not_built("MPI", reason))
    }

    fn open(path: &Path) -> std::result::Result<Self, String> {
        // SAFETY: loading runs the initializers of an MPI library, which have no preconditions. `RTLD_GLOBAL` makes the
        // symbols of the library visible to the plug-ins of Open MPI, which need them.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) };
        let library: &'static Library = Box::leak(Box::new(library.map_err(|error| error.to_string())?));
        // SAFETY: the library is leaked, so it is never unloaded. A library that has functions of all these names is an MPI
        // library.
        let functions = unsafe { Functions::of(library) }?;
        let address = |name: &str| -> Option<Handle> {
            // SAFETY: the symbol is used as an address only.
            let symbol: Symbol<*const c_void> = unsafe { library.get(name) }.ok()?;
            Some(symbol.into_raw() as Handle)
        };
        let is_standard = path.file_name().is_some_and(|name| name.to_string_lossy().contains("mpi_abi"));
        let (abi, handles) = match address("ompi_mpi_comm_world") {
            Some(comm_world) if !is_standard => {
                let of = |name: &str| address(name).ok_or("it has only some of Open MPI's handles");
                let handles = Numbers {
                    comm_world,
                    byte: of("ompi_mpi_byte")?,
                    errors_return: of("ompi_mpi_errors_return")?,
                    float: of("ompi_mpi_float")?,
                    sum: of("ompi_mpi_op_sum")?,
                };
                (Abi::OpenMpi, handles)
            }
            _ => {
                let abi = if is_standard { Abi::Standard } else { Abi::Mpich };
                (abi, abi.numbers().ok_or("its handles are not numbers")?)
            }
        };
        let mut text = vec![0u8; MOST_VERSION_BYTES];
        let mut n_bytes: c_int = 0;
        // SAFETY: the text has room for the longest version of every interface. The function may be called at any time.
        unsafe { (functions.get_library_version)(text.as_mut_ptr().cast(), &mut n_bytes) };
        let version = first_line(&text, n_bytes);
        tracing::debug!("loaded {}: {version}", path.display());
        Ok(Self { functions, abi, handles, world: handles.comm_world, version })
    }

    fn check(&self, function: &str, code: c_int) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        let mut text = vec![0u8; MOST_ERROR_BYTES];
        let mut n_bytes: c_int = 0;
        // SAFETY: the text has room for the longest message of every interface.
        unsafe { (self.functions.error_string)(code, text.as_mut_ptr().cast(), &mut n_bytes) };
        let message = format!("{function} failed: {} ({})", first_line(&text, n_bytes), self.version);
        Err(Error::new(ErrorKind::Backend { backend: "mpi", message }))
    }

    /// Initializes MPI, and makes a communicator for this thread. From now on MPI returns errors instead of ending the
    /// process. Waits for all workers.
    ///
    /// # Errors
    /// Fails if MPI was initialized before by this process, or if the library fails.
    pub fn init(&mut self) -> Result<()> {
        let mut is_initialized: c_int = 0;
        // SAFETY: the function may be called at any time.
        let code = unsafe { (self.functions.initialized)(&mut is_initialized) };
        self.check("MPI_Initialized", code)?;
        if is_initialized != 0 {
            let expected = "a process that has not initialized MPI: it can be initialized once, by one runtime";
            return Err(Error::invalid("MPI", "initialized already", expected));
        }
        let mut provided: c_int = 0;
        let (null, level) = (std::ptr::null(), self.abi.thread_serialized());
        // SAFETY: MPI is not initialized. MPI allows null for both pointers if no program arguments are given.
        let code = unsafe { (self.functions.init_thread)(null, null.cast(), level, &mut provided) };
        self.check("MPI_Init_thread", code)?;
        let mut world: Handle = 0;
        // SAFETY: MPI is initialized, and all workers make these calls. `world` has room for a handle of every interface.
        unsafe {
            let code = (self.functions.comm_set_errhandler)(self.world, self.handles.errors_return);
            self.check("MPI_Comm_set_errhandler", code)?;
            self.check("MPI_Comm_dup", (self.functions.comm_dup)(self.world, &mut world))?;
        }
        self.world = world;
        Ok(())
    }

    /// The rank of this worker, and the number of workers.
    ///
    /// # Errors
    /// Fails if the library fails, or returns a number that is not one of a worker.
    pub fn place(&self) -> Result<(usize, usize)> {
        let (mut rank, mut size): (c_int, c_int) = (-1, -1);
        // SAFETY: MPI is initialized, and `world` is a communicator.
        unsafe {
            self.check("MPI_Comm_rank", (self.functions.comm_rank)(self.world, &mut rank))?;
            self.check("MPI_Comm_size", (self.functions.comm_size)(self.world, &mut size))?;
        }
        match (usize::try_from(rank), usize::try_from(size)) {
            (Ok(rank), Ok(size)) if rank < size => Ok((rank, size)),
            _ => Err(Error::invalid("worker of MPI", format!("rank {rank} of {size}"), "a rank below the number")),
        }
    }

    /// Starts to send bytes to a worker. Returns the request.
    ///
    /// # Safety
    /// The bytes stay unchanged where they are until [`Self::is_done`] has returned true for the request.
    pub unsafe fn send(&self, bytes: &[u8], to: usize, tag: c_int) -> Result<Handle> {
        let (n_bytes, to) = (count(bytes.len())?, count(to)?);
        let mut request: Handle = 0;
        // SAFETY: the caller keeps the bytes. `request` has room for a handle of every interface.
        let code = unsafe {
            (self.functions.isend)(bytes.as_ptr().cast(), n_bytes, self.handles.byte, to, tag, self.world, &mut request)
        };
        self.check("MPI_Isend", code).map(|()| request)
    }

    /// Starts to receive bytes from a worker. Returns the request.
    ///
    /// # Safety
    /// The memory is not used or moved until [`Self::is_done`] has returned true for the request.
    pub unsafe fn receive(&self, bytes: &mut [u8], from: usize, tag: c_int) -> Result<Handle> {
        let (n_bytes, from) = (count(bytes.len())?, count(from)?);
        let mut request: Handle = 0;
        // SAFETY: the caller keeps the memory. `request` has room for a handle of every interface.
        let code = unsafe {
            (self.functions.irecv)(
                bytes.as_mut_ptr().cast(),
                n_bytes,
                self.handles.byte,
                from,
                tag,
                self.world,
                &mut request,
            )
        };
        self.check("MPI_Irecv", code).map(|()| request)
    }

    /// Whether a request is done. After that, the request must not be used.
    ///
    /// # Errors
    /// Fails if the transfer failed.
    pub fn is_done(&self, request: &mut Handle) -> Result<bool> {
        let (mut flag, mut status): (c_int, Status) = (0, Status::default());
        // SAFETY: `request` is the handle of a transfer that is not done. `status` has room for a status of every interface.
        let code = unsafe { (self.functions.test)(request, &mut flag, &mut status) };
        self.check("MPI_Test", code).map(|()| flag != 0)
    }

    /// The sender and the number of bytes of a message with this tag that can be received, if there is one.
    ///
    /// # Errors
    /// Fails if the library fails.
    pub fn probe(&self, tag: c_int) -> Result<Option<(usize, usize)>> {
        let (mut flag, mut status, mut n_bytes): (c_int, Status, c_int) = (0, Status::default(), -1);
        let any = self.abi.any_source();
        // SAFETY: `world` is a communicator. `status` has room for a status of every interface.
        let code = unsafe { (self.functions.iprobe)(any, tag, self.world, &mut flag, &mut status) };
        self.check("MPI_Iprobe", code)?;
        if flag == 0 {
            return Ok(None);
        }
        // SAFETY: `MPI_Iprobe` has written the status.
        let code = unsafe { (self.functions.get_count)(&status, self.handles.byte, &mut n_bytes) };
        self.check("MPI_Get_count", code)?;
        let from = status.0[self.abi.source_in_status()];
        match (usize::try_from(from), usize::try_from(n_bytes)) {
            (Ok(from), Ok(n_bytes)) => Ok(Some((from, n_bytes))),
            _ => Err(Error::invalid("message in MPI", format!("{n_bytes} bytes from {from}"), "numbers from 0")),
        }
    }

    /// Sums the values of all workers, and waits for it. All workers make this call.
    ///
    /// # Errors
    /// Fails if the library fails, or if `sums` has another length than `values`.
    pub fn all_reduce(&self, values: &[f32], sums: &mut [f32]) -> Result<()> {
        if values.len() != sums.len() {
            return Err(Error::invalid("sums of MPI_Allreduce", sums.len(), format!("{}, as values", values.len())));
        }
        let (n, Numbers { float, sum, .. }) = (count(values.len())?, self.handles);
        // SAFETY: MPI is initialized. Both slices have `n` elements of the type, and do not overlap.
        let code = unsafe {
            (self.functions.allreduce)(values.as_ptr().cast(), sums.as_mut_ptr().cast(), n, float, sum, self.world)
        };
        self.check("MPI_Allreduce", code)
    }

    /// Ends MPI. Waits for all workers.
    ///
    /// # Errors
    /// Fails if the library fails.
    pub fn finalize(&self) -> Result<()> {
        // SAFETY: MPI is initialized, and no request is open.
        let code = unsafe { (self.functions.finalize)() };
        // After this call the library cannot describe errors, so the error has only the code.
        match code {
            0 => Ok(()),
            code => {
                let message = format!("MPI_Finalize failed with code {code}");
                Err(Error::new(ErrorKind::Backend { backend: "mpi", message }))
            }
        }
    }
}

/// A length as a C `int`, which MPI needs.
fn count(n: usize) -> Result<c_int> {
    c_int::try_from(n).map_err(|_| Error::invalid("size of a message in MPI", n, "at most 2147483647 bytes"))
}

/// The first line of a text that a C function has written.
fn first_line(text: &[u8], n_bytes: c_int) -> String {
    let text = &text[..usize::try_from(n_bytes).unwrap_or(0).min(text.len())];
    let text = String::from_utf8_lossy(text);
    let line = text.lines().next().unwrap_or_default().trim_end_matches('\0');
    line.split(", package").next().unwrap_or(line).split_whitespace().collect::<Vec<_>>().join(" ")
}
