//! A semiring as a value. A product is asked for with the semiring's type; every function between there and the inner
//! loops takes one of these tables instead, and is compiled once for the scalars.
use super::cpu::{self, MxmKernels, MxvKernels, VxmKernels};
use super::untyped::UntypedCsr;
use super::{MaskBody, MaskOn, MxmOptions, Positions, reference};
use crate::algebra::scalar::{as_bytes, from_bytes, same};
use crate::algebra::semiring::{SemiringParts, monoid_text};
use crate::algebra::*;
use crate::device::Device;
use crate::error::Result;
use crate::precompiled::{Doors, door};
use crate::spgemm::Analysis;
use crate::storage::pattern::Pattern;
use oplus_codegen::{FunctionText, SemiringText, Shared};
use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

/// ⊗ and ⊕ one product at a time: for what is not in a loop, and for the oracle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operators<A, B, C> {
    pub(crate) reads: Reads,
    pub(crate) multiply: fn(A, B, At) -> C,
    pub(crate) add: fn(C, C) -> C,
}

impl<A: Scalar, B: Scalar, C: Scalar> Operators<A, B, C> {
    /// Of products that all are x ⊗ y = p: p, and whether p ⊕ p = p to the bit; none where they are of positions.
    fn equals(&self, x: A, y: B) -> Option<(C, bool)> {
        if self.reads.position {
            return None;
        }
        let product = (self.multiply)(x, y, At::default());
        Some((product, same((self.add)(product, product), product)))
    }
    /// Their sum, where that is known before: p.
    pub(crate) fn sum_of_equals(&self, x: A, y: B) -> Option<C> {
        self.equals(x, y).and_then(|(product, kept)| kept.then_some(product))
    }
}

/// Products that all are the same.
#[derive(Debug)]
#[cfg_attr(not(feature = "cuda"), allow(dead_code))]
pub(crate) struct Equals {
    /// The bytes of each.
    pub(crate) product: Vec<u8>,
    /// Whether their sum is that as well, however many they are.
    pub(crate) kept: bool,
}
impl Equals {
    /// The bytes of all sums, where they are the same.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code))]
    pub(crate) fn sum(&self) -> Option<&[u8]> {
        self.kept.then_some(&self.product)
    }
}

/// What the backends need of a semiring over these scalars; `K` are the CPU's loops for one operation.
pub(crate) struct Ring<A, B, C, K> {
    /// What a kernel for CUDA is generated from.
    pub(crate) text: SemiringParts,
    pub(crate) operators: Operators<A, B, C>,
    pub(crate) cpu: K,
}
impl<A, B, C, K> Debug for Ring<A, B, C, K> {
    // That of its functions would be compiled for every scalar, and says nothing.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ring")
    }
}
pub(crate) type MxmRing<A, B, C> = Ring<A, B, C, MxmKernels<A, B, C>>;
pub(crate) type MxvRing<A, X, C> = Ring<A, X, C, MxvKernels<A, X, C>>;
pub(crate) type VxmRing<X, A, C> = Ring<X, A, C, VxmKernels<X, A, C>>;

/// The tables of the semiring S over A and B: one for each operation, so that only what is called is compiled.
pub(crate) struct Of<A, B, S>(PhantomData<(A, B, S)>);

impl<A: Scalar, B: Scalar, S: Semiring<A, B>> Of<A, B, S> {
    const OPERATORS: Operators<A, B, S::Out> = Operators {
        reads: <S::Multiply as Multiply<A, B>>::READS,
        multiply: <S::Multiply as Multiply<A, B>>::multiply,
        add: <S::Add as BinaryOp<S::Out, S::Out>>::apply,
    };
    pub(crate) const MXM: &'static MxmRing<A, B, S::Out> =
        &Ring { text: SemiringParts::of::<A, B, S>(), operators: Self::OPERATORS, cpu: MxmKernels::of::<S>() };
    pub(crate) const MXV: &'static MxvRing<A, B, S::Out> =
        &Ring { text: SemiringParts::of::<A, B, S>(), operators: Self::OPERATORS, cpu: MxvKernels::of::<S>() };
    pub(crate) const VXM: &'static VxmRing<A, B, S::Out> =
        &Ring { text: SemiringParts::of::<A, B, S>(), operators: Self::OPERATORS, cpu: VxmKernels::of::<S>() };
}

