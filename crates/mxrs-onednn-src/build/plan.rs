//! The plan of the compilation: the files of `vendor/files.txt`, with the flags of oneDNN's own CMake build (Release,
//! GCC or Clang).

use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::headers::Headers;

/// Definitions that oneDNN's CMake files pass on the command line; all other definitions are in `dnnl_config.h`.
const DEFINITIONS: [(&str, Option<&str>); 9] = [
    ("DNNL_X64", Some("1")),
    ("DNNL_X64_USE_ZEN", Some("0")),
    ("DNNL_ENABLE_CPU_ISA_HINTS", None),
    ("DNNL_ENABLE_MAX_CPU_ISA", None),
    ("ITT_API_IPT_SUPPORT", None),
    ("NDEBUG", None),
    ("__STDC_CONSTANT_MACROS", None),
    ("__STDC_LIMIT_MACROS", None),
    ("_FORTIFY_SOURCE", Some("2")),
];
/// Include folders. They are relative to `vendor/`, where the compiler runs, so that the objects do not depend on the
/// path of this crate.
const INCLUDES: [&str; 4] = ["include", "src", "third_party/xbyak", "third_party/ittnotify"];
/// Compiler flags. `-fopenmp-simd` lets the compiler vectorize loops. OpenMP itself stays off, because oneDNN runs on
/// the caller's threads.
const FLAGS: [&str; 5] =
    ["-fopenmp-simd", "-msse4.1", "-fvisibility=internal", "-fno-omit-frame-pointer", "-fstack-protector-strong"];
/// The files of `src/common/` that compute; the others check arguments and choose implementations.
const COMPUTES: [&str; 3] = ["src/common/bfloat16", "src/common/float8", "src/common/memory_zero_pad"];
/// Headers that most files include. Compiling them takes longer than compiling the rest of most files, so they are compiled
/// only once for each set of flags.
pub const COMMON_HEADERS: &str = "\
#include \"cpu/x64/jit_generator.hpp\"
#include \"cpu/x64/injectors/jit_uni_postops_injector.hpp\"
#include \"cpu/x64/jit_primitive_conf.hpp\"
#include \"cpu/x64/brgemm/brgemm.hpp\"
";
const OPTIONAL_FLAGS: [&str; 2] = ["-mno-omit-leaf-frame-pointer", "-fcf-protection=full"];

/// How one file is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// C++ code that computes, with full optimization.
    Optimized,
    /// C++ code that chooses an implementation or emits machine code when the program runs, with little optimization: it is
    /// long, and its own speed hardly matters.
    Emitter,
    /// C or assembly code.
    C,
}

/// Everything that determines the content of the compiled library: sources, flags and compilers.
pub struct Plan {
    vendor: PathBuf,
    /// Paths relative to `vendor`. Large files come first, so that the last file to finish is a short one.
    files: Vec<String>,
    optimized: cc::Tool,
    emitter: cc::Tool,
    c: cc::Tool,
    key: String,
}

impl Plan {
    /// Reads the list of files and finds the compilers.
    ///
    /// # Errors
    /// Fails if a file of `vendor/` cannot be read or there is no C++ compiler.
    pub fn new(vendor: PathBuf) -> Result<Self, String> {
        let list = read(&vendor.join("files.txt"))?;
        let mut files: Vec<String> = String::from_utf8_lossy(&list).lines().map(str::to_owned).collect();
        let size = |file: &String| std::fs::metadata(vendor.join(file)).map_or(0, |metadata| metadata.len());
        files.sort_by_key(|file| (recipe(file) == Recipe::Emitter, std::cmp::Reverse(size(file))));
        let [optimized, emitter, c] = [tool(Recipe::Optimized)?, tool(Recipe::Emitter)?, tool(Recipe::C)?];
        let mut plan = Plan { vendor, files, optimized, emitter, c, key: String::new() };
        plan.key = plan.hash()?;
        Ok(plan)
    }

    /// Files to compile, relative to the folder in which the compiler runs.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// The key of the library in the cache: two plans with the same key make the same file.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The command line that compiles `file` and writes `object`. C++ files start with one of the files `headers`.
    pub fn command(&self, file: &str, object: &Path, headers: Option<&Headers>) -> Command {
        let recipe = recipe(file);
        let mut command = self.tool(recipe).to_command();
        if let Some(header) = headers.and_then(|headers| headers.of(recipe)) {
            command.arg("-include").arg(header);
        }
        command.current_dir(&self.vendor).arg("-c").arg(file).arg("-o").arg(object);
        command
    }

