//! The formulas of the updates, and the hyperparameters of a call. The formulas are those of `mxrs_ops::optim`, in `f32`.

use super::MOST_STATES;
use crate::level::Loop;
use mxrs_op::OpCall;
use mxrs_ops::PreloadedAdamParams;
use mxrs_ops::optim::adagrad::{AdaGradParams, DecayedAdaGradParams};
use mxrs_ops::optim::adam::AdamParams;
use mxrs_ops::optim::adamw::AdamwParams;
use mxrs_ops::optim::ftml::FtmlParams;
use mxrs_ops::optim::ftrl::FtrlParams;
use mxrs_ops::optim::multi_sgd::{MultiSgdMomParams, MultiSgdParams};
use mxrs_ops::optim::nag::{NagInPlaceParams, NagParams};
use mxrs_ops::optim::preloaded_sgd::{PreloadedSgdMomParams, PreloadedSgdParams};
use mxrs_ops::optim::rmsprop::{RmsPropAlexParams, RmsPropParams};
use mxrs_ops::optim::sgd::{SgdMomParams, SgdParams};
use mxrs_ops::optim::signum::{SignSgdParams, SignumParams};

/// The hyperparameters of an update, except learning rate and weight decay.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    kind: Kind,
    /// Factor of the gradient.
    pub rescale_grad: f32,
    /// Gradients are clipped to ± this bound; infinite if they are not clipped.
    bound: f32,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Descent,
    Momentum(f32),
    Adam {
        beta1: f32,
        beta2: f32,
        epsilon: f32,
    },
    AdamW {
        beta1: f32,
        beta2: f32,
        epsilon: f32,
        eta: f32,
    },
    /// With the momentum's weight decay of the new weight, or of the old one.
    Nesterov {
        momentum: f32,
        of_new: bool,
    },
    Sign,
    MomentumSign {
        momentum: f32,
        wd_lh: f32,
    },
    RmsProp {
        gamma1: f32,
        epsilon: f32,
        bound: f32,
    },
    CenteredRmsProp {
        gamma1: f32,
        gamma2: f32,
        epsilon: f32,
        bound: f32,
    },
    Ftrl {
        lamda1: f32,
        beta: f32,
    },
    /// The last two are `1 - beta1^t` and `1 - beta2^t`.
    Ftml {
        beta1: f32,
        beta2: f32,
        epsilon: f32,
        left1: f32,
        left2: f32,
    },
    AdaGrad {
        epsilon: f32,
    },
}

/// Learning rates and weight decays: numbers known when the call is planned, or the last two inputs, each with one value for
/// each of this many weights.
pub enum Rates {
    /// A learning rate and a weight decay for each weight.
    Known(Vec<(f32, f32)>),
    /// Known numbers for one weight; the factor of the gradient is the last input. If it is 0 or not finite, nothing changes.
    WithScale((f32, f32)),
    /// Number of weights.
    Inputs(usize),
}

impl Rates {
    /// Number of weights.
    pub fn n_weights(&self) -> usize {
        match self {
            Self::Known(all) => all.len(),
            Self::WithScale(_) => 1,
            Self::Inputs(n) => *n,
        }
    }

    /// Number of inputs that belong to no weight.
    pub fn n_inputs(&self) -> usize {
        match self {
            Self::Known(_) => 0,
            Self::WithScale(_) => 1,
            Self::Inputs(_) => 2,
        }
    }
}

/// The bound of a parameter, which is negative for none.
fn bound(value: f32) -> f32 {
    if value >= 0.0 { value } else { f32::INFINITY }
}

impl Rule {
    fn new(kind: Kind, rescale_grad: f32, clip_gradient: f32) -> Self {
        Self { kind, rescale_grad, bound: bound(clip_gradient) }
    }

