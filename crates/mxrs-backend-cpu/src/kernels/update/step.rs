//! The formulas of the updates: those of `mxrs_ops::optim`, in `f32`.

use super::MOST_STATES;
use super::rule::{Kind, Rate, Rule};
use crate::level::Loop;

/// The update of one piece of a weight.
pub struct Step<'a> {
    /// The formula.
    pub rule: Rule,
    /// The rates of the weight.
    pub rate: Rate,
    /// The weight.
    pub weight: &'a mut [f32],
    /// Its gradient.
    pub grad: &'a [f32],
    /// Its states; empty slices in place of those that the formula does not have.
    pub states: [&'a mut [f32]; MOST_STATES],
}

/// `x` limited to ±`bound`; NaN stays NaN.
#[inline(always)]
pub fn clip(x: f32, bound: f32) -> f32 {
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

// The slices are arguments of their own, because only then does the compiler know that they do not overlap. With more
// than four slices it does not vectorize a loop otherwise.

#[inline(always)]
fn each0(w: &mut [f32], g: &[f32], update: impl Fn(&mut f32, f32)) {
    for (w, g) in w.iter_mut().zip(g) {
        update(w, *g);
    }
}

#[inline(always)]
fn each1(w: &mut [f32], g: &[f32], a: &mut [f32], update: impl Fn(&mut f32, f32, &mut f32)) {
    for ((w, g), a) in w.iter_mut().zip(g).zip(a) {
        update(w, *g, a);
    }
}

#[inline(always)]
fn each2(w: &mut [f32], g: &[f32], a: &mut [f32], b: &mut [f32], update: impl Fn(&mut f32, f32, &mut f32, &mut f32)) {
    for (((w, g), a), b) in w.iter_mut().zip(g).zip(a).zip(b) {
        update(w, *g, a, b);
    }
}

#[inline(always)]
fn each3(
    w: &mut [f32],
    g: &[f32],
    a: &mut [f32],
    b: &mut [f32],
    c: &mut [f32],
    update: impl Fn(&mut f32, f32, &mut f32, &mut f32, &mut f32),
) {
    for ((((w, g), a), b), c) in w.iter_mut().zip(g).zip(a).zip(b).zip(c) {
        update(w, *g, a, b, c);
    }
}

impl Loop for Step<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { rule: Rule { kind, rescale_grad, bound }, rate, weight: w, grad: g, states: [a, b, c] } = self;
        let Rate { lr, wd, eta } = rate;
        let clipped = |g: f32| clip(rescale_grad * g, bound);
        let decayed = |g: f32, w: f32| clip(rescale_grad * g + wd * w, bound);
        match kind {
            Kind::Descent => each0(w, g, |w, g| *w -= lr * (clipped(g) + wd * *w)),
            Kind::Momentum(momentum) => each1(w, g, a, |w, g, m| {
                *m = momentum * *m - lr * (clipped(g) + wd * *w);
                *w += *m;
            }),
            Kind::Adam { beta1, beta2, epsilon } => each2(w, g, a, b, |w, g, m, v| {
                let g = decayed(g, *w);
                *m = beta1 * *m + (1.0 - beta1) * g;
                *v = beta2 * *v + (1.0 - beta2) * g * g;
                *w -= lr * *m / (v.sqrt() + epsilon);
            }),
            Kind::AdamW { beta1, beta2, epsilon } => each2(w, g, a, b, |w, g, m, v| {
                let g = clipped(g);
                *m = beta1 * *m + (1.0 - beta1) * g;
                *v = beta2 * *v + (1.0 - beta2) * g * g;
                *w -= eta * (lr * *m / (v.sqrt() + epsilon) + wd * *w);
            }),
            Kind::Nesterov { momentum, of_new } => each1(w, g, a, |w, g, m| {
                let (g, left) = (clipped(g), momentum * *m);
                let new = *w - left + (1.0 + momentum) * (left - lr * (g + wd * *w));
                *m = left - lr * (g + wd * if of_new { new } else { *w });
                *w = new;
            }),
            Kind::Sign => each0(w, g, |w, g| *w = (1.0 - lr * wd) * *w - lr * sign(g)),
            Kind::MomentumSign { momentum, wd_lh } => each1(w, g, a, |w, g, m| {
                *m = momentum * *m - (1.0 - momentum) * (wd * *w + clipped(g));
                *w = (1.0 - lr * wd_lh) * *w + lr * sign(*m);
            }),
            Kind::RmsProp { gamma1, epsilon, bound } => each1(w, g, a, |w, g, n| {
                let g = decayed(g, *w);
                *n = gamma1 * *n + (1.0 - gamma1) * g * g;
                *w = clip(*w - lr * g / (*n + epsilon).sqrt(), bound);
            }),
            Kind::CenteredRmsProp { gamma1, gamma2, epsilon, bound } => each3(w, g, a, b, c, |w, g, n, mean, delta| {
                let g = decayed(g, *w);
                *n = gamma1 * *n + (1.0 - gamma1) * g * g;
                *mean = gamma1 * *mean + (1.0 - gamma1) * g;
                *delta = gamma2 * *delta - lr * g / (*n - *mean * *mean + epsilon).sqrt();
                *w = clip(*w + *delta, bound);
            }),
            Kind::Ftrl { lamda1, beta } => each2(w, g, a, b, |w, g, z, n| {
                let g = clipped(g);
                let sum = *n + g * g;
                *z += g - (sum.sqrt() - n.sqrt()) * *w / lr;
                *n = sum;
                let new = (sign(*z) * lamda1 - *z) / ((beta + sum.sqrt()) / lr + wd);
                *w = if z.abs() <= lamda1 { 0.0 } else { new };
            }),
            Kind::Ftml { beta1, beta2, epsilon, left1, left2 } => each3(w, g, a, b, c, |w, g, d, v, z| {
                let g = decayed(g, *w);
                *v = beta2 * *v + (1.0 - beta2) * g * g;
                let new = left1 / lr * ((*v / left2).sqrt() + epsilon);
                *z = beta1 * *z + (1.0 - beta1) * g - (new - beta1 * *d) * *w;
                *d = new;
                *w = -*z / new;
            }),
            Kind::AdaGrad { epsilon } => each1(w, g, a, |w, g, sum| {
                let g = clipped(g);
                *sum += g * g;
                *w -= lr * (g / (*sum + epsilon).sqrt() + wd * *w);
            }),
            Kind::AdaDelta { rho, epsilon } => each2(w, g, a, b, |w, g, n, delta| {
                let g = clipped(g);
                *n = rho * *n + (1.0 - rho) * g * g;
                let step = (*delta + epsilon).sqrt() / (*n + epsilon).sqrt() * g;
                *delta = rho * *delta + (1.0 - rho) * step * step;
                *w -= step + wd * *w;
            }),
            Kind::Adamax { beta1, beta2 } => each2(w, g, a, b, |w, g, m, most| {
                let g = decayed(g, *w);
                *m = beta1 * *m + (1.0 - beta1) * g;
                let old = beta2 * *most;
                // NaN counts as larger than every number, so that it is not lost.
                *most = if g.abs() > old || g.is_nan() { g.abs() } else { old };
                *w -= lr * *m / *most;
            }),
            Kind::Nadam { beta1, beta2, rest1, rest2, epsilon, by_grad, by_mean, by_var } => {
                each2(w, g, a, b, |w, g, m, v| {
                    let g = decayed(g, *w);
                    *m = beta1 * *m + rest1 * g;
                    *v = beta2 * *v + rest2 * g * g;
                    *w -= lr * (by_grad * g + by_mean * *m) / ((*v * by_var).sqrt() + epsilon);
                });
            }
            Kind::DelayCompensated { lamda } => each1(w, g, a, |w, g, previous| {
                let g = clipped(g);
                let old = *w;
                *w -= lr * (g + wd * old + lamda * g * g * (old - *previous));
                *previous = old;
            }),
            Kind::DelayCompensatedMomentum { momentum, lamda } => each2(w, g, a, b, |w, g, m, previous| {
                let g = clipped(g);
                let old = *w;
                *m = momentum * *m - lr * (g + wd * old + lamda * g * g * (old - *previous));
                *w += *m;
                *previous = old;
            }),
            Kind::LambDirection { beta1, beta2, epsilon, left1, left2 } => {
                // Each element is multiplied by these reciprocals: a division takes longer than reading and writing an
                // element.
                let (by_mean, by_var) = (1.0 / left1, 1.0 / left2);
                each2(w, g, a, b, |w, g, m, v| {
                    let g = clipped(g);
                    *m = beta1 * *m + (1.0 - beta1) * g;
                    *v = beta2 * *v + (1.0 - beta2) * g * g;
                    *w = *m * by_mean / ((*v * by_var).sqrt() + epsilon) + wd * *w;
                });
            }
            Kind::Along => each0(w, g, |w, g| *w -= lr * g),
        }
    }
}
