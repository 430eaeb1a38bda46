//! Types of variables: the accepted texts, the error for other texts, and the Rust type of each.

use std::fmt;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

/// Type and accepted values of a variable.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `0`, `1`, `true`, `false`, in any case.
    Bool,
    /// Decimal digits with an optional sign.
    Int {
        /// Smallest accepted value.
        min: i128,
        /// Largest accepted value.
        max: i128,
    },
    /// Integers separated by commas. Only the first is used.
    FirstInt {
        /// Smallest accepted value of each integer.
        min: i128,
        /// Largest accepted value of each integer.
        max: i128,
    },
    /// Integers separated by commas.
    IntList {
        /// Smallest accepted value of each integer.
        min: i128,
        /// Largest accepted value of each integer.
        max: i128,
    },
    /// A finite number in decimal or exponent form.
    Float {
        /// Lower bound.
        min: f64,
        /// Whether the lower bound itself is refused.
        above_min: bool,
        /// Upper bound, which is itself accepted.
        max: f64,
    },
    /// One of these words; case matters.
    Words(&'static [&'static str]),
    /// Any text.
    Text,
    /// A file or folder that need not exist.
    Path,
    /// A list of paths with the separator of the operating system.
    PathList,
    /// The absolute path of an existing file.
    File,
    /// The absolute path of an existing folder.
    Folder,
    /// An `http`, `https` or `file` address; a trailing `/` is added.
    Url,
    /// A type with a special grammar.
    Grammar {
        /// Word for the type, such as `list`.
        name: &'static str,
        /// The accepted texts, worded to be written after "expected" in an error.
        expected: &'static str,
        /// Checks a text. Returns the text to deserialize, or else an explanation to add to the error, which may be empty.
        check: fn(&str) -> Result<String, String>,
    },
}

impl Kind {
    /// Integers from `min` to `max`, both accepted.
    pub const fn int(min: i128, max: i128) -> Self {
        Self::Int { min, max }
    }

    /// Word for the type, such as `int`.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int { .. } => "int",
            Self::FirstInt { .. } | Self::IntList { .. } => "list of int",
            Self::Float { .. } => "float",
            Self::Words(_) => "enum",
            Self::Text => "string",
            Self::Path | Self::File | Self::Folder => "path",
            Self::PathList => "path list",
            Self::Url => "url",
            Self::Grammar { name, .. } => name,
        }
    }

    /// Checks a text and returns it in the form that is deserialized: numbers and bools without blanks, `+` and leading
    /// zeros, bools as `true` and `false`, strings and paths unchanged.
    ///
    /// # Errors
    /// Returns the accepted values in the words of an error message, such as `an integer >= 1`.
    pub fn check(&self, text: &str) -> Result<String, String> {
        match *self {
            Self::Bool => {
                let word = text.trim();
                match word {
                    "0" => Ok("false".into()),
                    "1" => Ok("true".into()),
                    _ if word.eq_ignore_ascii_case("true") => Ok("true".into()),
                    _ if word.eq_ignore_ascii_case("false") => Ok("false".into()),
                    _ => Err(self.to_string()),
                }
            }
            Self::Int { min, max } => check_int(text, min, max).map_err(|hint| format!("{self}{hint}")),
            Self::FirstInt { min, max } => {
                let all = check_ints(text, min, max).ok_or_else(|| self.to_string())?;
                all.into_iter().next().ok_or_else(|| self.to_string())
            }
            Self::IntList { min, max } => {
                check_ints(text, min, max).map(|all| all.join(",")).ok_or_else(|| self.to_string())
            }
            Self::Float { min, above_min, max } => {
                let number = text.trim();
                let in_range = |value: f64| {
                    value.is_finite() && value <= max && if above_min { value > min } else { value >= min }
                };
                match number.parse::<f64>() {
                    Ok(value) if in_range(value) => Ok(number.to_owned()),
                    _ => Err(self.to_string()),
                }
            }
            Self::Words(words) => {
                if words.contains(&text) {
                    Ok(text.to_owned())
                } else {
                    Err(self.to_string())
                }
            }
            Self::Text | Self::Path | Self::PathList => Ok(text.to_owned()),
            Self::File | Self::Folder => {
                let path = Path::new(text);
                let exists = if matches!(self, Self::File) { path.is_file() } else { path.is_dir() };
                if path.is_absolute() && exists { Ok(text.to_owned()) } else { Err(self.to_string()) }
            }
            Self::Url => {
                let rest = ["http://", "https://", "file:/"].iter().find_map(|scheme| text.strip_prefix(scheme));
                match rest {
                    Some("") | None => Err(self.to_string()),
                    Some(_) if text.ends_with('/') => Ok(text.to_owned()),
                    Some(_) => Ok(format!("{text}/")),
                }
            }
            Self::Grammar { expected, check, .. } => check(text)
                .map_err(|more| if more.is_empty() { expected.to_owned() } else { format!("{expected} ({more})") }),
        }
    }
}