    /// Number of states of a weight.
    pub fn n_states(&self) -> usize {
        match self.kind {
            Kind::Descent | Kind::Sign => 0,
            Kind::Momentum(_) | Kind::Nesterov { .. } | Kind::MomentumSign { .. } => 1,
            Kind::RmsProp { .. } | Kind::AdaGrad { .. } => 1,
            Kind::Adam { .. } | Kind::AdamW { .. } | Kind::Ftrl { .. } => 2,
            Kind::CenteredRmsProp { .. } | Kind::Ftml { .. } => 3,
        }
    }

    /// The rule of a call, by its operator's name; `None` for operators that are not updates.
    pub fn of(call: &OpCall<'_>) -> Option<(Self, Rates)> {
        let params = call.params;
        let lists = |lrs: &[f32], wds: &[f32]| Rates::Known(lrs.iter().copied().zip(wds.iter().copied()).collect());
        let weights = |n: i32| Rates::Inputs(usize::try_from(n).unwrap_or(0));
        let one = |lr: f32, wd: f32| Rates::Known(vec![(lr, wd)]);
        Some(match call.op.name {
            "sgd_update" | "mp_sgd_update" => {
                let p = params.get::<SgdParams>();
                (Self::new(Kind::Descent, p.rescale_grad, p.clip_gradient), one(p.lr, p.wd))
            }
            "sgd_mom_update" | "mp_sgd_mom_update" => {
                let p = params.get::<SgdMomParams>();
                (Self::new(Kind::Momentum(p.momentum), p.rescale_grad, p.clip_gradient), one(p.lr, p.wd))
            }
            "multi_sgd_update" | "multi_mp_sgd_update" => {
                let p = params.get::<MultiSgdParams>();
                (Self::new(Kind::Descent, p.rescale_grad, p.clip_gradient), lists(&p.lrs.0, &p.wds.0))
            }
            "multi_sgd_mom_update" | "multi_mp_sgd_mom_update" => {
                let p = params.get::<MultiSgdMomParams>();
                (Self::new(Kind::Momentum(p.momentum), p.rescale_grad, p.clip_gradient), lists(&p.lrs.0, &p.wds.0))
            }
            "preloaded_multi_sgd_update" | "preloaded_multi_mp_sgd_update" => {
                let p = params.get::<PreloadedSgdParams>();
                (Self::new(Kind::Descent, p.rescale_grad, p.clip_gradient), weights(p.num_weights))
            }
            "preloaded_multi_sgd_mom_update" | "preloaded_multi_mp_sgd_mom_update" => {
                let p = params.get::<PreloadedSgdMomParams>();
                (Self::new(Kind::Momentum(p.momentum), p.rescale_grad, p.clip_gradient), weights(p.num_weights))
            }
            "adam_update" => {
                let p = params.get::<AdamParams>();
                let kind = Kind::Adam { beta1: p.beta1, beta2: p.beta2, epsilon: p.epsilon };
                (Self::new(kind, p.rescale_grad, p.clip_gradient), one(p.lr, p.wd))
            }
            "_preloaded_multi_adam_update" => {
                let p = params.get::<PreloadedAdamParams>();
                let kind = Kind::Adam { beta1: p.beta1, beta2: p.beta2, epsilon: p.epsilon };
                (Self::new(kind, p.rescale_grad, p.clip_gradient), weights(p.num_weights))
            }
            "_adamw_update" | "_mp_adamw_update" => {
                let p = params.get::<AdamwParams>();
                let kind = Kind::AdamW { beta1: p.beta1, beta2: p.beta2, epsilon: p.epsilon, eta: p.eta };
                (Self::new(kind, 1.0, p.clip_gradient), Rates::WithScale((p.lr, p.wd)))
            }
            "nag_mom_update" => Self::nesterov(params.get::<NagParams>(), false),
            "_nag_mom_update" | "mp_nag_mom_update" => Self::nesterov(&params.get::<NagInPlaceParams>().0, true),
            "signsgd_update" => {
                let p = params.get::<SignSgdParams>();
                (Self::new(Kind::Sign, 1.0, -1.0), one(p.lr, p.wd))
            }
            "signum_update" => {
                let p = params.get::<SignumParams>();
                let kind = Kind::MomentumSign { momentum: p.momentum, wd_lh: p.wd_lh };
                (Self::new(kind, p.rescale_grad, p.clip_gradient), one(p.lr, p.wd))
            }
            "rmsprop_update" => {
                let p = params.get::<RmsPropParams>();
                let kind = Kind::RmsProp { gamma1: p.gamma1, epsilon: p.epsilon, bound: bound(p.clip_weights) };
                (Self::new(kind, p.rescale_grad, p.clip_gradient), one(p.lr, p.wd))
            }
            "rmspropalex_update" => {
                let p = params.get::<RmsPropAlexParams>();
                let (gamma1, gamma2, epsilon) = (p.gamma1, p.gamma2, p.epsilon);
                let kind = Kind::CenteredRmsProp { gamma1, gamma2, epsilon, bound: bound(p.clip_weights) };
                (Self::new(kind, p.rescale_grad, p.clip_gradient), one(p.lr, p.wd))
            }
            "ftrl_update" => {
                let p = params.get::<FtrlParams>();
                let kind = Kind::Ftrl { lamda1: p.lamda1, beta: p.beta };
                (Self::new(kind, p.rescale_grad, p.clip_gradient), one(p.lr, p.wd))
            }
            "ftml_update" => {
                let p = params.get::<FtmlParams>();
                let left = |beta: f32| (1.0 - f64::from(beta).powi(p.t)) as f32;
                let (left1, left2) = (left(p.beta1), left(p.beta2));
                let kind = Kind::Ftml { beta1: p.beta1, beta2: p.beta2, epsilon: p.epsilon as f32, left1, left2 };
                (Self::new(kind, p.rescale_grad, p.clip_grad), one(p.lr, p.wd))
            }
            "_sparse_adagrad_update" => {
                let p = params.get::<AdaGradParams>();
                let kind = Kind::AdaGrad { epsilon: p.epsilon };
                (Self::new(kind, p.rescale_grad, p.clip_gradient), one(p.lr, 0.0))
            }
            "_adagrad_update" => {
                let p = params.get::<DecayedAdaGradParams>();
                let kind = Kind::AdaGrad { epsilon: p.epsilon };
                (Self::new(kind, p.rescale_grad, p.clip_gradient), one(p.lr, p.wd))
            }
            _ => return None,
        })
    }

