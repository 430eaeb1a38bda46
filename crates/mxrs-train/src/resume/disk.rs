//! Whether a checkpoint will find room, asked before the first epoch rather than after it.

use mxrs_types::{Error, Result};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Removes the trial file whatever happens.
struct Trial(PathBuf);

impl Drop for Trial {
    fn drop(&mut self) {
        // Nobody is left to tell, and a leftover harms nobody.
        let _ = fs::remove_file(&self.0);
    }
}

/// Makes the folder of `prefix` if it is not there, and writes a file of `bytes` bytes there, which is removed again.
///
/// # Errors
/// The folder cannot be made or written; the disk has no such room.
pub fn check_room(prefix: &Path, bytes: u64) -> Result<()> {
    let folder = prefix.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let refused = |e: &std::io::Error, path: &Path| {
        Error::io(path, e).context(format!("checking that checkpoints of {bytes} bytes fit in {}", folder.display()))
    };
    fs::create_dir_all(folder).map_err(|e| refused(&e, folder))?;
    let mut name = prefix.file_name().unwrap_or_default().to_os_string();
    name.push(format!("-room.tmp.{}", std::process::id()));
    let trial = Trial(folder.join(name));
    let mut file = File::create(&trial.0).map_err(|e| refused(&e, &trial.0))?;
    let block = vec![0; 1 << 20];
    let mut left = bytes;
    while left > 0 {
        let n = left.min(block.len() as u64);
        file.write_all(&block[..n as usize]).map_err(|e| refused(&e, &trial.0))?;
        left -= n;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check_room;

    #[test]
    fn the_trial_leaves_nothing_and_says_what_is_wrong() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("new/net");
        check_room(&prefix, 3 << 20).unwrap();
        assert_eq!(std::fs::read_dir(dir.path().join("new")).unwrap().count(), 0);
        // A file is no folder.
        std::fs::write(dir.path().join("file"), "").unwrap();
        let error = check_room(&dir.path().join("file/net"), 1).unwrap_err().to_string();
        assert!(error.contains("file") && error.contains("checkpoints of 1 bytes"), "{error}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_told() {
        // A device that is always full.
        let error = super::check_room(std::path::Path::new("/dev/full/net"), 1).unwrap_err().to_string();
        assert!(error.contains("/dev/full"), "{error}");
    }
}
