//! Every operation of every kind of lanes against its definition.
use super::*;
use crate::generate::Random;

type Lanes = [u32; 16];

struct Check<S: Sixteen>(S);

impl<S: Sixteen> Check<S> {
    fn of(&self, v: Lanes) -> S::V {
        // SAFETY: sixteen are there.
        unsafe { self.0.load(v.as_ptr()) }
    }
    fn lanes(&self, v: S::V) -> Lanes {
        let mut to = [0; 16];
        // SAFETY: there is room for sixteen.
        unsafe { self.0.store(to.as_mut_ptr(), v) };
        to
    }
    fn same(&self, v: S::V, expected: impl Fn(usize) -> u32) {
        assert_eq!(self.lanes(v), std::array::from_fn::<u32, 16, _>(expected), "{:?}", self.0);
    }

    fn arithmetic(&self, a: Lanes, b: Lanes) {
        let (s, v, w) = (self.0, self.of(a), self.of(b));
        self.same(s.splat(a[0]), |_| a[0]);
        self.same(s.numbers(), |l| l as u32);
        self.same(s.add(v, w), |l| a[l].wrapping_add(b[l]));
        self.same(s.sub(v, w), |l| a[l].wrapping_sub(b[l]));
        self.same(s.or(v, w), |l| a[l] | b[l]);
        self.same(s.shl::<6>(v), |l| a[l] << 6);
        self.same(s.shr::<6>(v), |l| a[l] >> 6);
        self.same(s.bit(w), |l| 1u32.checked_shl(b[l]).unwrap_or(0));
        self.same(s.shr_by(v, w), |l| a[l] >> (b[l] % 32));
        self.same(s.min(v, w), |l| a[l].min(b[l]));
        self.same(s.max(v, w), |l| a[l].max(b[l]));
        assert_eq!(s.united(v), a.iter().fold(0, |all, x| all | x));
        self.same(s.previous(v, w), |l| if l == 0 { b[15] } else { a[l - 1] });
    }

    fn masks(&self, a: Lanes, b: Lanes, n: usize) {
        let (s, v, w) = (self.0, self.of(a), self.of(b));
        let bits = |is: &dyn Fn(usize) -> bool| (0..16).fold(0u16, |bits, l| bits | u16::from(is(l)) << l);
        assert_eq!(s.bits(s.first(n)), bits(&|l| l < n));
        assert_eq!(s.bits(s.none()), 0);
        assert_eq!(s.bits(s.equal(v, w)), bits(&|l| a[l] == b[l]));
        assert_eq!(s.bits(s.odd(v)), bits(&|l| a[l] & 1 == 1));
        let (x, y) = (s.odd(v), s.first(n));
        assert_eq!(s.bits(s.both(x, y)), bits(&|l| a[l] & 1 == 1 && l < n));
        assert_eq!(s.bits(s.either(x, y)), bits(&|l| a[l] & 1 == 1 || l < n));
        assert_eq!(s.bits(s.without(x, y)), bits(&|l| a[l] & 1 == 1 && l >= n));
        self.same(s.select(x, v, w), |l| if a[l] & 1 == 1 { b[l] } else { a[l] });
        let set = s.bits(x);
        self.same(s.counted(set), |l| (set & (u16::MAX >> (15 - l))).count_ones());
        // SAFETY: room for sixteen; n of them are read.
        unsafe {
            let mut kept = [0; 16];
            s.store_kept(kept.as_mut_ptr(), set, v);
            let expected: Vec<u32> = a.into_iter().filter(|x| x & 1 == 1).collect();
            assert_eq!(kept[..expected.len()], expected);
            let few = a[..n.min(16)].to_vec();
            self.same(s.load_some(s.first(n), few.as_ptr()), |l| few.get(l).copied().unwrap_or(0));
        }
    }

    fn picked(&self, all: &[u32; 64], at: Lanes) {
        let s = self.0;
        let v = self.of(at);
        // SAFETY: 64 numbers are there.
        unsafe {
            self.same(s.pick::<1>(s.table::<1>(all.as_ptr()), v), |l| all[at[l] as usize % 16]);
            self.same(s.pick::<2>(s.table::<2>(all.as_ptr()), v), |l| all[at[l] as usize % 32]);
            self.same(s.pick::<4>(s.table::<4>(all.as_ptr()), v), |l| all[at[l] as usize % 64]);
            let (few, places) = (s.first(11), self.of(at.map(|x| x % 64)));
            self.same(s.gather(few, all.as_ptr(), places), |l| if l < 11 { all[at[l] as usize % 64] } else { 0 });
            let (a, b) = (s.load(all.as_ptr()), s.load(all[16..].as_ptr()));
            self.same(s.pick_lane(a, v), |l| all[at[l] as usize % 16]);
            self.same(s.pick_of_two(a, b, v), |l| all[at[l] as usize % 32]);
        }
    }

    fn moved(&self, a: Lanes, b: Lanes) {
        let (s, v, w) = (self.0, self.of(a), self.of(b));
        let upper = |bit: usize| move |l: usize| if l & bit > 0 { a[l].max(b[l]) } else { a[l].min(b[l]) };
        self.same(s.exchange::<1>(v, w), upper(1));
        self.same(s.exchange::<2>(v, w), upper(2));
        self.same(s.exchange::<4>(v, w), upper(4));
        self.same(s.exchange::<8>(v, w), upper(8));
        self.same(s.fours::<0x4E>(v), |l| a[l ^ 2]);
        self.same(s.fours::<0xB1>(v), |l| a[l ^ 1]);
        self.same(s.fours::<0x1B>(v), |l| a[l ^ 3]);
        self.same(s.swap_fours(v), |l| a[l ^ 4]);
        self.same(s.swap_eights(v), |l| a[l ^ 8]);
        self.same(s.reverse_eights(v), |l| a[l ^ 7]);
        self.same(s.reverse(v), |l| a[l ^ 15]);
    }

    fn everything(&self) {
        let mut random = Random::new(3, 0);
        for round in 0..400 {
            let bound = [3, 40, 1 << 32][round % 3];
            let mut some = || std::array::from_fn(|_| random.below(bound) as u32);
            let (a, b) = (some(), some());
            self.arithmetic(a, b);
            self.masks(a, b, round % 20);
            self.moved(a, b);
            self.picked(&std::array::from_fn(|n| (n * n) as u32), a);
        }
    }
}

#[test]
fn lanes_do_what_is_said() {
    for simd in Simd::all() {
        match simd {
            Simd::Avx512(s) => Check(s).everything(),
            Simd::Avx2(s) => Check(s).everything(),
        }
    }
}
