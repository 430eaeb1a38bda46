//! The trait of parameter types, and scalar types that implement it.

/// A type that a field of a parameter struct may have.
pub trait Field: Sized + Clone + PartialEq {
    /// MXNet's type text without the `required` or `default` part.
    fn type_name() -> String;
    /// Reads a value from text.
    ///
    /// # Errors
    /// Returns a description of the accepted texts if the text is not a value.
    fn parse(text: &str) -> Result<Self, String>;
    /// This value as MXNet prints it as a default.
    fn default_text(&self) -> String;
    /// Separator between type name and `optional`: `","` after an enum's brace, `", "` elsewhere.
    fn separator() -> &'static str {
        ", "
    }
    /// MXNet's whole type text.
    fn type_text(default: Option<&Self>) -> String {
        match default {
            None => format!("{}, required", Self::type_name()),
            Some(v) => format!("{}{}optional, default={}", Self::type_name(), Self::separator(), v.default_text()),
        }
    }
}

fn parse_bool(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

impl Field for bool {
    fn type_name() -> String {
        "boolean".into()
    }
    fn parse(text: &str) -> Result<Self, String> {
        parse_bool(text).ok_or_else(|| "True, False, 1 or 0".into())
    }
    fn default_text(&self) -> String {
        u8::from(*self).to_string()
    }
}

impl Field for Option<bool> {
    fn type_name() -> String {
        "boolean or None".into()
    }
    fn parse(text: &str) -> Result<Self, String> {
        if text.trim() == "None" {
            return Ok(None);
        }
        parse_bool(text).map(Some).ok_or_else(|| "True, False, 1, 0 or None".into())
    }
    fn default_text(&self) -> String {
        self.map_or("None".into(), |b| u8::from(b).to_string())
    }
}

macro_rules! integer {
    ($t:ty, $name:expr, $quoted:expr, $what:expr) => {
        impl Field for $t {
            fn type_name() -> String {
                $name.into()
            }
            fn parse(text: &str) -> Result<Self, String> {
                text.trim().parse().map_err(|_| $what.into())
            }
            fn default_text(&self) -> String {
                if $quoted { format!("'{self}'") } else { self.to_string() }
            }
        }
    };
}
integer!(i32, "int", true, "an integer of 32 bits");
integer!(i64, "long", false, "an integer of 64 bits");
integer!(u32, "int (non-negative)", false, "a non-negative integer of 32 bits");
integer!(u64, "long (non-negative)", false, "a non-negative integer of 64 bits");

impl Field for Option<i32> {
    fn type_name() -> String {
        "int or None".into()
    }
    fn parse(text: &str) -> Result<Self, String> {
        if text.trim() == "None" {
            return Ok(None);
        }
        text.trim().parse().map(Some).map_err(|_| "an integer of 32 bits or None".into())
    }
    fn default_text(&self) -> String {
        self.map_or("'None'".into(), |v| format!("'{v}'"))
    }
}

/// Prints a number like C's `%.{digits}g`, which MXNet uses for defaults.
pub(super) fn print_g(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value.is_nan() { "nan".into() } else { format!("{value}") };
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim =
        |s: &str| if s.contains('.') { s.trim_end_matches('0').trim_end_matches('.').to_string() } else { s.into() };
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim(mantissa), exponent.abs())
    } else {
        trim(&format!("{value:.*}", (digits as i32 - 1 - exponent).max(0) as usize))
    }
}

fn parse_float(text: &str) -> Option<f64> {
    let text = text.trim();
    match text.trim_start_matches(['+', '-']).to_ascii_lowercase().as_str() {
        "inf" | "infinity" => return Some(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY }),
        "nan" => return Some(f64::NAN),
        _ => {}
    }
    // Rust parses the same texts as C's `strtod`, except hexadecimal floats.
    text.parse().ok()
}

macro_rules! float {
    ($t:ty, $name:literal, $digits:literal) => {
        impl Field for $t {
            fn type_name() -> String {
                $name.into()
            }
            fn parse(text: &str) -> Result<Self, String> {
                parse_float(text).map(|v| v as $t).ok_or_else(|| "a number".into())
            }
            fn default_text(&self) -> String {
                print_g(f64::from(*self), $digits)
            }
        }
        impl Field for Option<$t> {
            fn type_name() -> String {
                concat!($name, " or None").into()
            }
            fn parse(text: &str) -> Result<Self, String> {
                if text.trim() == "None" {
                    return Ok(None);
                }
                parse_float(text).map(|v| Some(v as $t)).ok_or_else(|| "a number or None".into())
            }
            fn default_text(&self) -> String {
                self.map_or("None".into(), |v| print_g(f64::from(v), $digits))
            }
        }
    };
}
float!(f32, "float", 9);
float!(f64, "double", 17);

impl Field for String {
    fn type_name() -> String {
        "string".into()
    }
    fn parse(text: &str) -> Result<Self, String> {
        Ok(text.into())
    }
    fn default_text(&self) -> String {
        format!("'{self}'")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_print_as_mxnet_prints_them() {
        // Texts recorded from MXNet 1.9.1's MXSymbolGetAtomicSymbolInfo.
        assert_eq!(f32::type_text(Some(&0.9)), "float, optional, default=0.899999976");
        assert_eq!(f32::type_text(Some(&1e-4)), "float, optional, default=9.99999975e-05");
        assert_eq!(f32::type_text(Some(&2.0)), "float, optional, default=2");
        assert_eq!(f64::type_text(Some(&f64::from(1e-3f32))), "double, optional, default=0.0010000000474974513");
        assert_eq!(i32::type_text(Some(&1)), "int, optional, default='1'");
        assert_eq!(u32::type_text(None), "int (non-negative), required");
        assert_eq!(Option::<bool>::type_text(Some(&None)), "boolean or None, optional, default=None");
        assert_eq!(Option::<i32>::type_text(Some(&None)), "int or None, optional, default='None'");
    }

    #[test]
    fn texts_that_are_not_values_are_refused() {
        assert!(bool::parse("yes").is_err());
        assert!(u32::parse("-1").is_err());
        assert!(i32::parse("1.5").is_err());
        assert!(f32::parse("1.5x").is_err());
        assert_eq!(f32::parse("-inf"), Ok(f32::NEG_INFINITY));
        assert_eq!(bool::parse("TRUE"), Ok(true));
    }
}
