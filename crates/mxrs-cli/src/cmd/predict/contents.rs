//! The elements of an array in short: the elements themselves if they are few, and their range and mean.

use mxrs::format::Dense;
use mxrs::types::DType;
use serde::Serialize;
use serde_json::Value;

/// Most elements that are listed.
const FEW: usize = 16;

/// The elements of an array in short. Elements that are NaN or infinite are `null` in JSON, which has no such numbers.
#[derive(Debug, PartialEq, Serialize)]
pub struct Contents {
    /// The smallest finite element; `null` if there is none.
    min: Value,
    /// The largest finite element; `null` if there is none.
    max: Value,
    /// The mean of the finite elements; of bools, the share that is true.
    mean: Value,
    /// Number of elements that are NaN or infinite.
    not_finite: usize,
    /// All elements, row-major, if they are few.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Value>>,
}

impl Contents {
    /// Summarizes an array.
    ///
    /// # Errors
    /// Returns the errors of reading elements.
    pub fn of(dense: &Dense) -> mxrs::Result<Self> {
        macro_rules! integers {
            ($t:ty) => {
                integers(dense.as_slice::<$t>()?.iter().map(|value| i128::from(*value)), integer)
            };
        }
        Ok(match dense.dtype() {
            DType::F64 => floats(dense.as_slice::<f64>()?.iter().copied(), Value::from),
            DType::F32 => floats(dense.as_slice::<f32>()?.iter().map(|value| f64::from(*value)), fewest_digits),
            DType::F16 | DType::BF16 => floats(dense.to_f32_vec().iter().map(|value| f64::from(*value)), fewest_digits),
            DType::Bool => integers(dense.bytes().iter().map(|value| i128::from(*value)), |value| (value != 0).into()),
            DType::I8 => integers!(i8),
            DType::I16 => integers!(i16),
            DType::I32 => integers!(i32),
            DType::I64 => integers!(i64),
            DType::U8 => integers!(u8),
            DType::U16 => integers!(u16),
            DType::U32 => integers!(u32),
            DType::U64 => integers!(u64),
        })
    }

    /// The elements on one line if they are few, otherwise their range and mean.
    pub fn text(&self) -> String {
        let shown = |value: &Value| if value.is_null() { "nan or inf".to_owned() } else { value.to_string() };
        match &self.values {
            Some(values) => values.iter().map(shown).collect::<Vec<_>>().join(", "),
            None if self.min.is_null() => "all nan or inf".into(),
            None => {
                let others = match self.not_finite {
                    0 => String::new(),
                    n => format!(", {n} nan or inf"),
                };
                format!("min {}, max {}, mean {}{others}", self.min, self.max, self.mean)
            }
        }
    }
}

fn floats(values: impl Iterator<Item = f64> + Clone, shown: fn(f64) -> Value) -> Contents {
    summary(values, f64::is_finite, |value| value, shown)
}

fn integers(values: impl Iterator<Item = i128> + Clone, shown: fn(i128) -> Value) -> Contents {
    summary(values, |_| true, |value| value as f64, shown)
}

/// Summarizes elements. `wide` converts an element for the mean, `shown` for the output.
fn summary<T: Copy + PartialOrd>(
    values: impl Iterator<Item = T> + Clone,
    is_finite: fn(T) -> bool,
    wide: fn(T) -> f64,
    shown: fn(T) -> Value,
) -> Contents {
    let (mut n, mut n_finite, mut sum) = (0, 0, 0.0_f64);
    let mut range: Option<(T, T)> = None;
    for value in values.clone() {
        n += 1;
        if !is_finite(value) {
            continue;
        }
        n_finite += 1;
        sum += wide(value);
        let (min, max) = range.unwrap_or((value, value));
        range = Some((if value < min { value } else { min }, if value > max { value } else { max }));
    }
    let divisor = n_finite as f64;
    let mean = match sum.is_finite() {
        true => sum / divisor,
        // The sum is too large for a float, although the mean is not.
        false => values.clone().filter(|value| is_finite(*value)).map(|value| wide(value) / divisor).sum::<f64>(),
    };
    Contents {
        min: range.map_or(Value::Null, |(min, _)| shown(min)),
        max: range.map_or(Value::Null, |(_, max)| shown(max)),
        mean: range.map_or(Value::Null, |_| mean.into()),
        not_finite: n - n_finite,
        values: (n <= FEW).then(|| values.map(shown).collect()),
    }
}

/// A number that was float32, with the fewest digits that read back as the same float32.
fn fewest_digits(value: f64) -> Value {
    (value as f32).to_string().parse::<f64>().map_or(Value::Null, Value::from)
}

fn integer(value: i128) -> Value {
    i64::try_from(value).map(Value::from).or_else(|_| u64::try_from(value).map(Value::from)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs::format::Tensor;
    use serde_json::json;

    fn of(tensor: &Tensor) -> Contents {
        Contents::of(tensor.as_dense().unwrap()).unwrap()
    }

    #[test]
    fn few_elements_are_listed() {
        let floats = of(&Tensor::from_slice([2, 2], &[0.1_f32, -2.0, f32::NAN, f32::INFINITY]).unwrap());
        let expected = json!({"min": -2.0, "max": 0.1, "mean": -0.9499999992549419, "not_finite": 2,
            "values": [0.1, -2.0, null, null]});
        assert_eq!(serde_json::to_value(&floats).unwrap(), expected);
        assert_eq!(floats.text(), "0.1, -2.0, nan or inf, nan or inf");
        let bools = of(&Tensor::from_slice([4], &[1_u8, 0, 0, 0]).unwrap().cast(DType::Bool));
        assert_eq!((bools.text(), bools.mean), ("true, false, false, false".to_owned(), json!(0.25)));
    }

    #[test]
    fn integers_keep_all_digits() {
        let wide = of(&Tensor::from_slice([2], &[u64::MAX, 1]).unwrap());
        assert_eq!((wide.max, wide.min), (json!(u64::MAX), json!(1)));
        let odd = of(&Tensor::from_slice([1], &[i64::MIN + 1]).unwrap());
        assert_eq!(odd.values, Some(vec![json!(i64::MIN + 1)]));
    }

    #[test]
    fn of_many_elements_only_range_and_mean_are_given() {
        let many: Vec<i32> = (0..101).collect();
        let many = of(&Tensor::from_slice([101], &many).unwrap());
        assert_eq!((many.text().as_str(), &many.values), ("min 0, max 100, mean 50.0", &None));
        let nan = of(&Tensor::from_slice([20], &[f64::NAN; 20]).unwrap());
        assert_eq!((nan.text().as_str(), nan.not_finite), ("all nan or inf", 20));
        let huge = of(&Tensor::from_slice([3], &[f64::MAX, f64::MAX, f64::NAN]).unwrap());
        assert_eq!(huge.mean, json!(f64::MAX), "its sum is infinite");
        let none = of(&Tensor::from_slice([0, 3], &[0_u8; 0]).unwrap());
        assert_eq!((none.text().as_str(), none.min), ("", Value::Null));
    }
}
