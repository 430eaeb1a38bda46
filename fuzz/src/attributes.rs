//! Random values of attributes as text, for the type that an operator declares.

use arbitrary::{Result, Unstructured};
use mxrs_op::ParamSpec;

/// Integers at which sizes, offsets or products overflow or change sign.
const EDGES: [i64; 20] = [
    -1,
    -2,
    0,
    1,
    255,
    256,
    65_535,
    65_536,
    1 << 20,
    (1 << 30) - 1,
    1 << 30,
    (1 << 31) - 1,
    1 << 31,
    -(1 << 31),
    (1 << 32) - 1,
    1 << 32,
    1 << 40,
    1 << 62,
    i64::MAX,
    i64::MIN,
];

/// A random integer: usually small, sometimes one of `EDGES`.
pub fn integer(from: &mut Unstructured<'_>) -> Result<i64> {
    if from.ratio(7, 8)? { from.int_in_range(0..=5) } else { Ok(*from.choose(&EDGES)?) }
}

/// A random value, as text, of the type that `spec` declares.
pub fn text(spec: &ParamSpec, from: &mut Unstructured<'_>) -> Result<String> {
    let kind = spec.type_text.as_str();
    if let Some(words) = kind.strip_prefix('{') {
        let words: Vec<&str> = words.split('}').next().unwrap_or_default().split('\'').skip(1).step_by(2).collect();
        return Ok(if words.is_empty() { "None".into() } else { (*from.choose(&words)?).into() });
    }
    let kind = kind.to_ascii_lowercase();
    if kind.starts_with("bool") {
        return Ok((*from.choose(&["True", "False", "0", "1", "None"])?).into());
    }
    if kind.contains("tuple") || kind.contains("shape") {
        let n = from.int_in_range(0..=4)?;
        let items = (0..n).map(|_| Ok(integer(from)?.to_string())).collect::<Result<Vec<_>>>()?;
        let comma = if n == 1 { "," } else { "" };
        return Ok(format!("({}{comma})", items.join(", ")));
    }
    if kind.starts_with("float") || kind.starts_with("double") {
        let numbers = ["0", "1", "0.5", "-1", "2.5", "1e-5", "1e30", "-1e300", "nan", "inf", "-0.0", "1e-45"];
        return Ok((*from.choose(&numbers)?).into());
    }
    if kind.starts_with("string") {
        return Ok((*from.choose(&["", "float32", "float16", "None", "(1,)", "[1, 2]", "x"])?).into());
    }
    Ok(integer(from)?.to_string())
}