/// Which product a table computes.
#[cfg_attr(not(feature = "cuda"), allow(dead_code))]
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// T⟨M⟩ = A ⊕.⊗ B: an entry exactly where a product exists and the mask admits it.
    Mxm,
    /// t⟨m⟩ = A ⊕.⊗ x: the rows of A pull; x and t are single rows.
    Mxv,
    /// t⟨m⟩ = xᵀ ⊕.⊗ A: the entries of x push along the rows of A.
    Vxm,
}

/// The operands of a product in host memory.
pub(crate) struct HostOperands<'a> {
    pub(crate) a: &'a UntypedCsr,
    pub(crate) b: &'a UntypedCsr,
    pub(crate) mask: Option<&'a MaskBody>,
    pub(crate) at: &'a Positions,
    pub(crate) options: &'a MxmOptions,
}
impl HostOperands<'_> {
    /// The mask as a list.
    fn listed(&self) -> Result<Option<&MaskOn<Arc<Pattern>>>> {
        self.mask.map(MaskBody::on_host).transpose()
    }
    /// Whether all of this vector meets a matrix on the CPU.
    fn is_full(&self, device: Device, vector: &UntypedCsr) -> bool {
        let pattern = vector.pattern();
        device != Device::Reference && self.mask.is_none() && pattern.nnz() == pattern.ncols
    }
}

