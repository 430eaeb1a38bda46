//! Arrays as they are written in the recorded results of MXNet 1.9.1.

use mxrs_op::TensorDesc;
use mxrs_testkit::AlignedBuffer;
use serde::Deserialize;

/// A number, or one of the words `nan`, `inf`, `-inf`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Finite(f64),
    Word(String),
}

/// An array: shape, element type (float32 if the recording names none), and numbers.
#[derive(Deserialize)]
pub struct Array {
    shape: Vec<usize>,
    #[serde(default = "float32")]
    dtype: String,
    data: Vec<Number>,
}

fn float32() -> String {
    "float32".into()
}

impl Array {
    #[allow(dead_code, reason = "of use where nothing was recorded")]
    pub fn float32(shape: &[usize], data: Vec<f64>) -> Self {
        let data = data.into_iter().map(Number::Finite).collect();
        Self { shape: shape.to_vec(), dtype: float32(), data }
    }

    pub fn desc(&self) -> TensorDesc {
        TensorDesc::dense(self.shape.as_slice(), self.dtype.parse().expect("a dtype"))
    }

    /// The numbers as recorded, without rounding.
    pub fn numbers(&self) -> Vec<f64> {
        let number = |n: &Number| match n {
            Number::Finite(x) => *x,
            Number::Word(w) => w.parse().expect("nan, inf or -inf"),
        };
        self.data.iter().map(number).collect()
    }

    /// The numbers rounded to the array's element type.
    pub fn buffer(&self) -> AlignedBuffer {
        AlignedBuffer::from_f64(&self.numbers(), self.desc().dtype)
    }

    /// The content of [`Self::buffer`] as float64.
    #[allow(dead_code, reason = "not every recording is compared in its own type")]
    pub fn rounded(&self) -> Vec<f64> {
        self.buffer().to_f64(self.desc().dtype)
    }
}
