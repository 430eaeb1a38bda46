//! The temporary folder outside the workspace: packed crates, programs, and cargo's build output.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use toml::Value;

use super::program::Program;
use crate::process::Run;
use crate::session::Session;
use crate::workspace::{Member, read_manifest, read_text};

/// The temporary folder; removed when dropped.
pub struct Folder {
    path: PathBuf,
    version: String,
    lock_file: String,
    onednn_cache: PathBuf,
}

impl Folder {
    /// Creates the folder, with the workspace's toolchain file and dependency versions.
    ///
    /// # Errors
    /// Fails if a file cannot be read or written.
    pub fn new(session: &Session) -> Result<Self> {
        let path = std::env::temp_dir().join(format!("mxrs-package-{}", std::process::id()));
        let root = &session.workspace.root;
        let manifest = read_manifest(&root.join("Cargo.toml"))?;
        let version = manifest.get("workspace").and_then(|workspace| workspace.get("package")?.get("version"));
        let version = version.and_then(Value::as_str).context("the root manifest names no version")?.to_owned();
        let lock_file = read_text(&root.join("Cargo.lock"))?;
        let named = std::env::var_os("MXRS_ONEDNN_CACHE").filter(|cache| !cache.is_empty());
        // The programs reuse the oneDNN that the workspace has compiled.
        let onednn_cache = named.map_or_else(|| session.target_dir().join("mxrs-onednn"), PathBuf::from);
        let folder = Folder { path, version, lock_file, onednn_cache };
        folder.write("rust-toolchain.toml", &read_text(&root.join("rust-toolchain.toml"))?)?;
        Ok(folder)
    }

    /// The folder that cargo packs the crates into.
    pub fn packing(&self) -> PathBuf {
        self.path.join("packing")
    }

    fn packed(&self, package: &str) -> PathBuf {
        self.packing().join("package").join(format!("{package}-{}.crate", self.version))
    }

    fn unpacked(&self, package: &str) -> PathBuf {
        self.path.join("packed").join(format!("{package}-{}", self.version))
    }

    /// Size of the packed crate in bytes.
    ///
    /// # Errors
    /// Fails if the crate was not packed.
    pub fn packed_size(&self, package: &str) -> Result<u64> {
        let path = self.packed(package);
        Ok(fs::metadata(&path).with_context(|| format!("looking at {}", path.display()))?.len())
    }

    /// Unpacks one crate.
    ///
    /// # Errors
    /// Fails if `tar` does.
    pub fn unpack(&self, session: &Session, package: &str) -> Result<()> {
        let dir = self.path.join("packed");
        fs::create_dir_all(&dir).with_context(|| format!("making {}", dir.display()))?;
        session.program("tar").arg("-xzf").arg(self.packed(package)).arg("-C").arg(&dir).capture()?;
        Ok(())
    }

    /// Writes a cargo configuration that makes all programs use the packed crates instead of the registry's.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write_patches(&self, crates: &[&Member]) -> Result<()> {
        let lines = crates.iter().map(|member| {
            let path = self.unpacked(&member.name);
            format!("{} = {{ path = {:?} }}\n", member.name, path.display().to_string())
        });
        self.write(".cargo/config.toml", &format!("[patch.crates-io]\n{}", lines.collect::<String>()))
    }

    /// Writes the program's files and returns its folder.
    ///
    /// # Errors
    /// Fails if a file cannot be written.
    pub fn write_program(&self, program: &Program) -> Result<PathBuf> {
        if program.is_package {
            return Ok(self.unpacked(&program.package));
        }
        let dir = PathBuf::from("programs").join(program.folder());
        self.write(dir.join("Cargo.toml"), &program.manifest(&self.version))?;
        self.write(dir.join("Cargo.lock"), &self.lock_file)?;
        self.write(dir.join("src/main.rs"), &program.source())?;
        Ok(self.path.join(dir))
    }

    /// A cargo command in the program's folder.
    pub fn cargo(&self, session: &Session, dir: &Path, program: &Program, subcommand: &str) -> Run {
        // A program that is the crate itself gets its features on the command line; other programs have them in their
        // manifests.
        let bare = program.is_package && !program.default_features;
        let target = self.path.join(if program.is_timed() { "target-of-facade" } else { "target" });
        let run = session.cargo_in(dir, subcommand).args(bare.then_some("--no-default-features"));
        let features = program.is_package.then(|| program.features.iter().flat_map(|feature| ["--features", feature]));
        let run = run.args(features.into_iter().flatten());
        run.env("CARGO_TARGET_DIR", target).env("MXRS_ONEDNN_CACHE", &self.onednn_cache)
    }

    fn write(&self, path: impl AsRef<Path>, text: &str) -> Result<()> {
        let path = self.path.join(path);
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir).with_context(|| format!("making {}", dir.display()))?;
        }
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // If the folder cannot be removed, only disk space is lost.
        let _ = fs::remove_dir_all(&self.path);
    }
}
