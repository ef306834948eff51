//! Comparisons and logic whose result, 0 or 1, is of the operands' own type; arithmetic with its operands exchanged.
use crate::algebra::scalar::{Arithmetic, Comparable, Flag};
use crate::{operator, unary_operator};

operator! { /// x = y as 1 or 0 (SuiteSparse ISEQ).
pub IsEq[T: Flag](T, T) -> T = |x, y| is_eq(x, y) }
operator! { /// x ≠ y as 1 or 0 (SuiteSparse ISNE).
pub IsNe[T: Flag](T, T) -> T = |x, y| is_ne(x, y) }
operator! { /// x > y as 1 or 0 (SuiteSparse ISGT).
pub IsGt[T: Comparable](T, T) -> T = |x, y| is_gt(x, y) }
operator! { /// x < y as 1 or 0 (SuiteSparse ISLT).
pub IsLt[T: Comparable](T, T) -> T = |x, y| is_lt(x, y) }
operator! { /// x ≥ y as 1 or 0 (SuiteSparse ISGE).
pub IsGe[T: Comparable](T, T) -> T = |x, y| is_ge(x, y) }
operator! { /// x ≤ y as 1 or 0 (SuiteSparse ISLE).
pub IsLe[T: Comparable](T, T) -> T = |x, y| is_le(x, y) }
operator! { /// x ≠ 0 ∨ y ≠ 0 as 1 or 0 (SuiteSparse LOR of a type that is not bool).
pub IsLor[T: Flag](T, T) -> T = |x, y| is_lor(x, y) }
operator! { /// x ≠ 0 ∧ y ≠ 0 as 1 or 0 (SuiteSparse LAND of a type that is not bool).
pub IsLand[T: Flag](T, T) -> T = |x, y| is_land(x, y) }
operator! { /// x ≠ 0 ⊻ y ≠ 0 as 1 or 0 (SuiteSparse LXOR of a type that is not bool).
pub IsLxor[T: Flag](T, T) -> T = |x, y| is_lxor(x, y) }
unary_operator! { /// x = 0 as 1 or 0 (SuiteSparse LNOT of a type that is not bool); NaN is not 0.
pub IsZero[T: Flag](T) -> T = |x| is_zero(x) }
operator! { /// y − x; integers wrap (SuiteSparse RMINUS).
pub Rminus[T: Arithmetic](T, T) -> T = |x, y| sub(y, x) }
operator! { /// y / x, with [`Div`](crate::algebra::Div)'s rules (SuiteSparse RDIV).
pub Rdiv[T: Arithmetic](T, T) -> T = |x, y| div(y, x) }
