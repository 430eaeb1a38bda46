//! Checkpoints: files `<prefix>-0010.params` whose array names start with `arg:` or `aux:`.

use super::names::split_prefix;
use crate::options::Warnings;
use crate::{ArrayFile, Loaded, Options, Tensor, fault};
use indexmap::IndexMap;
use mxrs_types::{Error, FormatErrorKind, Result};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Parameters of a network, as `Module` and `HybridBlock.export` save them.
#[derive(Clone, Debug, Default)]
pub struct Checkpoint {
    /// Arguments: weights and biases.
    pub arg: IndexMap<String, Tensor>,
    /// Auxiliary states: running statistics.
    pub aux: IndexMap<String, Tensor>,
    np_shape: bool,
    /// Whether each entry of the file is in `aux` (else in `arg`), so that saving restores the order.
    is_aux: Vec<bool>,
}

/// Two checkpoints are equal if their parameters are equal; the order in the file does not matter.
impl PartialEq for Checkpoint {
    fn eq(&self, other: &Self) -> bool {
        self.arg == other.arg && self.aux == other.aux
    }
}

/// Returns `<prefix>-%04d.params`; epochs above 9999 use more digits.
pub fn checkpoint_path(prefix: impl AsRef<Path>, epoch: u64) -> PathBuf {
    with_suffix(prefix.as_ref(), &format!("-{epoch:04}.params"))
}

/// Returns `<prefix>-symbol.json`.
pub fn symbol_path(prefix: impl AsRef<Path>) -> PathBuf {
    with_suffix(prefix.as_ref(), "-symbol.json")
}

fn with_suffix(prefix: &Path, suffix: &str) -> PathBuf {
    let mut name = prefix.as_os_str().to_os_string();
    name.push(suffix);
    name.into()
}

impl Checkpoint {
    /// A checkpoint with these arguments and auxiliary states.
    pub fn new(arg: IndexMap<String, Tensor>, aux: IndexMap<String, Tensor>) -> Self {
        Self { arg, aux, ..Self::default() }
    }

    /// Reads a checkpoint file (list or npz).
    ///
    /// # Errors
    /// Returns the errors of [`ArrayFile::open`] and [`Self::from_arrays`].
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Loaded<Self>> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|e| Error::io(path, &e))?;
        Self::read(file, options).map_err(|e| e.with_path(path))
    }

    /// Reads a checkpoint from an open file (list or npz). Reading starts at the beginning, regardless of the current
    /// position.
    ///
    /// # Errors
    /// Returns the errors of [`ArrayFile::read`] and [`Self::from_arrays`].
    pub fn read(file: File, options: &Options) -> Result<Loaded<Self>> {
        let Loaded { value, mut warnings } = ArrayFile::read(file, options)?;
        let checkpoint = Self::from_arrays(value, options)?;
        warnings.extend(checkpoint.warnings);
        Ok(Loaded { value: checkpoint.value, warnings })
    }

    /// Splits named arrays into arguments and auxiliary states by their prefix.
    ///
    /// # Errors
    /// Returns `Inconsistent` for arrays without names, and `InvalidValue` for a name without `arg:` or `aux:`. Lenient
    /// reading drops such an array with a warning instead.
    pub fn from_arrays(file: ArrayFile, options: &Options) -> Result<Loaded<Self>> {
        let mut warnings = Warnings::default();
        let mut checkpoint = Self { np_shape: file.np_shape, ..Self::default() };
        for (name, tensor) in file.arrays.into_named()? {
            let Some((is_aux, rest)) = split_prefix(&name) else {
                if options.lenient {
                    warnings.push(|| format!("array `{name}` has neither prefix `arg:` nor `aux:`, dropped"));
                    continue;
                }
                let context = format!("array `{name}`, expected a name that starts with `arg:` or `aux:`");
                return Err(fault::whole(FormatErrorKind::InvalidValue, context));
            };
            let map = if is_aux { &mut checkpoint.aux } else { &mut checkpoint.arg };
            map.insert(rest.to_string(), tensor);
            checkpoint.is_aux.push(is_aux);
        }
        Ok(warnings.with(checkpoint))
    }

    /// The arrays under their prefixed names, in the order of the original file. Arrays that the file did not have come
    /// last.
    pub fn into_arrays(self) -> ArrayFile {
        let Self { arg, aux, np_shape, is_aux } = self;
        let (mut arg, mut aux) = (arg.into_iter(), aux.into_iter());
        let mut named = IndexMap::new();
        let mut put = |prefix: &str, entry: Option<(String, Tensor)>| {
            if let Some((name, tensor)) = entry {
                named.insert(format!("{prefix}:{name}"), tensor);
            }
        };
        for aux_next in is_aux {
            if aux_next { put("aux", aux.next()) } else { put("arg", arg.next()) }
        }
        arg.for_each(|entry| put("arg", Some(entry)));
        aux.for_each(|entry| put("aux", Some(entry)));
        ArrayFile { np_shape, ..ArrayFile::named(named) }
    }

    /// Writes a 1.x list file, atomically.
    ///
    /// # Errors
    /// Returns the errors of [`ArrayFile::save_params`].
    pub fn save(self, path: impl AsRef<Path>) -> Result<()> {
        self.into_arrays().save_params(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names() {
        assert_eq!(checkpoint_path("model/net.v1", 10), Path::new("model/net.v1-0010.params"));
        assert_eq!(checkpoint_path("net", 12345), Path::new("net-12345.params"));
        assert_eq!(symbol_path("net"), Path::new("net-symbol.json"));
    }

    #[test]
    fn interleaved_order_survives() {
        let t = |v: u8| Tensor::from_slice([1], &[v]).unwrap();
        let names = ["arg:a", "aux:b", "arg:c"];
        let file = ArrayFile::named(names.iter().zip(0..).map(|(n, v)| (n.to_string(), t(v))));
        let checkpoint = Checkpoint::from_arrays(file.clone(), &Options::strict()).unwrap().value;
        assert_eq!((checkpoint.arg.len(), checkpoint.aux.len()), (2, 1));
        assert_eq!(checkpoint.into_arrays(), file);
    }

    #[test]
    fn other_prefixes_are_refused_or_dropped() {
        let file = ArrayFile::named([("opt:a".to_string(), Tensor::None), ("arg:b".to_string(), Tensor::None)]);
        assert!(Checkpoint::from_arrays(file.clone(), &Options::strict()).is_err());
        let loaded = Checkpoint::from_arrays(file, &Options::lenient()).unwrap();
        assert_eq!((loaded.value.arg.len(), loaded.warnings.len()), (1, 1));
    }
}
