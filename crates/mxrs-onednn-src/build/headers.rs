//! Precompiled headers. Most files of oneDNN include the same long headers, and compiling these headers takes longer than
//! compiling the rest of the file.

use std::path::{Path, PathBuf};

use crate::compile::made;
use crate::plan::{COMMON_HEADERS, Plan, Recipe};

/// The file that C++ files must include first, one for each set of flags.
pub struct Headers {
    optimized: PathBuf,
    emitter: PathBuf,
}

impl Headers {
    /// Compiles the headers into `folder`, except those that an interrupted build has already compiled. `None` if the
    /// compiler does not support precompiled headers in the way of GCC.
    ///
    /// # Errors
    /// Fails if the compiler rejects the headers or a file cannot be written.
    pub fn compile(plan: &Plan, folder: &Path) -> Result<Option<Self>, String> {
        if !plan.takes_compiled_headers() {
            return Ok(None);
        }
        let compile = |recipe: Recipe, name: &str| -> Result<PathBuf, String> {
            let header = folder.join(name);
            std::fs::write(&header, COMMON_HEADERS)
                .map_err(|error| format!("cannot write {}: {error}", header.display()))?;
            let command = |unfinished: &Path| plan.header_command(recipe, &header, unfinished);
            made(&folder.join(format!("{name}.gch")), "the common headers", command)?;
            Ok(header)
        };
        let optimized = compile(Recipe::Optimized, "optimized.hpp")?;
        Ok(Some(Headers { optimized, emitter: compile(Recipe::Emitter, "emitter.hpp")? }))
    }

    /// The header of files with this recipe.
    pub fn of(&self, recipe: Recipe) -> Option<&Path> {
        match recipe {
            Recipe::Optimized => Some(&self.optimized),
            Recipe::Emitter => Some(&self.emitter),
            Recipe::C => None,
        }
    }
}
