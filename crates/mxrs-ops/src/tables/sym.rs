//! Formulas as calls of operators. A formula that is generic over [`Real`] is evaluated on [`Sym`]: that makes an expression,
//! which can be differentiated, and then written to a gradient graph.

use super::binary::{Equal, Greater, GreaterEqual, Hypot, Maximum, Minimum, Minus, Modulo, Over, Plus, Power, Times};
use super::{BinaryFn, Real, Slope, UnaryFn, unary};
use mxrs_op::{Attrs, GradValue, GradientScope};
use mxrs_types::{Error, Result};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// The shape of a value in a call that broadcasts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The shape of the output.
    Out,
    /// The shape of the left input.
    Left,
    /// The shape of the right input.
    Right,
}

type Sum<'a> = fn(Sym<'a>, Sym<'a>) -> Sym<'a>;
type Part<'a> = fn(Sym<'a>, Sym<'a>, Sym<'a>) -> Sym<'a>;

#[derive(Clone, Copy)]
enum Node<'a> {
    Value(GradValue),
    Unary { name: &'static str, slope: Slope, back: Sum<'a>, x: Sym<'a> },
    Binary { names: Names, parts: [Part<'a>; 2], a: Sym<'a>, b: Sym<'a> },
    Choice { condition: Sym<'a>, yes: Sym<'a>, no: Sym<'a> },
}

/// Names of the operators that compute a function of two numbers.
#[derive(Clone, Copy)]
struct Names {
    pair: &'static str,
    broadcast: &'static str,
    scalar: &'static str,
    reversed: &'static str,
}

/// The memory of the expressions of one gradient.
#[derive(Default)]
pub struct Nodes<'a>(RefCell<Vec<(Node<'a>, Place)>>);

impl<'a> Nodes<'a> {
    fn add(&'a self, node: Node<'a>, place: Place) -> Sym<'a> {
        let mut nodes = self.0.borrow_mut();
        nodes.push((node, place));
        Sym::Node(self, nodes.len() - 1)
    }

    /// A value of the gradient graph.
    pub fn value(&'a self, value: GradValue, place: Place) -> Sym<'a> {
        self.add(Node::Value(value), place)
    }
}

/// An expression of values of a gradient graph and numbers.
#[derive(Clone, Copy)]
pub enum Sym<'a> {
    /// A number, for every element.
    Number(f64),
    /// A function that no operator computes.
    Missing(&'static str),
    /// A node of an expression.
    Node(&'a Nodes<'a>, usize),
}

use Sym::{Missing, Number};

impl<'a> Sym<'a> {
    fn node(self) -> Option<(Node<'a>, Place, &'a Nodes<'a>)> {
        let Sym::Node(nodes, at) = self else { return None };
        let (node, place) = nodes.0.borrow()[at];
        Some((node, place, nodes))
    }

    fn unary<F: UnaryFn>(self) -> Self {
        let Some((_, place, nodes)) = self.node() else {
            return if let Number(x) = self { Number(F::value(x)) } else { self };
        };
        nodes.add(Node::Unary { name: F::NAME, slope: F::SLOPE, back: |g, x| F::back(g, x), x: self }, place)
    }

    fn binary<F: BinaryFn>(self, other: Self) -> Self {
        let nodes = match (self, other) {
            (Missing(what), _) | (_, Missing(what)) => return Missing(what),
            (Number(a), Number(b)) => return Number(F::value(a, b)),
            (Sym::Node(nodes, _), _) | (_, Sym::Node(nodes, _)) => nodes,
        };
        let place = match (self.node(), other.node()) {
            (Some((_, a, _)), Some((_, b, _))) if a != b => Place::Out,
            (Some((_, a, _)), _) | (_, Some((_, a, _))) => a,
            _ => Place::Out,
        };
        let names = Names { pair: F::PAIR.0, broadcast: F::BROADCAST.0, scalar: F::SCALAR.name, reversed: F::SWAPPED };
        let parts: [Part<'a>; 2] = [|g, a, b| F::by_lhs(g, a, b), |g, a, b| F::by_rhs(g, a, b)];
        nodes.add(Node::Binary { names, parts, a: self, b: other }, place)
    }

    fn is(self, number: f64) -> bool {
        matches!(self, Number(x) if x == number)
    }

    /// The derivative of the expression with respect to the value `of`, an expression made by `Nodes::value`.
    pub fn derivative(self, of: Self) -> Self {
        let Some((node, ..)) = self.node() else { return if let Missing(_) = self { self } else { Number(0.0) } };
        match node {
            Node::Value(value) => {
                let is_same = matches!(of.node(), Some((Node::Value(other), ..)) if other == value);
                Number(f64::from(is_same))
            }
            Node::Unary { slope, back, x, .. } => match x.derivative(of) {
                zero if zero.is(0.0) => zero,
                dx => match slope {
                    Slope::Zero => Number(0.0),
                    Slope::OfData => back(dx, x),
                    Slope::OfOutput => back(dx, self),
                },
            },
            Node::Binary { parts, a, b, .. } => {
                let part = |which: usize, inner: Sym<'a>| match inner.derivative(of) {
                    zero if zero.is(0.0) => zero,
                    inner => parts[which](inner, a, b),
                };
                part(0, a) + part(1, b)
            }
            Node::Choice { condition, yes, no } => condition.choose(yes.derivative(of), no.derivative(of)),
        }
    }

    /// Makes the calls that compute the expression; `None` if the expression is the number 0.
    ///
    /// # Errors
    /// Fails if no operator computes a function of the expression.
    pub fn emit(self, scope: &mut dyn GradientScope) -> Result<Option<GradValue>> {
        if self.is(0.0) {
            return Ok(None);
        }
        self.make(scope, &mut HashMap::new()).map(Some)
    }

    fn make(self, scope: &mut dyn GradientScope, made: &mut HashMap<usize, GradValue>) -> Result<GradValue> {
        let at = match self {
            Missing(what) => {
                return Err(Error::not_built(format!("a derivative of {what}"), "no operator computes it"));
            }
            Number(x) => return Err(Error::invalid("a gradient", x, "an expression of tensors")),
            Sym::Node(_, at) => at,
        };
        if let Some(value) = made.get(&at) {
            return Ok(*value);
        }
        let Some((node, place, _)) = self.node() else { return Err(Error::invalid("a gradient", at, "a node")) };
        let with_scalar = |x: f64| Attrs::from([("scalar", x.to_string())]);
        let value = match node {
            Node::Value(value) => value,
            Node::Unary { name, x, .. } => {
                let x = x.make(scope, made)?;
                scope.call_one(name, &[x])?
            }
            Node::Binary { names, a, b: Number(b), .. } => {
                let a = a.make(scope, made)?;
                scope.call(names.scalar, with_scalar(b), &[a])?[0]
            }
            Node::Binary { names, a: Number(a), b, .. } => {
                let b = b.make(scope, made)?;
                scope.call(names.reversed, with_scalar(a), &[b])?[0]
            }
            Node::Binary { names, a, b, .. } => {
                let is_in = |x: Sym<'a>| x.node().is_some_and(|(_, of, _)| of == place);
                let name = if is_in(a) && is_in(b) { names.pair } else { names.broadcast };
                let (a, b) = (a.make(scope, made)?, b.make(scope, made)?);
                scope.call_one(name, &[a, b])?
            }
            Node::Choice { condition, yes, no } => {
                // A choice between numbers is computed from the condition, which is 1 or 0: `no + (yes - no) · condition`.
                let blended = match (yes, no) {
                    (Number(yes), Number(no)) => Number(no) + Number(yes - no) * condition,
                    _ => condition * yes + (Number(1.0) - condition) * no,
                };
                blended.make(scope, made)?
            }
        };
        made.insert(at, value);
        Ok(value)
    }
}

impl Add for Sym<'_> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        match (self, other) {
            (a, b) if a.is(0.0) => b,
            (a, b) if b.is(0.0) => a,
            (a, b) => a.binary::<Plus>(b),
        }
    }
}

