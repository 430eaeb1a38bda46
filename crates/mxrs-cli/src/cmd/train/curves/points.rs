//! The file of the curves' points: JSON next to the picture, with the training to which the points belong.

use super::{Curve, write};
use mxrs::types::{Error, Result};
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Tolerance for rounding of positions, in epochs.
const CLOSE: f64 = 1e-6;

/// Identifies a training by the prefix of its checkpoints and by the training's own number, which its checkpoints
/// contain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Prefix of the checkpoints, as an absolute path.
    prefix: String,
    /// Number that distinguishes the training from others with the same prefix.
    number: u64,
}

impl Owner {
    /// The training with this prefix and number; `None` if the current folder is unknown.
    pub fn new(prefix: &Path, number: u64) -> Option<Self> {
        let prefix = std::path::absolute(prefix).ok()?.display().to_string();
        Some(Self { prefix, number })
    }
}

/// Contents of the file.
#[derive(Serialize, Deserialize)]
struct Points<O, C> {
    training: O,
    curves: C,
}

/// Path of the file of a picture's points: `curves.svg.json` for `curves.svg`.
fn beside(picture: &Path) -> PathBuf {
    let mut name = picture.as_os_str().to_os_string();
    name.push(".json");
    name.into()
}

/// Writes the points of a picture. Without an owner, no later training uses them.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn save(picture: &Path, owner: Option<&Owner>, curves: &[Curve]) -> Result<()> {
    let path = beside(picture);
    let bytes = serde_json::to_vec(&Points { training: owner, curves })
        .map_err(|error| Error::invalid(path.display().to_string(), error, "curves of finite numbers"))?;
    write(&path, &bytes)
}

/// The points of a picture up to `epochs`. Empty if the file does not exist; also, with a warning, if it cannot be read or
/// belongs to another training than `owner`.
pub fn load(picture: &Path, owner: &Owner, epochs: f64) -> Vec<Curve> {
    let path = beside(picture);
    let read = match std::fs::read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Vec::new(),
        Err(error) => Err(error.to_string()),
        Ok(bytes) => own(&bytes, owner),
    };
    match read {
        Ok(mut curves) => {
            curves.iter_mut().for_each(|curve| curve.points.retain(|(x, _)| *x <= epochs + CLOSE));
            curves.retain(|curve| !curve.points.is_empty());
            curves
        }
        Err(error) => {
            tracing::warn!("{}: {error}; the curves begin here", path.display());
            Vec::new()
        }
    }
}

fn own(bytes: &[u8], owner: &Owner) -> std::result::Result<Vec<Curve>, String> {
    let points: Points<Option<Owner>, Vec<Curve>> = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if points.training.as_ref() != Some(owner) {
        return Err("its points are of another training".to_owned());
    }
    Ok(points.curves)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_behind_the_place_go_and_so_do_those_of_others() {
        let dir = tempfile::tempdir().unwrap();
        let picture = dir.path().join("curves.svg");
        let owner = |name: &str, number| Owner::new(&dir.path().join(name), number).unwrap();
        let own = owner("net", 2);
        assert!(load(&picture, &own, 9.0).is_empty());
        let curve = |is_validation, points: &[(f64, f64)]| Curve {
            name: "accuracy".into(),
            is_validation,
            points: points.to_vec(),
        };
        let all = [curve(false, &[(0.5, 0.1), (1.0, 0.25), (1.5, 0.4)]), curve(true, &[(2.0, 0.5)])];
        save(&picture, Some(&own), &all).unwrap();
        assert_eq!(load(&picture, &own, 9.0), all);
        assert_eq!(load(&picture, &own, 1.0), [curve(false, &[(0.5, 0.1), (1.0, 0.25)])]);
        for other in [owner("net", 1), owner("other", 2)] {
            assert!(load(&picture, &other, 9.0).is_empty(), "{other:?}");
        }
        save(&picture, None, &all).unwrap();
        assert!(load(&picture, &own, 9.0).is_empty());
        std::fs::write(dir.path().join("curves.svg.json"), "{").unwrap();
        assert!(load(&picture, &own, 9.0).is_empty());
    }
}
