//! Initializers: the initial values of parameters. Names, parameters and defaults are MXNet's.
//!
//! A variable's own `__init__` takes precedence; otherwise the end of its name decides: weights use the initializer
//! that the caller chose, biases and means start at 0, scales and variances at 1. Every variable has its own random
//! stream, computed from the seed and its name, so the other variables do not influence its values.

mod bilinear;
mod chosen;
mod fill;
mod orthogonal;
mod parse;

pub use chosen::{Load, Mixed};

use fill::Stream;
use mxrs_types::{DType, Device, Error, Result, Shape};

/// The distribution for [`Initializer::Xavier`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomKind {
    /// Uniform in `[-scale, scale)`.
    Uniform,
    /// Normal with standard deviation `scale`.
    Gaussian,
}

/// The fan (number of connections of a weight) by which [`Initializer::Xavier`] divides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactorKind {
    /// The mean of the fans [`Self::In`] and [`Self::Out`].
    Avg,
    /// The number of inputs of one output: `shape[1]` times the kernel size.
    In,
    /// The number of outputs of one input: `shape[0]` times the kernel size.
    Out,
}

/// How to fill a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Initializer {
    /// Every element is 0.
    Zero,
    /// Every element is 1.
    One,
    /// Every element is `value`.
    Constant {
        /// The value of every element.
        value: f32,
    },
    /// Random numbers uniformly distributed in `[-scale, scale)`.
    Uniform {
        /// Half of the width of the interval.
        scale: f32,
    },
    /// Normally distributed random numbers with mean 0.
    Normal {
        /// Standard deviation.
        sigma: f32,
    },
    /// Random numbers with the scale `sqrt(magnitude / fan)` (Glorot and Bengio, 2010). With `Gaussian`, `In` and magnitude
    /// 2 it is the initialization of He et al.
    Xavier {
        /// Distribution of the random numbers.
        rnd_type: RandomKind,
        /// The fan by which the magnitude is divided.
        factor_type: FactorKind,
        /// The numerator under the square root.
        magnitude: f32,
    },
    /// A matrix with `shape[0]` rows whose rows are orthogonal and have the length `scale`. If it has fewer columns than
    /// rows, its columns are orthogonal instead. Saxe et al., "Exact solutions to the nonlinear dynamics of learning in deep
    /// linear neural networks", arXiv:1312.6120.
    Orthogonal {
        /// The length of the rows or columns.
        scale: f32,
        /// The distribution of the random matrix that is made orthogonal.
        rand_type: RandomKind,
    },
    /// The kernel of bilinear interpolation, for a `Deconvolution` that enlarges images; shape `[O, I, H, W]`.
    Bilinear,
    /// The biases of an LSTM: `forget_bias` for the forget gates, which are the second quarter of the biases, and 0 for all
    /// others.
    LstmBias {
        /// The initial value for the forget gates.
        forget_bias: f32,
    },
    /// Another initializer, selected by the variable's name: see [`Initializer::mixed`].
    Mixed(Mixed),
    /// Given values: see [`Initializer::load`].
    Load(Load),
}

impl Initializer {
    /// [`Initializer::Xavier`] with uniform numbers, the mean fan and this magnitude.
    pub fn xavier(magnitude: f32) -> Self {
        Self::Xavier { rnd_type: RandomKind::Uniform, factor_type: FactorKind::Avg, magnitude }
    }

    /// Makes an initializer by MXNet's name for it, ignoring case, with default parameters: `xavier`, `msraprelu`,
    /// `orthogonal`, `normal`, `uniform`, `zeros`, `ones`, `bilinear`, `lstmbias`.
    ///
    /// # Errors
    /// Fails if there is no initializer of this name.
    pub fn create(name: &str) -> Result<Self> {
        parse::create(name)
    }

