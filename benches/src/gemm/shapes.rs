//! The products that are compared: sizes and orders, from the list `shapes.txt`.

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use mxrs::types::DType;
use serde_json::{Value, json};
use std::fmt;

/// The type of the numbers that are multiplied, and of the results. Sums are in float32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Number {
    /// 32 bits
    #[default]
    Float32,
    /// 16 bits: the upper half of a float32
    Bfloat16,
}

impl Number {
    /// All types.
    pub const ALL: [Self; 2] = [Self::Float32, Self::Bfloat16];

    /// Name on the command line.
    pub fn word(self) -> &'static str {
        self.dtype().name()
    }

    /// The element type of mxrs.
    pub fn dtype(self) -> DType {
        match self {
            Self::Float32 => DType::F32,
            Self::Bfloat16 => DType::BF16,
        }
    }

    /// Number of bytes of a number.
    pub fn n_bytes(self) -> usize {
        self.dtype().size_of()
    }
}

/// A product of two matrices, or of each pair in a batch of them: `result[row][column] = sum over steps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Name of the product in the report.
    pub name: String,
    /// Number of pairs of matrices.
    pub batch: usize,
    /// Rows of the left matrix and of the result.
    pub rows: usize,
    /// Columns of the result.
    pub columns: usize,
    /// Terms of each sum: columns of the left matrix.
    pub steps: usize,
    /// Whether the right matrix is stored as `[columns][steps]` (`nt`), as weights of layers and keys of attention are. If
    /// not, it is stored as `[steps][columns]` (`nn`).
    pub is_transposed: bool,
    /// Type of the numbers.
    pub number: Number,
}

/// All products in float32, in the order of the list.
///
/// # Errors
/// Fails if a line of the list has another form than `name batch rows columns steps nn|nt`. In an order, `bfloat16` may follow.
pub fn all() -> Result<Vec<Shape>> {
    include_str!("shapes.txt").lines().map(Shape::read).collect()
}

impl Shape {
    fn read(line: &str) -> Result<Self> {
        let (product, number) = match line.strip_suffix(" bfloat16") {
            Some(product) => (product, Number::Bfloat16),
            None => (line, Number::Float32),
        };
        let words: Vec<&str> = product.split(' ').collect();
        let [name, sizes @ .., form] = &words[..] else { anyhow::bail!("`{line}` is not a product") };
        let sizes: Vec<usize> =
            sizes.iter().map(|word| word.parse()).collect::<Result<_, _>>().context(line.to_owned())?;
        let &[batch, rows, columns, steps] = &sizes[..] else { anyhow::bail!("`{line}` has {} sizes", sizes.len()) };
        ensure!(sizes.iter().all(|size| *size > 0), "`{line}` has a size of 0");
        ensure!(["nn", "nt"].contains(form), "`{line}` ends with neither nn nor nt");
        Ok(Self { name: (*name).to_owned(), batch, rows, columns, steps, is_transposed: *form == "nt", number })
    }

    /// Number of elements of the left matrices, of the right ones and of the results.
    pub fn elements(&self) -> [usize; 3] {
        let Self { batch, rows, columns, steps, .. } = self;
        [batch * rows * steps, batch * columns * steps, batch * rows * columns]
    }

    /// Floating-point operations of the product: a multiplication and an addition per term.
    pub fn operations(&self) -> f64 {
        2.0 * self.batch as f64 * self.rows as f64 * self.columns as f64 * self.steps as f64
    }

    /// The sizes as the report shows them.
    pub fn sizes(&self) -> String {
        let Self { batch, rows, columns, steps, .. } = self;
        let batch = if *batch == 1 { String::new() } else { format!("{batch} of ") };
        format!("{batch}{rows}x{columns}x{steps} {}", self.form())
    }

    fn form(&self) -> &'static str {
        if self.is_transposed { "nt" } else { "nn" }
    }

    /// The order (a JSON object) to prepare the product.
    pub fn to_order(&self) -> Value {
        json!({ "do": "load", "shape": self.to_string() })
    }

    /// Reads the shape from an order.
    ///
    /// # Errors
    /// Fails if the order has no valid shape.
    pub fn from_order(order: &Value) -> Result<Self> {
        Self::read(order["shape"].as_str().context("no `shape`")?)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, batch, rows, columns, steps, .. } = self;
        write!(f, "{name} {batch} {rows} {columns} {steps} {}", self.form())?;
        if self.number == Number::Bfloat16 { f.write_str(" bfloat16") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_list_has_forty_products_with_names_of_their_own() {
        let shapes = all().unwrap();
        assert_eq!(shapes.len(), 40);
        assert_eq!(shapes.iter().map(|shape| &shape.name).collect::<BTreeSet<_>>().len(), 40);
        // The kinds of products that the documentation names: large square matrices, batches of small ones, and a single
        // row.
        assert!(shapes.iter().any(|s| (s.rows, s.columns, s.steps) == (4096, 4096, 4096)));
        assert!(shapes.iter().any(|s| s.batch == 64 && (s.rows, s.columns, s.steps) == (128, 128, 64)));
        assert!(shapes.iter().any(|s| s.rows == 1 && s.is_transposed));
    }

    #[test]
    fn orders_have_all_of_a_shape() {
        for shape in all().unwrap() {
            assert_eq!(Shape::from_order(&shape.to_order()).unwrap(), shape);
            let shape = Shape { number: Number::Bfloat16, ..shape };
            assert_eq!(Shape::from_order(&shape.to_order()).unwrap(), shape);
        }
        assert!(Number::ALL.iter().all(|number| Number::from_str(number.word(), false) == Ok(*number)));
        let shape = Shape::read("a 2 3 4 5 nt").unwrap();
        assert_eq!((shape.elements(), shape.operations()), ([30, 40, 24], 240.0));
        assert_eq!(shape.sizes(), "2 of 3x4x5 nt");
    }

    #[test]
    fn lines_that_are_wrong_are_quoted() {
        for line in
            ["", "a", "a 1 2 3 nn", "a 1 2 3 4 5 nn", "a 1 2 3 x nn", "a 0 2 3 4 nn", "a 1 2 3 4 tn", "a 1 2 3 -4 nn"]
        {
            let error = format!("{:#}", Shape::read(line).unwrap_err());
            assert!(error.contains(line), "{line}: {error}");
        }
    }
}
