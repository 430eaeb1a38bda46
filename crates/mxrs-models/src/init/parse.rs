//! Parses the attribute `__init__`, for example `["xavier", {"magnitude": 3}]`, or `zeros` as Gluon writes it.

use super::{FactorKind, Initializer, RandomKind};
use mxrs_types::{Error, ErrorKind, Result};
use serde_json::{Map, Value, json};

/// Parses the `__init__` text of variable `name`. Initializers have MXNet's names; case is ignored.
pub(super) fn parse(name: &str, text: &str) -> Result<Initializer> {
    let wrong = |expected: &str| {
        Error::new(ErrorKind::Attribute {
            op: format!("variable `{name}`"),
            name: "__init__".into(),
            expected: expected.into(),
            got: text.chars().take(120).collect(),
        })
    };
    let shape = "JSON such as [\"zero\", {}]";
    // A name alone means the default arguments.
    let is_name = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let value: Value =
        if is_name { json!([text, {}]) } else { serde_json::from_str(text).map_err(|_| wrong(shape))? };
    let Some([Value::String(kind), Value::Object(args)]) = value.as_array().map(Vec::as_slice) else {
        return Err(wrong(shape));
    };
    let number = |key: &str, default: f32| match args.get(key) {
        None => Ok(default),
        Some(v) => v.as_f64().map(|v| v as f32).ok_or_else(|| wrong(&format!("a number for {key}"))),
    };
    let allow = |keys: &[&str]| match args.keys().find(|k| !keys.contains(&k.as_str())) {
        None => Ok(()),
        Some(key) => Err(wrong(&format!("arguments among [{}], without {key}", keys.join(", ")))),
    };
    match kind.to_lowercase().as_str() {
        "zero" | "zeros" => allow(&[]).map(|()| Initializer::Zero),
        "one" | "ones" => allow(&[]).map(|()| Initializer::One),
        "constant" => {
            allow(&["value"])?;
            Ok(Initializer::Constant { value: number("value", 0.0)? })
        }
        "uniform" => {
            allow(&["scale"])?;
            Ok(Initializer::Uniform { scale: number("scale", 0.07)? })
        }
        "normal" => {
            allow(&["sigma"])?;
            Ok(Initializer::Normal { sigma: number("sigma", 0.01)? })
        }
        "xavier" => {
            allow(&["rnd_type", "factor_type", "magnitude"])?;
            let rnd_type = match word(args, "rnd_type", "uniform") {
                Some("uniform") => RandomKind::Uniform,
                Some("gaussian") => RandomKind::Gaussian,
                _ => return Err(wrong("rnd_type uniform or gaussian")),
            };
            let factor_type = factor(args).ok_or_else(|| wrong("factor_type avg, in or out"))?;
            Ok(Initializer::Xavier { rnd_type, factor_type, magnitude: number("magnitude", 3.0)? })
        }
        "msraprelu" => {
            allow(&["factor_type", "slope"])?;
            let slope = number("slope", 0.25)?;
            let factor_type = factor(args).ok_or_else(|| wrong("factor_type avg, in or out"))?;
            let magnitude = 2.0 / (1.0 + slope * slope);
            Ok(Initializer::Xavier { rnd_type: RandomKind::Gaussian, factor_type, magnitude })
        }
        "orthogonal" => {
            allow(&["scale", "rand_type"])?;
            let rand_type = match word(args, "rand_type", "uniform") {
                Some("uniform") => RandomKind::Uniform,
                Some("normal") => RandomKind::Gaussian,
                _ => return Err(wrong("rand_type uniform or normal")),
            };
            Ok(Initializer::Orthogonal { scale: number("scale", 1.414)?, rand_type })
        }
        "bilinear" => allow(&[]).map(|()| Initializer::Bilinear),
        "lstmbias" => {
            allow(&["forget_bias"])?;
            Ok(Initializer::LstmBias { forget_bias: number("forget_bias", 1.0)? })
        }
        _ => Err(wrong(KNOWN)),
    }
}

const KNOWN: &str = "zero, one, constant, uniform, normal, xavier, msraprelu, orthogonal, bilinear or lstmbias";

/// Makes an initializer by its name, with default arguments.
pub(super) fn create(name: &str) -> Result<Initializer> {
    let text = json!([name, {}]).to_string();
    parse("", &text).map_err(|_| Error::invalid("initializer", format!("`{name}`"), format!("one of {KNOWN}")))
}

/// The argument `key` if it is a text, or `default` if it is not given; `None` if it is not a text.
fn word<'a>(args: &'a Map<String, Value>, key: &str, default: &'a str) -> Option<&'a str> {
    args.get(key).map_or(Some(default), Value::as_str)
}

fn factor(args: &Map<String, Value>) -> Option<FactorKind> {
    match word(args, "factor_type", "avg")? {
        "avg" => Some(FactorKind::Avg),
        "in" => Some(FactorKind::In),
        "out" => Some(FactorKind::Out),
        _ => None,
    }
}
