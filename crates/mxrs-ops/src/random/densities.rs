//! Densities of distributions at samples, or their logarithms with `is_log`: `_random_pdf_*`. A sample `[a, s]` has s values
//! for each element of the parameters, which have shape `[a]`. The last axis of the parameter of `_random_pdf_dirichlet` is
//! that of the vectors, and is the last axis of the sample too.
//!
//! Gradient: of the parameters, and of samples of continuous distributions; samples of integers have the gradient 0.
//!
//! MXNet: also `random_pdf_*`. Dtypes: f32 f64 f16 bf16. The `beta` of `_random_pdf_gamma` is a rate.

use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::inference::{OP, learn};
use mxrs_op::{Fill, OpDef, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result};
use std::f64::consts::TAU;

op_params! {
    /// Parameters of `_random_pdf_*`.
    pub struct DensityParams for "_random_pdf_normal" {
        /// Whether the logarithm is computed.
        is_log: bool = false,
    }
}

/// Infers the shapes of a sample whose first axes are those of the parameters, without the last `n_inner`.
fn infer_shape(n_inner: usize, inputs: &mut [PartialShape], out: &mut PartialShape) -> Result<()> {
    let Some((sample, parameters)) = inputs.split_first_mut() else { return Ok(()) };
    crate::inference::unify_all(parameters, &mut [], "parameters")?;
    let Some(dims) = sample.dims().map(<[_]>::to_vec) else { return Ok(()) };
    if let Some(of_parameter) = parameters[0].dims().map(<[_]>::to_vec) {
        let wrong = || {
            let expected = format!("the axes of {} and more", PartialShape::new(of_parameter.clone()));
            Error::shape(OP, "sample", expected, PartialShape::new(dims.clone()))
        };
        let without_inner = |n_axes: usize| n_axes.checked_sub(n_inner).ok_or_else(wrong);
        let (outer, of_sample) = (without_inner(of_parameter.len())?, without_inner(dims.len())?);
        if of_sample < outer {
            return Err(wrong());
        }
        let whole = of_parameter[..outer].iter().copied().chain(vec![None; of_sample - outer]);
        learn(sample, &PartialShape::new(whole.chain(of_parameter[outer..].iter().copied())), "sample")?;
        let first = sample.dims().unwrap_or_default()[..outer].to_vec();
        let last = sample.dims().unwrap_or_default()[of_sample..].to_vec();
        learn(&mut parameters[0], &PartialShape::new(first.into_iter().chain(last)), "parameters")?;
        crate::inference::unify_all(parameters, &mut [], "parameters")?;
    }
    let outer = dims.len().saturating_sub(n_inner);
    let mut of_out = sample.dims().unwrap_or_default()[..outer].to_vec();
    if of_out.is_empty() {
        // A single vector gives one number, of shape [1].
        of_out.push(Some(1));
    }
    learn(out, &PartialShape::new(of_out), "output")?;
    if n_inner == 0 && dims.len() == out.ndim().unwrap_or_default() { learn(sample, out, "sample") } else { Ok(()) }
}

/// The density, or its logarithm, from the logarithm.
fn finish<T: Number>(params: &DensityParams, log: T) -> T {
    if params.is_log { log } else { log.exp() }
}

macro_rules! densities {
    ($($type:ident $name:literal [$alias:literal] [$($input:literal),*] $differentiated:expr,
        ($x:ident, $p:ident) = $log:expr;)*) => {
        $(struct $type;

        impl Formula for $type {
            type Params = DensityParams;
            const NAME: &'static str = $name;
            const ALIASES: &'static [&'static str] = &[$alias];
            const SUMMARY: &'static str = "density of a distribution at samples";
            const BACKWARD: &'static str = concat!("_backward", $name);
            const INPUTS: &'static [&'static str] = &["sample", $($input),*];
            const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "sample", $($input),*];
            const DIFFERENTIATED: &'static [usize] = &$differentiated;
            const IS_WIDEST: bool = true;

            fn infer_shape(_: &DensityParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
                infer_shape(0, inputs, &mut outputs[0])
            }
            fn part<T: Number>(
                params: &DensityParams,
                tensors: &Tensors<'_, T>,
                part: usize,
                emit: Emit<'_, T>,
            ) -> Result<()> {
                let per_element = tensors.inputs[0].n_elements() / tensors.inputs[1].n_elements();
                let $x = tensors.at(0, part);
                let $p = |which: usize| tensors.at(which, part / per_element);
                emit(0, part, finish(params, $log));
                Ok(())
            }
            fn samples() -> Vec<Sample> {
                let n = Self::INPUTS.len() - 1;
                let of = |name, sample: &[usize], parameter: &[usize]| {
                    let mut shapes = vec![sample];
                    shapes.extend(vec![parameter; n]);
                    let mut of = Sample::plain(name, &shapes);
                    let fills = [Fill::Uniform(0.5, 2.0), Fill::Uniform(0.2, 0.5), Fill::Uniform(0.6, 0.9)];
                    of.inputs.iter_mut().zip(fills).for_each(|(input, fill)| input.fill = fill);
                    of
                };
                let mut log = of("logarithm", &[3], &[3]);
                log.attrs = mxrs_op::Attrs::from([("is_log", "True")]);
                vec![of("many", &[2, 3], &[2]), log, of("one", &[1], &[1]), of("empty", &[0, 3], &[0])]
            }
        })*

        /// Functions that define the operators.
        pub const DEFINITIONS: &[fn() -> OpDef] = &[$(formula::define::<$type>,)* formula::define::<Dirichlet>];
    };
}

