//! Initializers: what a parameter starts with; names, parameters and defaults are MXNet's.
//!
//! A variable's own `__init__` decides; else the end of its name does: weights take the initializer the caller chose,
//! biases and means start at 0, scales and variances at 1. Every variable has a random stream of its own, made of the
//! seed and its name, so neither order nor number of the others changes its values.

mod bilinear;
mod chosen;
mod fill;
mod orthogonal;
mod parse;

pub use chosen::{Load, Mixed};

use fill::Stream;
use mxrs_types::{DType, Device, Error, Result, Shape};

/// Uniform or normal, for [`Initializer::Xavier`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomKind {
    /// Uniform in `[-scale, scale)`.
    Uniform,
    /// Normal with standard deviation `scale`.
    Gaussian,
}

/// Which fan [`Initializer::Xavier`] divides by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactorKind {
    /// Mean of both.
    Avg,
    /// Inputs of one output: `shape[1]` times the kernel.
    In,
    /// Outputs of one input: `shape[0]` times the kernel.
    Out,
}

/// How a parameter is filled.
#[derive(Clone, Debug, PartialEq)]
pub enum Initializer {
    /// All 0.
    Zero,
    /// All 1.
    One,
    /// All `value`.
    Constant {
        /// The value.
        value: f32,
    },
    /// Uniform in `[-scale, scale)`.
    Uniform {
        /// Half width.
        scale: f32,
    },
    /// Normal around 0.
    Normal {
        /// Standard deviation.
        sigma: f32,
    },
    /// Scale `sqrt(magnitude / fan)`. Glorot and Bengio, 2010; with `Gaussian`, `In` and magnitude 2 that of He et al.
    Xavier {
        /// Distribution.
        rnd_type: RandomKind,
        /// Fan.
        factor_type: FactorKind,
        /// Numerator.
        magnitude: f32,
    },
    /// Rows that are orthogonal to each other and of length `scale`, or columns if those are fewer, of the weight seen as a
    /// matrix with `shape[0]` rows. Saxe et al., "Exact solutions to the nonlinear dynamics of learning in deep linear neural
    /// networks", arXiv:1312.6120.
    Orthogonal {
        /// Length.
        scale: f32,
        /// What the matrix is made of before it becomes orthogonal.
        rand_type: RandomKind,
    },
    /// The kernel of bilinear interpolation, for a `Deconvolution` that makes images larger; shape `[O, I, H, W]`.
    Bilinear,
    /// 0, but `forget_bias` for the forget gates: the second quarter of the biases of an LSTM.
    LstmBias {
        /// What the forget gates begin with.
        forget_bias: f32,
    },
    /// Another one by the variable's name: see [`Initializer::mixed`].
    Mixed(Mixed),
    /// Values that are there already: see [`Initializer::load`].
    Load(Load),
}

impl Initializer {
    /// Uniform Xavier over the mean fan, with this magnitude.
    pub fn xavier(magnitude: f32) -> Self {
        Self::Xavier { rnd_type: RandomKind::Uniform, factor_type: FactorKind::Avg, magnitude }
    }

    /// By the name that MXNet creates it with, in any case, with its default parameters: `xavier`, `msraprelu`, `orthogonal`,
    /// `normal`, `uniform`, `zeros`, `ones`, `bilinear`, `lstmbias`.
    ///
    /// # Errors
    /// A name that is none.
    pub fn create(name: &str) -> Result<Self> {
        parse::create(name)
    }

    /// Fills the variable `name` whose `__init__` text is `init`: `out` has the elements of `shape`, row-major.
    ///
    /// # Errors
    /// An unreadable `__init__`; a name that says nothing about what it is; a weight with fewer than two axes under
    /// Xavier; an `out` of another length.
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
            // These were asked above, and no `__init__` names them.
            Self::Mixed(_) | Self::Load(_) => {}
        }
        Ok(())
    }

    /// As [`Self::fill`], into a new vector.
    ///
    /// # Errors
    /// As [`Self::fill`]; a shape that there is no room for.
    pub fn values(&self, name: &str, init: Option<&str>, shape: &Shape, seed: u64) -> Result<Vec<f32>> {
        let bytes = shape.checked_size_bytes(DType::F32)?;
        let mut out = Vec::new();
        out.try_reserve_exact(shape.n_elements()).map_err(|_| no_room(name, bytes))?;
        out.resize(shape.n_elements(), 0.0);
        self.fill(name, init, shape, seed, &mut out)?;
        Ok(out)
    }

    /// What the end of a name asks for.
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

/// The system refuses the memory of a variable.
fn no_room(name: &str, bytes: usize) -> Error {
    let hint = format!("the system refuses memory for the values of `{name}`");
    Error::out_of_memory(Device::cpu(0), bytes as u64, hint)
}

/// The fan a Xavier scale is divided by.
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
