//! Names of files for values whose names come from a model file, which may be malicious.

use std::collections::{HashMap, HashSet};

/// Most characters of a value's name that are used. File systems allow 255 bytes, and temporary files have longer names.
const LONGEST: usize = 100;

/// A file name for each value: its name with `_` in place of every character except ASCII letters, digits, `_`, `-` and `.`,
/// and the extension `.npy`. A name that another value has gets a number. Names do not begin with `.` or `-`, so none is a
/// hidden file, a folder above or a flag. None is the name of a device on Windows, such as `nul`.
pub fn file_names<'a>(values: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken = HashSet::new();
    // The number that the next value with the same stem tries first.
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let name = |value: &str| {
        let stem = stem(value);
        // Some file systems do not distinguish upper and lower case.
        let number = numbers.entry(stem.to_ascii_lowercase()).or_insert(1);
        loop {
            let name = if *number == 1 { format!("{stem}.npy") } else { format!("{stem}_{number}.npy") };
            *number += 1;
            if taken.insert(name.to_ascii_lowercase()) {
                return name;
            }
        }
    };
    values.into_iter().map(name).collect()
}

fn stem(value: &str) -> String {
    let is_kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let kept: String = value.chars().take(LONGEST).map(|c| if is_kept(c) { c } else { '_' }).collect();
    match kept.strip_prefix(['.', '-']) {
        Some(rest) => format!("_{rest}"),
        None if kept.is_empty() || is_device(&kept) => format!("_{kept}"),
        None => kept,
    }
}

/// Whether Windows takes this name, with any extension, for a device.
fn is_device(name: &str) -> bool {
    let first = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    match first.strip_prefix("com").or_else(|| first.strip_prefix("lpt")) {
        Some(number) => number.len() == 1 && number.bytes().all(|digit| digit.is_ascii_digit()),
        None => ["con", "prn", "aux", "nul"].contains(&first.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_the_folder() {
        let values =
            ["logits", "a/b", "/etc/passwd", "..", "../../x", "C:\\x", "-rf", ".hidden", "tab\tnul\0", "é:0", ""];
        let expected =
            ["logits", "a_b", "_etc_passwd", "_.", "_._.._x", "C__x", "_rf", "_hidden", "tab_nul_", "__0", "_"];
        assert_eq!(file_names(values), expected.map(|stem| format!("{stem}.npy")));
    }

    #[test]
    fn names_of_devices_are_not_used() {
        let values = ["nul", "CON.x", "com1", "lpt9.y.z", "console", "com", "com10"];
        let expected = ["_nul", "_CON.x", "_com1", "_lpt9.y.z", "console", "com", "com10"];
        assert_eq!(file_names(values), expected.map(|stem| format!("{stem}.npy")));
    }

    #[test]
    fn names_are_given_once() {
        let values = ["y", "Y", "y", "y_2", "a/b", "a:b"];
        assert_eq!(file_names(values), ["y.npy", "Y_2.npy", "y_3.npy", "y_2_2.npy", "a_b.npy", "a_b_2.npy"]);
        let long = "n".repeat(1000);
        let names = file_names([long.as_str(), &long]);
        assert!(names[0] != names[1] && names.iter().all(|name| name.len() < 110), "{names:?}");
    }
}
