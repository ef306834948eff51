//! What a sum can start from: the neutral elements that are so to the bit.
use crate::algebra::*;
use std::any::TypeId;

/// What a sum can start from so that adding to it leaves x to the bit.
enum Neutral {
    Identity,
    Float(f64),
    /// Of both parts of a complex number.
    Parts(f64),
}

/// The neutral element by scalar and monoid, and whether sums may be grouped at will to the bit.
fn known(t: TypeId, m: TypeId) -> Option<(Neutral, bool)> {
    let whole = [
        TypeId::of::<bool>(),
        TypeId::of::<u8>(),
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<i8>(),
        TypeId::of::<i16>(),
        TypeId::of::<i32>(),
        TypeId::of::<i64>(),
    ];
    let built_in = [
        TypeId::of::<Plus>(),
        TypeId::of::<Times>(),
        TypeId::of::<Min>(),
        TypeId::of::<Max>(),
        TypeId::of::<Lor>(),
        TypeId::of::<Land>(),
        TypeId::of::<Lxor>(),
        TypeId::of::<Lxnor>(),
        TypeId::of::<Bor>(),
        TypeId::of::<Band>(),
        TypeId::of::<Bxor>(),
        TypeId::of::<Bxnor>(),
    ];
    if whole.contains(&t) && built_in.contains(&m) {
        return Some((Neutral::Identity, true));
    }
    let complex = t == TypeId::of::<c32>() || t == TypeId::of::<c64>();
    if t != TypeId::of::<f32>() && t != TypeId::of::<f64>() && !complex {
        return None;
    }
    // Only −0 + x is x for both zeros, only NaN leaves NaN to a minimum that omits it.
    if m == TypeId::of::<Plus>() {
        Some((if complex { Neutral::Parts(-0.0) } else { Neutral::Float(-0.0) }, false))
    } else if complex {
        None
    } else if m == TypeId::of::<Min>() || m == TypeId::of::<Max>() {
        Some((Neutral::Float(f64::NAN), true))
    } else {
        None
    }
}

/// e with e ⊕ x = x to the bit, and whether sums may be grouped at will to the bit.
pub(super) fn neutral<T: Scalar, M: Monoid<T>>() -> Option<(T, bool)> {
    let (neutral, free) = known(TypeId::of::<T>(), TypeId::of::<M>())?;
    let mut e = M::identity();
    if !matches!(neutral, Neutral::Identity) {
        // SAFETY: T is made of f32 or f64 as the type said: its bytes, no padding, every pattern of bits is one.
        put(neutral, unsafe { std::slice::from_raw_parts_mut((&mut e as *mut T).cast::<u8>(), size_of::<T>()) });
    }
    Some((e, free))
}

/// Whether sums may be grouped at will, to the bit.
pub(crate) fn groups_at_will<T: Scalar, M: Monoid<T>>() -> bool {
    known(TypeId::of::<T>(), TypeId::of::<M>()).is_some_and(|(_, free)| free)
}

/// Writes it, of whatever scalar: compiled once.
fn put(neutral: Neutral, bytes: &mut [u8]) {
    let (value, parts) = match neutral {
        Neutral::Identity => return,
        Neutral::Float(value) => (value, 1),
        Neutral::Parts(value) => (value, 2),
    };
    for part in bytes.chunks_exact_mut(bytes.len() / parts) {
        match part.len() {
            4 => part.copy_from_slice(&(value as f32).to_ne_bytes()),
            _ => part.copy_from_slice(&value.to_ne_bytes()),
        }
    }
}