impl Sub for Sym<'_> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        match (self, other) {
            (a, b) if b.is(0.0) => a,
            (a, b) if a.is(0.0) => -b,
            (a, b) => a.binary::<Minus>(b),
        }
    }
}

impl Mul for Sym<'_> {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        match (self, other) {
            (a, b) if a.is(0.0) || b.is(0.0) => Number(0.0),
            (a, b) if a.is(1.0) => b,
            (a, b) if b.is(1.0) => a,
            (a, b) if a.is(-1.0) => -b,
            (a, b) if b.is(-1.0) => -a,
            (a, b) => a.binary::<Times>(b),
        }
    }
}

impl Div for Sym<'_> {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        match (self, other) {
            (a, _) if a.is(0.0) => a,
            (a, b) if b.is(1.0) => a,
            (a, b) => a.binary::<Over>(b),
        }
    }
}

impl Neg for Sym<'_> {
    type Output = Self;
    fn neg(self) -> Self {
        self.unary::<unary::Negative>()
    }
}

/// Implements [`Real`] by nodes: each function of one number is an operator of the table.
macro_rules! real_by_calls {
    ($($name:ident: $function:ident),* $(,)?) => {
        impl Real for Sym<'_> {
            fn of(value: f64) -> Self {
                Number(value)
            }
            $(fn $name(self) -> Self {
                self.unary::<unary::$function>()
            })*
            fn digamma(self) -> Self {
                Missing("gamma or gammaln")
            }
            fn powf(self, exponent: Self) -> Self {
                if exponent.is(1.0) { self } else { self.binary::<Power>(exponent) }
            }
            fn hypot(self, other: Self) -> Self {
                self.binary::<Hypot>(other)
            }
            fn modulo(self, divisor: Self) -> Self {
                self.binary::<Modulo>(divisor)
            }
            fn larger(self, other: Self) -> Self {
                self.binary::<Maximum>(other)
            }
            fn smaller(self, other: Self) -> Self {
                self.binary::<Minimum>(other)
            }
            fn equals(self, other: Self) -> Self {
                self.binary::<Equal>(other)
            }
            fn exceeds(self, other: Self) -> Self {
                self.binary::<Greater>(other)
            }
            fn reaches(self, other: Self) -> Self {
                self.binary::<GreaterEqual>(other)
            }
            fn choose(self, yes: Self, no: Self) -> Self {
                match (self, yes, no) {
                    (_, Number(yes), Number(no)) if yes == no => Number(no),
                    (Number(condition), yes, no) => if condition != 0.0 { yes } else { no },
                    (Sym::Node(nodes, _), ..) => {
                        let place = self.node().map_or(Place::Out, |(_, place, _)| place);
                        nodes.add(Node::Choice { condition: self, yes, no }, place)
                    }
                    (missing, ..) => missing,
                }
            }
            // Expressions are differentiated, and NaN has no derivative.
            fn or_nan_of(self, _: Self) -> Self {
                self
            }
        }
    };
}

real_by_calls! {
    exp: Exp, exp_m1: ExpM1, ln: Log, ln_1p: Log1p, log2: Log2, log10: Log10, sqrt: Sqrt, cbrt: Cbrt, sin: Sin, cos: Cos,
    tan: Tan, asin: ArcSin, acos: ArcCos, atan: ArcTan, sinh: Sinh, cosh: Cosh, tanh: Tanh, asinh: ArcSinh, acosh: ArcCosh,
    atanh: ArcTanh, sigmoid: Sigmoid, erf: Erf, erf_inv: ErfInv, gamma: Gamma, ln_gamma: GammaLn, abs: Abs, sign: Sign,
    floor: Floor, ceil: Ceil, trunc: Trunc, round: Round, rint: Rint, not: LogicalNot,
}