densities! {
    Uniform "_random_pdf_uniform" ["random_pdf_uniform"] ["low", "high"] [1, 2],
        (_x, p) = -(p(2) - p(1)).ln();
    Normal "_random_pdf_normal" ["random_pdf_normal"] ["mu", "sigma"] [0, 1, 2],
        (x, p) = {
            let z = (x - p(1)) / p(2);
            -(z * z) * T::of(0.5) - p(2).ln() - T::of(0.5 * TAU.ln())
        };
    Gamma "_random_pdf_gamma" ["random_pdf_gamma"] ["alpha", "beta"] [0, 1, 2],
        (x, p) = p(1) * p(2).ln() + (p(1) - T::of(1.0)) * x.ln() - p(2) * x - p(1).ln_gamma();
    Exponential "_random_pdf_exponential" ["random_pdf_exponential"] ["lam"] [0, 1],
        (x, p) = p(1).ln() - p(1) * x;
    Poisson "_random_pdf_poisson" ["random_pdf_poisson"] ["lam"] [1],
        (x, p) = x * p(1).ln() - p(1) - (x + T::of(1.0)).ln_gamma();
    NegativeBinomial "_random_pdf_negative_binomial" ["random_pdf_negative_binomial"] ["k", "p"] [1, 2],
        (x, p) = negative_binomial(x, p(1), p(2));
    Generalized "_random_pdf_generalized_negative_binomial" ["random_pdf_generalized_negative_binomial"]
        ["mu", "alpha"] [1, 2],
        (x, p) = negative_binomial(x, T::of(1.0) / p(2), T::of(1.0) / (p(1) * p(2) + T::of(1.0)));
}

/// The logarithm of the probability of `x` failures before `k` successes with probability `p`.
fn negative_binomial<T: Number>(x: T, k: T, p: T) -> T {
    let ways = (x + k).ln_gamma() - (x + T::of(1.0)).ln_gamma() - k.ln_gamma();
    ways + k * p.ln() + x * (T::of(1.0) - p).ln()
}

struct Dirichlet;

impl Formula for Dirichlet {
    type Params = DensityParams;
    const NAME: &'static str = "_random_pdf_dirichlet";
    const ALIASES: &'static [&'static str] = &["random_pdf_dirichlet"];
    const SUMMARY: &'static str = "density of the Dirichlet distribution at samples";
    const BACKWARD: &'static str = "_backward_random_pdf_dirichlet";
    const INPUTS: &'static [&'static str] = &["sample", "alpha"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "sample", "alpha"];
    const DIFFERENTIATED: &'static [usize] = &[0, 1];
    const IS_WIDEST: bool = true;

    fn infer_shape(_: &DensityParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        infer_shape(1, inputs, &mut outputs[0])
    }

    fn part<T: Number>(params: &DensityParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let k = tensors.inputs[0].last().copied().unwrap_or(1);
        let rows = |input: usize| tensors.inputs[input].iter().rev().skip(1).product::<usize>();
        let per_element = rows(0) / rows(1);
        let mut log = T::of(0.0);
        let mut whole = T::of(0.0);
        for i in 0..k {
            let (x, alpha) = (tensors.at(0, part * k + i), tensors.at(1, part / per_element * k + i));
            log = log + (alpha - T::of(1.0)) * x.ln() - alpha.ln_gamma();
            whole = whole + alpha;
        }
        emit(0, part, finish(params, log + whole.ln_gamma()));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, sample: &[usize], alpha: &[usize]| {
            let sample = Sample::plain(name, &[sample, alpha]);
            sample.fill(0, Fill::Uniform(0.2, 0.5)).fill(1, Fill::Uniform(0.5, 2.0))
        };
        let mut log = of("logarithm", &[2, 2], &[2, 2]);
        log.attrs = mxrs_op::Attrs::from([("is_log", "True")]);
        vec![of("many", &[2, 3, 3], &[2, 3]), log, of("vector", &[4], &[4]), of("empty", &[0, 3], &[0, 3])]
    }
}