/// Checks an integer. `Err` holds a hint to append to the expected values; it is empty for most texts.
fn check_int(text: &str, min: i128, max: i128) -> Result<String, String> {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return match text.parse::<i128>() {
            Ok(value) if (min..=max).contains(&value) => Ok(value.to_string()),
            Ok(value) if value < min => Err(String::new()),
            // The usual error does not mention an upper bound that is only the limit of the integer type, so the hint adds
            // the bound.
            _ if !text.starts_with('-') && is_width(max) => Err(format!(" and <= {max}")),
            _ => Err(String::new()),
        };
    }
    // A text such as `1e6` is probably meant as a number, so the hint shows how to write this number.
    match text.parse::<f64>() {
        Ok(value) if value.fract() == 0.0 && value.abs() < 1e15 && (min..=max).contains(&(value as i128)) => {
            Err(format!(" (write {})", value as i128))
        }
        _ => Err(String::new()),
    }
}

fn check_ints(text: &str, min: i128, max: i128) -> Option<Vec<String>> {
    text.split(',').map(|item| check_int(item, min, max).ok()).collect()
}

/// Whether `max` is the limit of an integer type instead of a limit of the variable.
const fn is_width(max: i128) -> bool {
    max >= u32::MAX as i128 || max == i32::MAX as i128
}

fn write_range(f: &mut fmt::Formatter<'_>, min: i128, max: i128) -> fmt::Result {
    match (is_width(max), max - min) {
        (true, _) if min <= i32::MIN as i128 => Ok(()),
        (true, _) => write!(f, " >= {min}"),
        (false, _) => write!(f, " from {min} to {max}"),
    }
}

/// Prints the accepted values, worded to be written after "expected" in an error.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Bool => f.write_str("0, 1, true or false"),
            Self::Int { min, max } if min == max => write!(f, "{min}"),
            Self::Int { min, max } if max - min == 1 => write!(f, "{min} or {max}"),
            Self::Int { min, max } if max - min == 2 => write!(f, "{min}, {} or {max}", min + 1),
            Self::Int { min, max } => {
                f.write_str("an integer")?;
                write_range(f, min, max)
            }
            Self::FirstInt { min, max } | Self::IntList { min, max } => {
                f.write_str("integers")?;
                write_range(f, min, max)?;
                f.write_str(", separated by commas")
            }
            Self::Float { min, above_min, max } => {
                let relation = if above_min { ">" } else { ">=" };
                write!(f, "a number {relation} {min}")?;
                if max < f64::MAX { write!(f, " and <= {max}") } else { Ok(()) }
            }
            Self::Words(words) => write!(f, "one of {}", words.join(", ")),
            Self::Text => f.write_str("any text"),
            Self::Path => f.write_str("a path"),
            Self::PathList => f.write_str("a list of paths"),
            Self::File => f.write_str("the absolute path of an existing file"),
            Self::Folder => f.write_str("the absolute path of an existing folder"),
            Self::Url => f.write_str("an address that starts with http://, https:// or file:/"),
            Self::Grammar { expected, .. } => f.write_str(expected),
        }
    }
}

/// A Rust type that a field of a settings struct may have.
pub trait Setting {
    /// The kind of a variable whose field has this type, unless the line that declares the variable names another kind.
    const KIND: Kind;
}

/// Implements [`Setting`] for a type whose inherent function `parse` reads a text. The other arguments are the word for
/// the type and the accepted texts, as in [`Kind::Grammar`].
macro_rules! grammar {
    ($type:ident, $name:literal, $expected:literal) => {
        impl TryFrom<String> for $type {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                Self::parse(&text)
            }
        }

        impl $crate::Setting for $type {
            const KIND: $crate::Kind = $crate::Kind::Grammar {
                name: $name,
                expected: $expected,
                check: |text| $type::parse(text).map(|_| text.trim().to_owned()),
            };
        }
    };
}
pub(crate) use grammar;

macro_rules! int_settings {
    ($($type:ty: $min:expr, $max:expr;)+) => {
        $(impl Setting for $type {
            const KIND: Kind = Kind::int($min, $max as i128);
        })+
    };
}

int_settings! {
    u8: 0, u8::MAX;
    u16: 0, u16::MAX;
    u32: 0, u32::MAX;
    u64: 0, u64::MAX;
    usize: 0, usize::MAX;
    i32: i32::MIN as i128, i32::MAX;
    i64: i64::MIN as i128, i64::MAX;
    NonZeroU64: 1, u64::MAX;
    NonZeroUsize: 1, usize::MAX;
}