/// A table of any scalars.
pub(crate) trait AnyRing: Debug + Sync {
    #[cfg_attr(not(feature = "cuda"), allow(dead_code))]
    fn step(&self) -> Step;
    #[cfg_attr(not(feature = "cuda"), allow(dead_code))]
    fn text(&self) -> Shared<SemiringText>;
    /// Whether it looks at the values of its left and of its right operand.
    fn reads(&self) -> (bool, bool);
    /// What all products of matrices are, where it is known before: by what all entries of an operand are, if they are the same.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code))]
    fn foreseen(&self, a: Option<&[u8]>, b: Option<&[u8]>) -> Result<Option<Equals>>;
    /// By the CPU or the reference.
    fn on_host(&self, device: Device, o: &HostOperands) -> Result<UntypedCsr>;
    /// The positions of a product of matrices.
    fn positions(&self, device: Device, o: &HostOperands) -> Result<Arc<Pattern>>;
    /// A product of matrices at its positions.
    fn at_positions(&self, device: Device, o: &HostOperands, c: &Arc<Pattern>) -> Result<UntypedCsr>;
    /// What that will do.
    fn explain(&self, device: Device, o: &HostOperands) -> Result<Analysis>;
}
macro_rules! any_ring { ($($ring:ident $step:ident $function:ident;)*) => {$(
    impl<A: Scalar, B: Scalar, C: Scalar> $ring<A, B, C> {
        pub(crate) const DOORS: Doors<Self> = Doors {
            on_host: Self::computed,
            at_positions: Self::computed_at,
            explain: Self::explained,
            foreseen: Self::foretold,
        };
        fn computed(&self, device: Device, o: &HostOperands) -> Result<UntypedCsr> {
            if let Some(made) = any_ring!(@shared $step self device o A B) {
                return Ok(made);
            }
            let (a, b) = any_ring!(@operands $step device o A B);
            let made = match device {
                Device::Reference => reference::$function(&self.operators, &a, &b, o.listed()?, o.at, o.options)?,
                _ => any_ring!(@cpu $step $function self o a b)?,
            };
            Ok(made.into())
        }
        fn computed_at(&self, device: Device, o: &HostOperands, c: &Arc<Pattern>) -> Result<UntypedCsr> {
            any_ring!(@numeric $step self device o c A B C)
        }
        fn foretold(&self, a: Option<&[u8]>, b: Option<&[u8]>) -> Result<Option<Equals>> {
            fn one<T: Scalar>(bytes: Option<&[u8]>, read: bool) -> Result<Option<T>> {
                match bytes {
                    Some(bytes) => Ok(from_bytes("mxm", bytes)?.first().copied()),
                    None if read => Ok(None),
                    None => Ok(Some(T::zeroed())),
                }
            }
            if !matches!(self.step(), Step::Mxm) {
                return Ok(None);
            }
            let reads = self.operators.reads;
            let (Some(x), Some(y)) = (one::<A>(a, reads.a)?, one::<B>(b, reads.b)?) else { return Ok(None) };
            let equals = self.operators.equals(x, y);
            Ok(equals.map(|(product, kept)| Equals { product: as_bytes(&[product]).to_vec(), kept }))
        }
        fn explained(&self, device: Device, o: &HostOperands) -> Result<Analysis> {
            any_ring!(@explain $step self device o A B C)
        }
    }
    impl<A: Scalar, B: Scalar, C: Scalar> AnyRing for $ring<A, B, C> {
        fn step(&self) -> Step {
            Step::$step
        }
        fn text(&self) -> Shared<SemiringText> {
            self.text.shared()
        }
        fn reads(&self) -> (bool, bool) {
            (self.operators.reads.a, self.operators.reads.b)
        }
        fn foreseen(&self, a: Option<&[u8]>, b: Option<&[u8]>) -> Result<Option<Equals>> {
            door!($step A B C foreseen(self, a, b))
        }
        fn on_host(&self, device: Device, o: &HostOperands) -> Result<UntypedCsr> {
            door!($step A B C on_host(self, device, o))
        }
        fn explain(&self, device: Device, o: &HostOperands) -> Result<Analysis> {
            door!($step A B C explain(self, device, o))
        }
        fn positions(&self, device: Device, o: &HostOperands) -> Result<Arc<Pattern>> {
            match device {
                Device::Reference => Ok(self.on_host(device, o)?.pattern().clone()),
                _ => cpu::positions(o.a.pattern(), o.b.pattern(), o.listed()?, size_of::<C>(), o.options),
            }
        }
        fn at_positions(&self, device: Device, o: &HostOperands, c: &Arc<Pattern>) -> Result<UntypedCsr> {
            door!($step A B C at_positions(self, device, o, c))
        }
    }
)*};
    // What needs no value for each entry of a matrix of one value.
    (@shared Mxm $self:ident $device:ident $o:ident $A:ident $B:ident) => {
        match $device {
            Device::Reference => None,
            _ => {
                let (a, b) = ($o.a.shared::<$A>()?, $o.b.shared::<$B>()?);
                match cpu::mxm_iso($self, &a, &b, $o.mask, $o.options)? {
                    Some((pattern, value)) => Some(UntypedCsr::iso(pattern, value)),
                    None => cpu::mxm_bools($self, &a, &b, $o.mask, $o.options)?.map(UntypedCsr::from),
                }
            }
        }
    };
    (@shared $step:ident $self:ident $device:ident $o:ident $A:ident $B:ident) => { None };
    // A matrix that meets a full vector may have one value for all its entries.
    (@operands Mxv $device:ident $o:ident $A:ident $B:ident) => {
        match $o.is_full($device, $o.b) {
            true => ($o.a.shared::<$A>()?, $o.b.typed::<$B>()?),
            false => any_ring!(@operands Mxm $device $o $A $B),
        }
    };
    (@operands Vxm $device:ident $o:ident $A:ident $B:ident) => {
        match $o.is_full($device, $o.a) {
            true => ($o.a.typed::<$A>()?, $o.b.shared::<$B>()?),
            false => any_ring!(@operands Mxm $device $o $A $B),
        }
    };
    (@operands Mxm $device:ident $o:ident $A:ident $B:ident) => { ($o.a.typed::<$A>()?, $o.b.typed::<$B>()?) };
    (@cpu Mxm $function:ident $self:ident $o:ident $a:ident $b:ident) => {
        match cpu::mxm_looked_up($self, &$a, &$b, $o.mask, $o.at, $o.options)? {
            Some(made) => Ok(made),
            None => cpu::$function($self, &$a, &$b, $o.listed()?, $o.at, $o.options),
        }
    };
    (@cpu $step:ident $function:ident $self:ident $o:ident $a:ident $b:ident) => {
        cpu::$function($self, &$a, &$b, $o.listed()?, $o.at, $o.options)
    };
    (@explain Mxm $self:ident $device:ident $o:ident $A:ident $B:ident $C:ident) => {
        cpu::explain_mxm($self, $device, &$o.a.typed::<$A>()?, &$o.b.typed::<$B>()?, $o.mask, $o.options)
    };
    (@numeric Mxm $self:ident $device:ident $o:ident $c:ident $A:ident $B:ident $C:ident) => {
        match $device {
            Device::Reference => Ok($self.computed($device, $o)?.typed::<$C>()?.at_pattern($c).into()),
            _ => {
                let (a, b) = ($o.a.typed::<$A>()?, $o.b.typed::<$B>()?);
                Ok(cpu::at_positions($self, &a, &b, $o.listed()?, $o.at, $o.options, $c)?.into())
            }
        }
    };
    (@numeric $step:ident $self:ident $device:ident $o:ident $c:ident $A:ident $B:ident $C:ident) => {
        Ok($self.computed($device, $o)?.typed::<$C>()?.at_pattern($c).into())
    };
    (@explain $step:ident $self:ident $device:ident $o:ident $A:ident $B:ident $C:ident) => {{
        let operands: (&Pattern, &Pattern) = ($o.a.pattern(), $o.b.pattern());
        let by_columns = $device != Device::Reference && $o.mask.is_none() && any_ring!(@columns $step $self operands);
        cpu::explain_vector($device, Step::$step, operands, $o.listed()?, size_of::<$C>(), by_columns)
    }};
    (@columns Vxm $self:ident $operands:ident) => { $self.cpu.takes_columns($operands.0, $operands.1) };
    (@columns $step:ident $self:ident $operands:ident) => { false };
}
any_ring! {
    MxmRing Mxm mxm;
    MxvRing Mxv mxv;
    VxmRing Vxm vxm;
}

