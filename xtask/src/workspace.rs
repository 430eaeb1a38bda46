//! The workspace as its manifests describe it: root folder, members in order, and their files.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use toml::Table;

/// The workspace and its members, in the order of the root manifest, where a crate comes after those that it uses.
pub struct Workspace {
    /// Folder of the root manifest.
    pub root: PathBuf,
    /// Members in the order of the members list.
    pub members: Vec<Member>,
}

/// One package of the workspace.
pub struct Member {
    /// Package name.
    pub name: String,
    /// Folder, relative to the root.
    pub dir: PathBuf,
    /// The parsed manifest.
    pub manifest: Table,
}

impl Workspace {
    /// Loads the workspace that this runner belongs to.
    ///
    /// # Errors
    /// Fails if a manifest cannot be read.
    pub fn find() -> Result<Self> {
        let xtask = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&xtask).parent().context("the runner's folder has no parent")?;
        Self::load(root)
    }

    /// Loads the workspace whose root manifest is in `root`.
    ///
    /// # Errors
    /// Fails if a manifest cannot be read, or lacks its members list or a package name.
    pub fn load(root: &Path) -> Result<Self> {
        let manifest = read_manifest(&root.join("Cargo.toml"))?;
        let list = manifest.get("workspace").and_then(|w| w.get("members")).and_then(|m| m.as_array());
        let list = list.with_context(|| format!("{}: no [workspace] members", root.join("Cargo.toml").display()))?;
        let mut members = Vec::new();
        for dir in list {
            let dir = PathBuf::from(dir.as_str().context("a workspace member is not a string")?);
            let path = root.join(&dir).join("Cargo.toml");
            let manifest = read_manifest(&path)?;
            let name = manifest.get("package").and_then(|p| p.get("name")).and_then(|n| n.as_str());
            let name = name.with_context(|| format!("{}: no package name", path.display()))?.to_owned();
            members.push(Member { name, dir, manifest });
        }
        Ok(Workspace { root: root.to_owned(), members })
    }

    /// Index of the package called `name` in the members list.
    pub fn floor_of(&self, name: &str) -> Option<usize> {
        self.members.iter().position(|member| member.name == name)
    }

    /// The path relative to the root, for messages.
    pub fn relative<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }
}

impl Member {
    /// All Rust files of this member, sorted.
    ///
    /// # Errors
    /// Fails if a folder cannot be listed.
    pub fn rust_files(&self, root: &Path) -> Result<Vec<PathBuf>> {
        rust_files(&root.join(&self.dir))
    }

    /// The one-line reason in `[package.metadata.mxrs] unsafe`, if there is one.
    pub fn unsafe_reason(&self) -> Option<&str> {
        self.manifest.get("package")?.get("metadata")?.get("mxrs")?.get("unsafe")?.as_str()
    }
}

/// All `.rs` files below `dir`, sorted, without those in folders called `target`. Empty if the folder does not exist.
///
/// # Errors
/// Fails if a folder cannot be listed.
pub fn rust_files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if dir.is_dir() {
        collect(dir, &mut files)?;
    }
    files.sort();
    Ok(files)
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(dir).with_context(|| format!("listing {}", dir.display()))? {
        let path = entry.with_context(|| format!("listing {}", dir.display()))?.path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                collect(&path, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// Reads one manifest.
///
/// # Errors
/// Fails if the file cannot be read or is not TOML.
pub fn read_manifest(path: &Path) -> Result<Table> {
    let text = read_text(path)?;
    match text.parse() {
        Ok(table) => Ok(table),
        Err(error) => bail!("{}: {error}", path.display()),
    }
}

/// Reads one text file. The error names the file.
///
/// # Errors
/// Fails if the file cannot be read.
pub fn read_text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}