impl Setting for bool {
    const KIND: Kind = Kind::Bool;
}

impl Setting for f64 {
    const KIND: Kind = Kind::Float { min: f64::MIN, above_min: false, max: f64::MAX };
}

impl Setting for String {
    const KIND: Kind = Kind::Text;
}

impl Setting for PathBuf {
    const KIND: Kind = Kind::Path;
}

impl<T: Setting> Setting for Option<T> {
    const KIND: Kind = T::KIND;
}

impl<T: Setting> Setting for Vec<T> {
    const KIND: Kind = match T::KIND {
        Kind::Int { min, max } => Kind::IntList { min, max },
        other => other,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_digits_with_an_optional_sign() {
        let kind = NonZeroUsize::KIND;
        for (text, value) in [("4", "4"), (" 4\t", "4"), ("+4", "4"), ("007", "7")] {
            assert_eq!(kind.check(text).as_deref(), Ok(value), "{text:?}");
        }
        for text in ["two", "-1", "0", "1.5", "0x10", "4k", "", " ", "+", "--1", "1 2", "4 # four", "٤"] {
            assert_eq!(kind.check(text), Err("an integer >= 1".into()), "{text:?}");
        }
        assert_eq!(kind.check("1e6"), Err("an integer >= 1 (write 1000000)".into()));
        let huge = kind.check("99999999999999999999999999999999999999999999").unwrap_err();
        assert_eq!(huge, format!("an integer >= 1 and <= {}", usize::MAX));
    }

    #[test]
    fn bounded_integers_say_their_bounds() {
        assert_eq!(Kind::int(0, 100).check("101"), Err("an integer from 0 to 100".into()));
        assert_eq!(Kind::int(0, 100).check("1e6"), Err("an integer from 0 to 100".into()));
        assert_eq!(Kind::int(1, 2).check("3"), Err("1 or 2".into()));
        assert_eq!(Kind::int(0, 2).check("-1"), Err("0, 1 or 2".into()));
        assert_eq!(i64::KIND.check("-9").as_deref(), Ok("-9"));
        assert_eq!(i64::KIND.check("x"), Err("an integer".into()));
        assert_eq!(Kind::int(-1, i64::MAX as i128).check("-2"), Err("an integer >= -1".into()));
    }

    #[test]
    fn bools_take_four_words() {
        for (text, value) in [("0", "false"), ("1", "true"), ("TRUE", "true"), (" False ", "false")] {
            assert_eq!(Kind::Bool.check(text).as_deref(), Ok(value), "{text:?}");
        }
        for text in ["2", "yes", "on", "-1", "00", "1e0"] {
            assert_eq!(Kind::Bool.check(text), Err("0, 1, true or false".into()), "{text:?}");
        }
    }

    #[test]
    fn floats_are_finite_and_in_range() {
        let share = Kind::Float { min: 0.0, above_min: true, max: 1.0 };
        for text in ["0.7", " 1 ", "1e-3", "+.5"] {
            assert!(share.check(text).is_ok(), "{text:?}");
        }
        for text in ["0", "1.01", "nan", "inf", "-0.1", "0,7", ""] {
            assert_eq!(share.check(text), Err("a number > 0 and <= 1".into()), "{text:?}");
        }
    }

    #[test]
    fn lists_name_every_item() {
        let kind = Kind::IntList { min: 0, max: u32::MAX as i128 };
        assert_eq!(kind.check("1, 22 ,3").as_deref(), Ok("1,22,3"));
        for text in ["1,,2", "1,", ",", "1;2", "1,x"] {
            assert_eq!(kind.check(text), Err("integers >= 0, separated by commas".into()), "{text:?}");
        }
        let first = Kind::FirstInt { min: 1, max: usize::MAX as i128 };
        assert_eq!(first.check("8,2").as_deref(), Ok("8"));
        assert!(first.check("8,0").is_err());
    }

    #[test]
    fn addresses_and_paths() {
        assert_eq!(Kind::Url.check("file:///data").as_deref(), Ok("file:///data/"));
        assert_eq!(Kind::Url.check("https://x.org/").as_deref(), Ok("https://x.org/"));
        assert!(Kind::Url.check("ftp://x.org").is_err());
        assert!(Kind::Url.check("x.org").is_err());
        let folder = env!("CARGO_MANIFEST_DIR");
        assert_eq!(Kind::Folder.check(folder).as_deref(), Ok(folder));
        assert!(Kind::File.check(folder).is_err());
        assert!(Kind::File.check(&format!("{folder}/Cargo.toml")).is_ok());
        assert!(Kind::File.check("Cargo.toml").is_err(), "relative");
        assert!(Kind::File.check("/\0").is_err());
    }
}