    /// Fills the variable `name` whose `__init__` text is `init`: `out` are the elements of `shape`, row-major.
    ///
    /// # Errors
    /// Fails if `init` cannot be parsed, if the name does not show which kind of variable it is, if a weight for Xavier has
    /// fewer than two axes, or if `out` does not have the length that follows from `shape`.
    pub fn fill(&self, name: &str, init: Option<&str>, shape: &Shape, seed: u64, out: &mut [f32]) -> Result<()> {
        if out.len() != shape.n_elements() {
            let what = format!("initializer of `{name}`: elements");
            return Err(Error::invalid(what, out.len(), shape.n_elements().to_string()));
        }
        match self {
            Self::Mixed(mixed) => return mixed.choose(name)?.fill(name, init, shape, seed, out),
            Self::Load(load) => return load.fill(name, init, shape, seed, out),
            _ => {}
        }
        let own = match init {
            Some(text) => parse::parse(name, text)?,
            None => self.by_name(name)?,
        };
        let mut stream = Stream::new(seed, name);
        match own {
            Self::Zero => out.fill(0.0),
            Self::One => out.fill(1.0),
            Self::Constant { value } => out.fill(value),
            Self::Uniform { scale } => stream.uniform(scale, out),
            Self::Normal { sigma } => stream.normal(sigma, out),
            Self::Xavier { rnd_type, factor_type, magnitude } => {
                let scale = (magnitude / fan(name, shape, factor_type)?).sqrt();
                stream.draw(rnd_type, scale, out);
            }
            Self::Orthogonal { scale, rand_type } => orthogonal::fill(name, shape, scale, rand_type, &mut stream, out)?,
            Self::Bilinear => bilinear::fill(name, shape, out)?,
            Self::LstmBias { forget_bias } => {
                let quarter = out.len() / 4;
                out.fill(0.0);
                out[quarter..2 * quarter].fill(forget_bias);
            }
            // `Mixed` and `Load` are handled above, and `__init__` cannot select them.
            Self::Mixed(_) | Self::Load(_) => {}
        }
        Ok(())
    }

    /// Returns a new vector with the values that [`Self::fill`] computes.
    ///
    /// # Errors
    /// Fails in the same cases as [`Self::fill`], and if memory runs out.
    pub fn values(&self, name: &str, init: Option<&str>, shape: &Shape, seed: u64) -> Result<Vec<f32>> {
        let bytes = shape.checked_size_bytes(DType::F32)?;
        let mut out = Vec::new();
        out.try_reserve_exact(shape.n_elements()).map_err(|_| no_room(name, bytes))?;
        out.resize(shape.n_elements(), 0.0);
        self.fill(name, init, shape, seed, &mut out)?;
        Ok(out)
    }

    /// Returns the initializer that the end of `name` selects.
    fn by_name(&self, name: &str) -> Result<Self> {
        let endings: [(&str, Option<Self>); 10] = [
            ("weight", None),
            ("bias", Some(Self::Zero)),
            ("gamma", Some(Self::One)),
            ("beta", Some(Self::Zero)),
            ("min", Some(Self::Zero)),
            ("max", Some(Self::One)),
            ("moving_mean", Some(Self::Zero)),
            ("moving_var", Some(Self::One)),
            ("moving_inv_var", Some(Self::Zero)),
            ("moving_avg", Some(Self::Zero)),
        ];
        match endings.iter().find(|(ending, _)| name.ends_with(ending)) {
            Some((_, fixed)) => Ok(fixed.as_ref().unwrap_or(self).clone()),
            None => {
                let endings: Vec<&str> = endings.iter().map(|(e, _)| *e).collect();
                Err(Error::invalid(
                    "initializer by name",
                    format!("variable `{name}`"),
                    format!("a name ending in {}, or an `__init__` attribute", endings.join(", ")),
                ))
            }
        }
    }
}

/// The error if the system refuses the memory of a variable.
fn no_room(name: &str, bytes: usize) -> Error {
    let hint = format!("the system refuses memory for the values of `{name}`");
    Error::out_of_memory(Device::cpu(0), bytes as u64, hint)
}

/// Computes the fan `kind` of a weight with this shape.
fn fan(name: &str, shape: &Shape, kind: FactorKind) -> Result<f32> {
    if shape.ndim() < 2 {
        return Err(Error::shape("xavier", name, "at least 2 axes", shape.to_string()));
    }
    let kernel: usize = shape[2..].iter().product();
    let (fan_in, fan_out) = ((shape[1] * kernel) as f32, (shape[0] * kernel) as f32);
    Ok(match kind {
        FactorKind::Avg => (fan_in + fan_out) / 2.0,
        FactorKind::In => fan_in,
        FactorKind::Out => fan_out,
    })
}

#[cfg(test)]
mod tests;
