//! A small seeded generator of random numbers, the same on every machine and for every number of threads.

/// xoshiro256++ (Blackman, Vigna, 2019, 10.1145/3460772), seeded by SplitMix64.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Random {
    /// Numbered streams of one seed are independent: a chunk of work takes the stream of its number. O(1).
    /// ```
    /// use oplus::generate::Random;
    /// let (mut one, mut same) = (Random::new(7, 0), Random::new(7, 0));
    /// assert_eq!(one.bits(), same.bits());
    /// assert!(one.below(6) < 6 && (0.0..1.0).contains(&one.unit()));
    /// ```
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut mixed = seed;
        let mut state = split_mix(&mut mixed) ^ stream.wrapping_mul(0xd134_2543_de82_ef95);
        Self { state: std::array::from_fn(|_| split_mix(&mut state)) }
    }
    /// 64 random bits. O(1).
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }
    /// Uniform in [0, n); 0 where n is 0. The bias is below n / 2⁶⁴. O(1).
    pub fn below(&mut self, n: u64) -> u64 {
        ((self.bits() as u128 * n as u128) >> 64) as u64
    }
    /// Uniform in [0, 1), a multiple of 2⁻⁵³. O(1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (0.5f64).powi(53)
    }
}