    fn nesterov(p: &NagParams, of_new: bool) -> (Self, Rates) {
        let kind = Kind::Nesterov { momentum: p.momentum, of_new };
        (Self::new(kind, p.rescale_grad, p.clip_gradient), Rates::Known(vec![(p.lr, p.wd)]))
    }
}

/// The update of one piece of a weight, whose elements were copied to buffers.
pub struct Step<'a> {
    /// The formula.
    pub rule: Rule,
    /// Learning rate.
    pub lr: f32,
    /// Weight decay.
    pub wd: f32,
    /// The weight.
    pub weight: &'a mut [f32],
    /// Its gradient.
    pub grad: &'a [f32],
    /// Its states. Those that the formula does not have are left alone.
    pub states: [&'a mut [f32]; MOST_STATES],
}

/// `x` limited to ±`bound`; NaN stays NaN.
#[inline(always)]
fn clip(x: f32, bound: f32) -> f32 {
    let below = if x > bound { bound } else { x };
    if below < -bound { -bound } else { below }
}

/// 1, -1 or 0, as `x`; NaN stays NaN.
#[inline(always)]
fn sign(x: f32) -> f32 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        x * 0.0
    }
}

impl Loop for Step<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { rule: Rule { kind, rescale_grad, bound }, lr, wd, weight, grad, states: [first, second, third] } =
            self;
        let weights = weight.iter_mut().zip(grad);
        let clipped = |g: &f32| clip(rescale_grad * g, bound);
        let decayed = |g: &f32, w: f32| clip(rescale_grad * g + wd * w, bound);
        match kind {
            Kind::Descent => {
                weights.for_each(|(w, g)| *w -= lr * (clipped(g) + wd * *w));
            }
            Kind::Momentum(momentum) => {
                for ((w, g), m) in weights.zip(first) {
                    *m = momentum * *m - lr * (clipped(g) + wd * *w);
                    *w += *m;
                }
            }
            Kind::Adam { beta1, beta2, epsilon } => {
                for (((w, g), m), v) in weights.zip(first).zip(second) {
                    let g = decayed(g, *w);
                    *m = beta1 * *m + (1.0 - beta1) * g;
                    *v = beta2 * *v + (1.0 - beta2) * g * g;
                    *w -= lr * *m / (v.sqrt() + epsilon);
                }
            }
            Kind::AdamW { beta1, beta2, epsilon, eta } => {
                for (((w, g), m), v) in weights.zip(first).zip(second) {
                    let g = clipped(g);
                    *m = beta1 * *m + (1.0 - beta1) * g;
                    *v = beta2 * *v + (1.0 - beta2) * g * g;
                    *w -= eta * (lr * *m / (v.sqrt() + epsilon) + wd * *w);
                }
            }
            Kind::Nesterov { momentum, of_new } => {
                for ((w, g), m) in weights.zip(first) {
                    let (g, left) = (clipped(g), momentum * *m);
                    let new = *w - left + (1.0 + momentum) * (left - lr * (g + wd * *w));
                    *m = left - lr * (g + wd * if of_new { new } else { *w });
                    *w = new;
                }
            }
            Kind::Sign => {
                weights.for_each(|(w, g)| *w = (1.0 - lr * wd) * *w - lr * sign(*g));
            }
            Kind::MomentumSign { momentum, wd_lh } => {
                for ((w, g), m) in weights.zip(first) {
                    *m = momentum * *m - (1.0 - momentum) * (wd * *w + clipped(g));
                    *w = (1.0 - lr * wd_lh) * *w + lr * sign(*m);
                }
            }
            Kind::RmsProp { gamma1, epsilon, bound } => {
                for ((w, g), n) in weights.zip(first) {
                    let g = decayed(g, *w);
                    *n = gamma1 * *n + (1.0 - gamma1) * g * g;
                    *w = clip(*w - lr * g / (*n + epsilon).sqrt(), bound);
                }
            }
            Kind::CenteredRmsProp { gamma1, gamma2, epsilon, bound } => {
                for ((((w, g), n), mean), delta) in weights.zip(first).zip(second).zip(third) {
                    let g = decayed(g, *w);
                    *n = gamma1 * *n + (1.0 - gamma1) * g * g;
                    *mean = gamma1 * *mean + (1.0 - gamma1) * g;
                    *delta = gamma2 * *delta - lr * g / (*n - *mean * *mean + epsilon).sqrt();
                    *w = clip(*w + *delta, bound);
                }
            }
            Kind::Ftrl { lamda1, beta } => {
                for (((w, g), z), n) in weights.zip(first).zip(second) {
                    let g = clipped(g);
                    let sum = *n + g * g;
                    *z += g - (sum.sqrt() - n.sqrt()) * *w / lr;
                    *n = sum;
                    let new = (sign(*z) * lamda1 - *z) / ((beta + sum.sqrt()) / lr + wd);
                    *w = if z.abs() <= lamda1 { 0.0 } else { new };
                }
            }
            Kind::Ftml { beta1, beta2, epsilon, left1, left2 } => {
                for ((((w, g), d), v), z) in weights.zip(first).zip(second).zip(third) {
                    let g = decayed(g, *w);
                    *v = beta2 * *v + (1.0 - beta2) * g * g;
                    let new = left1 / lr * ((*v / left2).sqrt() + epsilon);
                    *z = beta1 * *z + (1.0 - beta1) * g - (new - beta1 * *d) * *w;
                    *d = new;
                    *w = -*z / new;
                }
            }
            Kind::AdaGrad { epsilon } => {
                for ((w, g), sum) in weights.zip(first) {
                    let g = clipped(g);
                    *sum += g * g;
                    *w -= lr * (g / (*sum + epsilon).sqrt() + wd * *w);
                }
            }
        }
    }
}
