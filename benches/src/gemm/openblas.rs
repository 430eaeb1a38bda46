//! Products of matrices by OpenBLAS, from the shared library of PyPI's package `scipy-openblas32` or any other build with
//! 32-bit sizes: `cblas_sgemm`, and for a batch the faster of a loop over it and `cblas_sgemm_batch_strided`.

use super::library::{Library, Prepared};
use super::operands::Operands;
use super::shapes::{Number, Shape};
use anyhow::{Context, Result, ensure};
use libloading::Library as Shared;
use std::ffi::{CStr, c_char, c_int};
use std::path::Path;
use std::time::Instant;

/// Values of `enum CBLAS_ORDER` and `enum CBLAS_TRANSPOSE`.
const ROW_MAJOR: c_int = 101;
const NO_TRANSPOSE: c_int = 111;
const TRANSPOSE: c_int = 112;

type Sgemm = unsafe extern "C" fn(
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    f32,
    *const f32,
    c_int,
    *const f32,
    c_int,
    f32,
    *mut f32,
    c_int,
);

type SgemmBatch = unsafe extern "C" fn(
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    f32,
    *const f32,
    c_int,
    c_int,
    *const f32,
    c_int,
    c_int,
    f32,
    *mut f32,
    c_int,
    c_int,
    c_int,
);

/// OpenBLAS in this process.
pub struct OpenBlas {
    name: String,
    sgemm: Sgemm,
    batch: Option<SgemmBatch>,
    /// Keeps the functions loaded.
    _library: Shared,
}

impl OpenBlas {
    /// Loads the library and sets its number of threads.
    ///
    /// # Errors
    /// Fails if the file cannot be loaded, is not OpenBLAS, or has 64-bit sizes.
    pub fn load(path: &Path, threads: usize) -> Result<Self> {
        // SAFETY: initializers of OpenBLAS only read the environment and start threads.
        let library = unsafe { Shared::new(path) }.with_context(|| format!("loading {}", path.display()))?;
        // PyPI's builds put a prefix before all names, so that two copies of OpenBLAS can be loaded in one process.
        let prefix = ["scipy_", ""].into_iter().find(|prefix| {
            let name = format!("{prefix}cblas_sgemm");
            // SAFETY: the symbol is only looked up.
            unsafe { library.get::<Sgemm>(name.as_bytes()) }.is_ok()
        });
        let prefix = prefix.with_context(|| format!("{} has no cblas_sgemm", path.display()))?;
        let name = |name: &str| format!("{prefix}{name}");
        // SAFETY: these are the C prototypes of OpenBLAS's `cblas.h` for builds with 32-bit sizes, which is checked below.
        let (config, core, set_threads, sgemm, batch) = unsafe {
            (
                *library.get::<unsafe extern "C" fn() -> *const c_char>(name("openblas_get_config").as_bytes())?,
                *library.get::<unsafe extern "C" fn() -> *const c_char>(name("openblas_get_corename").as_bytes())?,
                *library.get::<unsafe extern "C" fn(c_int)>(name("openblas_set_num_threads").as_bytes())?,
                *library.get::<Sgemm>(name("cblas_sgemm").as_bytes())?,
                library.get::<SgemmBatch>(name("cblas_sgemm_batch_strided").as_bytes()).ok().map(|symbol| *symbol),
            )
        };
        // SAFETY: both functions return a constant text.
        let text =
            |f: unsafe extern "C" fn() -> *const c_char| unsafe { CStr::from_ptr(f()) }.to_string_lossy().into_owned();
        let (config, core) = (text(config), text(core));
        ensure!(!config.contains("USE64BITINT"), "{} has 64-bit sizes ({config})", path.display());
        // SAFETY: any positive number of threads is valid.
        unsafe { set_threads(int(threads)?) };
        let version = config.split_whitespace().nth(1).unwrap_or("of unknown version");
        Ok(Self { name: format!("OpenBLAS {version} ({core})"), sgemm, batch, _library: library })
    }
}

fn int(n: usize) -> Result<c_int> {
    c_int::try_from(n).with_context(|| format!("{n} is too large for a size of 32 bits"))
}

impl Library for OpenBlas {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn prepare(&self, shape: &Shape, operands: &Operands) -> Result<Prepared> {
        let _ = operands;
        ensure!(shape.number == Number::Float32, "only float32 is compared");
        let [left, right, result] = shape.elements().map(|n| n / shape.batch);
        let strides = [int(left)?, int(right)?, int(result)?];
        let [batch, m, n, k] = [int(shape.batch)?, int(shape.rows)?, int(shape.columns)?, int(shape.steps)?];
        let (transpose, ldb) = if shape.is_transposed { (TRANSPOSE, k) } else { (NO_TRANSPOSE, n) };
        let (pairs, sgemm) = (shape.batch, self.sgemm);
        let one_by_one = move |o: &mut Operands| {
            for pair in 0..pairs {
                let a = o.left.values()[pair * left..].as_ptr();
                let b = o.right.values()[pair * right..].as_ptr();
                let c = o.result.values_mut()[pair * result..].as_mut_ptr();
                // SAFETY: the matrices of the pair have `m * k`, `n * k` and `m * n` values, and the strides of their rows
                // are those of row-major matrices.
                unsafe { sgemm(ROW_MAJOR, NO_TRANSPOSE, transpose, m, n, k, 1.0, a, k, b, ldb, 0.0, c, n) }
            }
            Ok(())
        };
        let plain = Prepared { call: "cblas_sgemm".into(), run: Box::new(one_by_one) };
        let Some(strided) = self.batch.filter(|_| pairs > 1) else { return Ok(plain) };
        let at_once = move |o: &mut Operands| {
            let (a, b, c) = (o.left.values().as_ptr(), o.right.values().as_ptr(), o.result.values_mut().as_mut_ptr());
            let [sa, sb, sc] = strides;
            // SAFETY: as above, for all pairs, which follow each other in memory.
            unsafe {
                strided(ROW_MAJOR, NO_TRANSPOSE, transpose, m, n, k, 1.0, a, k, sa, b, ldb, sb, 0.0, c, n, sc, batch);
            }
            Ok(())
        };
        let at_once = Prepared { call: "cblas_sgemm_batch_strided".into(), run: Box::new(at_once) };
        faster(shape, [plain, at_once])
    }
}

/// Number of runs of which the fastest counts, to choose between two calls.
const TRIES: usize = 5;

/// The faster of two prepared products.
fn faster(shape: &Shape, prepared: [Prepared; 2]) -> Result<Prepared> {
    let mut operands = Operands::new(shape);
    let mut timed = Vec::new();
    for mut one in prepared {
        let mut best = f64::INFINITY;
        for _ in 0..TRIES {
            let start = Instant::now();
            (one.run)(&mut operands)?;
            best = best.min(start.elapsed().as_secs_f64());
        }
        timed.push((best, one));
    }
    let fastest = timed.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
    Ok(fastest.context("no call to choose from")?.1)
}
