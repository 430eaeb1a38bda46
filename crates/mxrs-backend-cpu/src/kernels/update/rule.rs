//! The hyperparameters of a call that updates weights.

use mxrs_op::OpCall;
use mxrs_ops::optim::adagrad::{AdaGradParams, DecayedAdaGradParams};
use mxrs_ops::optim::adam::AdamParams;
use mxrs_ops::optim::adamw::AdamwParams;
use mxrs_ops::optim::ftml::FtmlParams;
use mxrs_ops::optim::ftrl::FtrlParams;
use mxrs_ops::optim::lamb::{LambPhase1Params, LambPhase2Params};
use mxrs_ops::optim::multi_adamw::MultiAdamwParams;
use mxrs_ops::optim::multi_sgd::{MultiSgdMomParams, MultiSgdParams};
use mxrs_ops::optim::nag::{NagInPlaceParams, NagParams};
use mxrs_ops::optim::preloaded_sgd::{PreloadedSgdMomParams, PreloadedSgdParams};
use mxrs_ops::optim::rmsprop::{RmsPropAlexParams, RmsPropParams};
use mxrs_ops::optim::sgd::{SgdMomParams, SgdParams};
use mxrs_ops::optim::signum::{SignSgdParams, SignumParams};
use mxrs_ops::{AdaDeltaParams, AdamaxParams, DcAsgdParams, NadamParams, PreloadedAdamParams};

/// The hyperparameters of an update, except its rates.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The formula.
    pub kind: Kind,
    /// The gradient is multiplied by this number.
    pub rescale_grad: f32,
    /// Gradients are clipped to ± this bound; infinite if they are not clipped.
    pub bound: f32,
}

/// The formula of an update, with the hyperparameters that only this formula has.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
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
    },
    /// Nesterov momentum. The weight decay in the momentum is that of the new weight if `of_new`, otherwise that of the old
    /// weight.
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
    /// `left1` is `1 - beta1^t` and `left2` is `1 - beta2^t`, where `t` is the number of the step.
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
    AdaDelta {
        rho: f32,
        epsilon: f32,
    },
    Adamax {
        beta1: f32,
        beta2: f32,
    },
    Nadam {
        beta1: f32,
        beta2: f32,
        rest1: f32,
        rest2: f32,
        epsilon: f32,
        by_grad: f32,
        by_mean: f32,
        by_var: f32,
    },
    DelayCompensated {
        lamda: f32,
    },
    DelayCompensatedMomentum {
        momentum: f32,
        lamda: f32,
    },
    /// The direction of a step of LAMB, in place of the weight. `left1` and `left2` are 1 without correction of the moments,
    /// otherwise as in `Ftml`.
    LambDirection {
        beta1: f32,
        beta2: f32,
        epsilon: f32,
        left1: f32,
        left2: f32,
    },
    /// A step along a known direction.
    Along,
}

/// The rates of one weight.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// Learning rate.
    pub lr: f32,
    /// Weight decay.
    pub wd: f32,
    /// Factor of the whole step in AdamW; 1 for others.
    pub eta: f32,
}

impl Rate {
    /// The rate of an update without a factor of the whole step.
    pub fn new(lr: f32, wd: f32) -> Self {
        Self { lr, wd, eta: 1.0 }
    }
}

/// Where the rates of a call come from.
pub enum Rates {
    /// Known when the call is planned: one for each weight.
    Known(Vec<Rate>),
    /// Known for each weight; the factor of the gradient is the last input. If it is 0 or not finite, nothing changes.
    WithScale(Vec<Rate>),
    /// The last two inputs are learning rates and weight decays of this many weights.
    Inputs(usize),
    /// One weight. The learning rate is multiplied by the ratio of the norms of weight and direction, which are inputs 2 and
    /// 3. The two numbers limit the norm of the weight.
    Trusted(Rate, [f32; 2]),
}

impl Rates {
    /// Number of weights.
    pub fn n_weights(&self) -> usize {
        match self {
            Self::Known(all) | Self::WithScale(all) => all.len(),
            Self::Inputs(n) => *n,
            Self::Trusted(..) => 1,
        }
    }

    /// Number of inputs that belong to no weight.
    pub fn n_inputs(&self) -> usize {
        match self {
            Self::Known(_) => 0,
            Self::WithScale(_) => 1,
            Self::Inputs(_) | Self::Trusted(..) => 2,
        }
    }
}

/// The bound that a parameter gives. A negative parameter means that nothing is clipped, so its bound is infinite.
fn bound(value: f32) -> f32 {
    if value >= 0.0 { value } else { f32::INFINITY }
}

/// `1 - beta^t`.
fn left(beta: f32, t: i32) -> f32 {
    (1.0 - f64::from(beta).powi(t)) as f32
}

fn one(lr: f32, wd: f32) -> Rates {
    Rates::Known(vec![Rate::new(lr, wd)])
}

fn lists(lrs: &[f32], wds: &[f32]) -> Rates {
    Rates::Known(lrs.iter().zip(wds).map(|(lr, wd)| Rate::new(*lr, *wd)).collect())
}

impl Rule {
    fn new(kind: Kind, rescale_grad: f32, clip_gradient: f32) -> Self {
        Self { kind, rescale_grad, bound: bound(clip_gradient) }
    }

