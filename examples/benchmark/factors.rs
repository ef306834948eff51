//! The products that are timed: A², A·P and R·A·P with R = Pᵀ.
use crate::Outcome;
use crate::aggregation::{companion, suits};
use crate::rows::Rows;
use clap::ValueEnum;
use oplus::prelude::*;

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A·A
    A2,
    /// A·P
    Ap,
    /// Pᵀ·A·P
    Ptap,
}
impl Kind {
    pub(crate) fn name(self) -> &'static str {
        ["a2", "ap", "ptap"][self as usize]
    }
}

/// Matrices, wherever they are, and how they are multiplied.
#[derive(Clone, Debug)]
pub(crate) enum Factors<M> {
    Square(M),
    Two(M, M),
    /// R, A, P: R·(A·P).
    Three(M, M, M),
}
impl<M> Factors<M> {
    pub(crate) fn map<N, E>(&self, f: impl Fn(&M) -> Result<N, E>) -> Result<Factors<N>, E> {
        Ok(match self {
            Factors::Square(a) => Factors::Square(f(a)?),
            Factors::Two(a, b) => Factors::Two(f(a)?, f(b)?),
            Factors::Three(r, a, p) => Factors::Three(f(r)?, f(a)?, f(p)?),
        })
    }
    /// The factors of the first product that is computed.
    pub(crate) fn first(&self) -> (&M, &M) {
        match self {
            Factors::Square(a) => (a, a),
            Factors::Two(a, b) | Factors::Three(_, a, b) => (a, b),
        }
    }
}

/// A matrix and its companion, where some product asks for one.
pub(crate) struct Family {
    a: Rows,
    companion: Option<(Rows, Rows)>,
}
impl Family {
    /// Nothing for a matrix that cannot be multiplied by itself.
    pub(crate) fn new(coo: &Coo<f64>, kinds: &[Kind]) -> Outcome<Option<Self>> {
        if coo.nrows != coo.ncols || coo.nrows == 0 {
            return Ok(None);
        }
        let a = Rows::of(coo)?;
        let wanted = kinds.iter().any(|k| *k != Kind::A2) && suits(&a);
        let companion = wanted.then(|| companion(&a)).map(|p| (p.transposed(), p));
        Ok(Some(Self { a, companion }))
    }
    /// Nothing where the matrix has no companion.
    pub(crate) fn factors(&self, kind: Kind) -> Option<Factors<&Rows>> {
        match (kind, &self.companion) {
            (Kind::A2, _) => Some(Factors::Square(&self.a)),
            (Kind::Ap, Some((_, p))) => Some(Factors::Two(&self.a, p)),
            (Kind::Ptap, Some((r, p))) => Some(Factors::Three(r, &self.a, p)),
            (_, None) => None,
        }
    }
}

/// A product of given structure, to be run again and again.
pub(crate) type Planned<T, S> = Box<dyn Fn() -> Result<Matrix<T, S>>>;

impl<T: Scalar, S: Semiring<T, T, Out = T>> Factors<Matrix<T, S>> {
    /// The product, each of two by the strategy where there are three factors.
    pub(crate) fn eval(&self, strategy: Strategy) -> Result<Matrix<T, S>> {
        match self {
            Factors::Square(a) => mxm(a, a).strategy(strategy).eval(),
            Factors::Two(a, b) => mxm(a, b).strategy(strategy).eval(),
            Factors::Three(r, a, p) => match strategy {
                Strategy::Auto => triple_product(r, a, p).eval(),
                named => mxm(r, &mxm(a, p).strategy(named).eval()?).strategy(named).eval(),
            },
        }
    }
    /// The positions found, the values alone left to compute.
    pub(crate) fn plan(&self) -> Result<Planned<T, S>> {
        Ok(match self.clone() {
            Factors::Square(a) => {
                let plan = mxm(&a, &a).plan()?;
                Box::new(move || plan.run(&a, &a))
            }
            Factors::Two(a, b) => {
                let plan = mxm(&a, &b).plan()?;
                Box::new(move || plan.run(&a, &b))
            }
            Factors::Three(r, a, p) => {
                let plan = triple_product(&r, &a, &p).plan()?;
                Box::new(move || plan.run(&r, &a, &p))
            }
        })
    }
}

impl<T: Scalar, S> Factors<Matrix<T, S>> {
    /// Under another semiring.
    pub(crate) fn over<R>(&self) -> Factors<Matrix<T, R>> {
        match self {
            Factors::Square(a) => Factors::Square(a.over()),
            Factors::Two(a, b) => Factors::Two(a.over(), b.over()),
            Factors::Three(r, a, p) => Factors::Three(r.over(), a.over(), p.over()),
        }
    }
}