impl<A: Scalar, B: Scalar, C: Scalar> MxmRing<A, B, C> {
    /// ⊕ of all entries of a product that is not stored; `None` where it has none.
    pub(crate) fn reduced(&self, device: Device, o: &HostOperands, fold: &Fold<C>) -> Result<Option<C>> {
        let (a, b) = (o.a.typed()?, o.b.typed()?);
        match device {
            Device::Reference => {
                Ok((fold.all)(&reference::mxm(&self.operators, &a, &b, o.listed()?, o.at, o.options)?.values))
            }
            _ => cpu::mxm_reduce(self, fold, &a, &b, o.listed()?, o.at, o.options),
        }
    }
}

/// A monoid as a value: what a product that is not stored is folded by.
#[derive(Debug)]
pub(crate) struct Fold<T> {
    /// What a kernel for CUDA is generated from, but for the name.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code))]
    pub(crate) text: fn(&'static str) -> Shared<FunctionText>,
    pub(crate) two: fn(T, T) -> T,
    /// Whether sums may be grouped at will, to the bit.
    pub(crate) free: bool,
    /// ⊕ of some values in order; `None` where there are none.
    pub(crate) all: fn(&[T]) -> Option<T>,
}

impl<T: Scalar> Fold<T> {
    pub(crate) fn by<M: Monoid<T>>() -> Self {
        let all = |values: &[T]| values.iter().copied().reduce(M::apply);
        Fold { text: monoid_text::<T, M>, two: M::apply, free: cpu::groups_at_will::<T, M>(), all }
    }
}