    /// Number of states of a weight.
    pub fn n_states(&self) -> usize {
        match self.kind {
            Kind::Descent | Kind::Sign | Kind::Along => 0,
            Kind::Momentum(_) | Kind::Nesterov { .. } | Kind::MomentumSign { .. } => 1,
            Kind::RmsProp { .. } | Kind::AdaGrad { .. } | Kind::DelayCompensated { .. } => 1,
            Kind::Adam { .. } | Kind::AdamW { .. } | Kind::Ftrl { .. } | Kind::AdaDelta { .. } => 2,
            Kind::Adamax { .. } | Kind::Nadam { .. } | Kind::DelayCompensatedMomentum { .. } => 2,
            Kind::LambDirection { .. } => 2,
            Kind::CenteredRmsProp { .. } | Kind::Ftml { .. } => 3,
        }
    }

    /// The direction of LAMB with these parameters.
    pub fn lamb(p: &LambPhase1Params) -> (Self, Rate) {
        let (left1, left2) = if p.bias_correction { (left(p.beta1, p.t), left(p.beta2, p.t)) } else { (1.0, 1.0) };
        let kind = Kind::LambDirection { beta1: p.beta1, beta2: p.beta2, epsilon: p.epsilon, left1, left2 };
        (Self::new(kind, p.rescale_grad, p.clip_gradient), Rate::new(0.0, p.wd))
    }

    fn nesterov(p: &NagParams, of_new: bool) -> (Self, Rates) {
        let kind = Kind::Nesterov { momentum: p.momentum, of_new };
        (Self::new(kind, p.rescale_grad, p.clip_gradient), one(p.lr, p.wd))
    }

    /// The rule of a call, by its operator's name; `None` for operators that are not updates by one formula.
    pub fn of(call: &OpCall<'_>) -> Option<(Self, Rates)> {
        let params = call.params;
        let weights = |n: i32| Rates::Inputs(usize::try_from(n).unwrap_or(0));
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
                let kind = Kind::AdamW { beta1: p.beta1, beta2: p.beta2, epsilon: p.epsilon };
                let rate = Rate { eta: p.eta, ..Rate::new(p.lr, p.wd) };
                (Self::new(kind, 1.0, p.clip_gradient), Rates::WithScale(vec![rate]))
            }
            "_multi_adamw_update" | "_multi_mp_adamw_update" => {
                let p = params.get::<MultiAdamwParams>();
                let kind = Kind::AdamW { beta1: p.beta1, beta2: p.beta2, epsilon: p.epsilon };
                let rates = p.lrs.0.iter().zip(&p.wds.0).zip(&p.etas.0);
                let rates = rates.map(|((lr, wd), eta)| Rate { lr: *lr, wd: *wd, eta: *eta }).collect();
                (Self::new(kind, 1.0, p.clip_gradient), Rates::WithScale(rates))
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
                let (left1, left2) = (left(p.beta1, p.t), left(p.beta2, p.t));
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
            "_adadelta_update" => {
                let p = params.get::<AdaDeltaParams>();
                let kind = Kind::AdaDelta { rho: p.rho, epsilon: p.epsilon };
                (Self::new(kind, p.rescale_grad, p.clip_gradient), one(0.0, p.wd))
            }
            "_adamax_update" => {
                let p = params.get::<AdamaxParams>();
                let kind = Kind::Adamax { beta1: p.beta1, beta2: p.beta2 };
                (Self::new(kind, p.rescale_grad, p.clip_gradient), one(p.lr, p.wd))
            }
            "_nadam_update" => {
                let p = params.get::<NadamParams>();
                let NadamParams { beta1, beta2, rest1, rest2, epsilon, by_grad, by_mean, by_var, .. } = *p;
                let kind = Kind::Nadam { beta1, beta2, rest1, rest2, epsilon, by_grad, by_mean, by_var };
                (Self::new(kind, p.rescale_grad, p.clip_gradient), one(p.lr, p.wd))
            }
            "_dcasgd_update" => {
                let p = params.get::<DcAsgdParams>();
                let kind = Kind::DelayCompensated { lamda: p.lamda };
                (Self::new(kind, p.rescale_grad, p.clip_gradient), one(p.lr, p.wd))
            }
            "_dcasgd_mom_update" => {
                let p = params.get::<DcAsgdParams>();
                let kind = Kind::DelayCompensatedMomentum { momentum: p.momentum, lamda: p.lamda };
                (Self::new(kind, p.rescale_grad, p.clip_gradient), one(p.lr, p.wd))
            }
            "lamb_update_phase1" | "mp_lamb_update_phase1" => {
                let (rule, rate) = Self::lamb(params.get::<LambPhase1Params>());
                (rule, Rates::Known(vec![rate]))
            }
            "lamb_update_phase2" | "mp_lamb_update_phase2" => {
                let p = params.get::<LambPhase2Params>();
                let limits = [p.lower_bound, p.upper_bound];
                (Self::new(Kind::Along, 1.0, -1.0), Rates::Trusted(Rate::new(p.lr, 0.0), limits))
            }
            _ => return None,
        })
    }
}