    /// The command line that compiles a file of `headers` and writes `output`.
    pub fn header_command(&self, recipe: Recipe, header: &Path, output: &Path) -> Command {
        let mut command = self.tool(recipe).to_command();
        command.current_dir(&self.vendor).args(["-x", "c++-header"]).arg(header).arg("-o").arg(output);
        command
    }

    /// Whether the compiler supports precompiled headers in the way of GCC: it reads the file with the suffix `.gch` that is
    /// next to the header that `-include` names.
    pub fn takes_compiled_headers(&self) -> bool {
        self.optimized.is_like_gnu() && !self.optimized.is_like_clang()
    }

    fn tool(&self, recipe: Recipe) -> &cc::Tool {
        match recipe {
            Recipe::Optimized => &self.optimized,
            Recipe::Emitter => &self.emitter,
            Recipe::C => &self.c,
        }
    }

    /// A hash of the sources, the flags, the compilers with their versions, and the target.
    fn hash(&self) -> Result<String, String> {
        let mut hasher = DefaultHasher::new();
        let mut add = |bytes: &[u8]| {
            hasher.write_usize(bytes.len());
            hasher.write(bytes);
        };
        add(crate::link::variable("TARGET").as_bytes());
        add(COMMON_HEADERS.as_bytes());
        for recipe in [Recipe::Optimized, Recipe::Emitter, Recipe::C] {
            let tool = self.tool(recipe);
            for argument in tool.args() {
                add(argument.as_encoded_bytes());
            }
            add(tool.path().as_os_str().as_encoded_bytes());
            add(&version(tool)?);
        }
        for path in all_files(&self.vendor)? {
            let name = path.strip_prefix(&self.vendor).expect("found below this folder");
            add(name.as_os_str().as_encoded_bytes());
            add(&read(&path)?);
        }
        Ok(format!("{:016x}", hasher.finish()))
    }
}

fn recipe(file: &str) -> Recipe {
    match file.rsplit_once('.') {
        Some((name, "cpp")) if name.starts_with("src/cpu/x64/") || name.ends_with("_list") => Recipe::Emitter,
        Some((name, "cpp")) if name.starts_with("src/common/") && !COMPUTES.contains(&name) => Recipe::Emitter,
        Some((_, "cpp")) => Recipe::Optimized,
        _ => Recipe::C,
    }
}

fn tool(recipe: Recipe) -> Result<cc::Tool, String> {
    let mut build = cc::Build::new();
    // These options do not depend on cargo's profile, because an unoptimized oneDNN is too slow, and its debug information
    // would take gigabytes.
    build.debug(false).warnings(false).pic(true).opt_level_str(if recipe == Recipe::Emitter { "g" } else { "3" });
    for (name, value) in DEFINITIONS {
        build.define(name, value);
    }
    build.includes(INCLUDES);
    for flag in FLAGS {
        build.flag(flag);
    }
    for flag in OPTIONAL_FLAGS {
        build.flag_if_supported(flag);
    }
    if recipe == Recipe::C {
        build.std("c99");
    } else {
        build.cpp(true).std("c++11").flag("-fvisibility-inlines-hidden");
    }
    if recipe == Recipe::Emitter {
        // Turns off an optimization pass in which GCC 8 crashes on large generated files.
        build.flag_if_supported("-fno-tree-dominator-opts");
    }
    build.try_get_compiler().map_err(|error| no_compiler(&error.to_string()))
}

fn version(tool: &cc::Tool) -> Result<Vec<u8>, String> {
    let output = tool.to_command().arg("--version").output();
    let output = output.map_err(|error| no_compiler(&format!("cannot run {}: {error}", tool.path().display())))?;
    if !output.status.success() {
        return Err(no_compiler(&format!("`{} --version` ended with {}", tool.path().display(), output.status)));
    }
    Ok(output.stdout)
}

fn no_compiler(reason: &str) -> String {
    format!(
        "oneDNN is compiled from source, which needs a C++ compiler: {reason}. Install g++ or clang++, or name one in CXX. \
         Without one, use feature `dynamic` of mxrs-onednn-sys instead of `static`, or build without oneDNN."
    )
}

/// All files below `folder`, in the order of their paths.
fn all_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries =
            std::fs::read_dir(&folder).map_err(|error| format!("cannot list {}: {error}", folder.display()))?;
        for entry in entries {
            let path = entry.map_err(|error| format!("cannot list {}: {error}", folder.display()))?.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}
