//! The epilogue of a product: adds a tensor, then applies a function, before the result is stored.
//!
//! `silu(x) = x · sigmoid(x)`; `hard_sigmoid(x) = clip(slope · x + offset, 0, 1)`; `hard_swish(x) = x · hard_sigmoid(x)`.

use crate::nn::activation::ActType;
use crate::numeric;
use mxrs_op::param::{ParamSpec, Parameters};
use mxrs_op::{Attrs, RefInput, op_enum, op_params};
use mxrs_types::Result;

op_enum! {
    /// The function that an epilogue applies.
    pub enum FusedAct {
        None = "none",
        Relu = "relu",
        Sigmoid = "sigmoid",
        Tanh = "tanh",
        SoftRelu = "softrelu",
        Clip = "clip",
        Square = "square",
        Sqrt = "sqrt",
        Abs = "abs",
        Exp = "exp",
        Silu = "silu",
        HardSigmoid = "hard_sigmoid",
        HardSwish = "hard_swish",
    }
}

op_params! {
    /// Parameters of an epilogue: `act(y + sum)`.
    pub struct Epilogue for "_sg_conv" {
        /// Whether a tensor of out's shape, the last input, is added first.
        with_sum: bool = false,
        /// The function that is applied last.
        act: FusedAct = FusedAct::None,
        /// Lower bound of `clip`.
        a_min: f32 = 0.0,
        /// Upper bound of `clip`.
        a_max: f32 = 0.0,
        /// Factor in `hard_sigmoid` and `hard_swish`.
        slope: f64 = 0.2,
        /// Summand in `hard_sigmoid` and `hard_swish`.
        offset: f64 = 0.5,
    }
}

impl Epilogue {
    /// Number of inputs of the product: all inputs of the call except `sum`.
    pub(crate) fn n_product_inputs(&self, n_inputs: usize) -> usize {
        n_inputs.saturating_sub(usize::from(self.with_sum))
    }

    /// Adds `sum` to `y` and applies the function of the epilogue. The result is not yet rounded.
    pub(crate) fn apply(&self, mut y: Vec<f64>, sum: Option<&RefInput<'_>>) -> Vec<f64> {
        if let Some(sum) = sum {
            y.iter_mut().zip(numeric::read(sum)).for_each(|(y, s)| *y += s);
        }
        let (low, high) = (f64::from(self.a_min), f64::from(self.a_max));
        let clip = move |x| numeric::clip(x, low, high);
        let Self { slope, offset, .. } = *self;
        let hard = move |x: f64| numeric::clip(slope * x + offset, 0.0, 1.0);
        let function: &dyn Fn(f64) -> f64 = match self.act {
            FusedAct::None => return y,
            FusedAct::Relu => &ActType::Relu.function(),
            FusedAct::Sigmoid => &ActType::Sigmoid.function(),
            FusedAct::Tanh => &ActType::Tanh.function(),
            FusedAct::SoftRelu => &ActType::SoftRelu.function(),
            FusedAct::Clip => &clip,
            FusedAct::Square => &|x| x * x,
            FusedAct::Sqrt => &f64::sqrt,
            FusedAct::Abs => &f64::abs,
            FusedAct::Exp => &f64::exp,
            FusedAct::Silu => &|x| x * numeric::sigmoid(x),
            FusedAct::HardSigmoid => &hard,
            FusedAct::HardSwish => &move |x| x * hard(x),
        };
        y.iter_mut().for_each(|y| *y = function(*y));
        y
    }
}

/// Parameters of a product with an epilogue.
#[derive(Clone, Debug, PartialEq)]
pub struct WithEpilogue<P> {
    /// Parameters of the product.
    pub product: P,
    /// Parameters of the epilogue.
    pub epilogue: Epilogue,
}

impl<P: Parameters> Parameters for WithEpilogue<P> {
    fn parse(attrs: &Attrs) -> Result<Self> {
        Ok(Self { product: P::parse(attrs)?, epilogue: Epilogue::parse(attrs)? })
    }

    fn specs() -> Vec<ParamSpec> {
        let mut specs = P::specs();
        specs.extend(Epilogue::specs());
        specs
    }

    const OP: &'static str = P::OP;
}
