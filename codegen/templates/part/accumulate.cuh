// Sums under the semiring's ⊕ that several threads add to, in shared memory and in the device's.
//
// A sum starts from its first term: the identity a semiring states need not be exact (0 + -0, max with NaN), so a sum is
// pre-set only for the native kinds, with a value that changes no term; all others keep a mark of the first term.
#include "block/team.cuh"
#include "thread/foremost.cuh"

namespace oplus {

template <class T> struct IsNumber {
  static constexpr bool value = SameType<T, u8>::value || SameType<T, u16>::value || SameType<T, u32>::value ||
                                SameType<T, u64>::value || SameType<T, i8>::value || SameType<T, i16>::value ||
                                SameType<T, i32>::value || SameType<T, i64>::value || SameType<T, f32>::value ||
                                SameType<T, f64>::value || SameType<T, f16>::value || SameType<T, bf16>::value;
};
template <class P> struct IsNumber<Complex<P>> {
  static constexpr bool value = true;
};

template <class T> struct IsComplex {
  static constexpr bool value = false;
};
template <class P> struct IsComplex<Complex<P>> {
  static constexpr bool value = true;
};

// Monoid: `atomic`, `add(T, T)`.
template <class Monoid, class T> struct Exact {
  static constexpr bool is_bool = SameType<T, bool>::value;
  static constexpr int kind = Monoid::atomic;
  static constexpr bool value = (IsNumber<T>::value && kind != atomic_none && kind != atomic_first) ||
                                (is_bool && (kind == atomic_or || kind == atomic_and || kind == atomic_xor));
  // x with add(x, y) == y, to the bit, for every y.
  static __device__ T start() {
    if constexpr (is_bool) return kind == atomic_and;
    else if constexpr (kind == atomic_and) return T(~T(0));
    else if constexpr (kind == atomic_or || kind == atomic_xor) return T(0);
    else if constexpr (Number<T>::is_float) {
      if constexpr (kind == atomic_add) return -T(0);
      // NaN beyond ±∞ on the side that the sum leaves: integers in its place are in the same order.
      else if constexpr (sizeof(T) <= 4) return f32_bits(kind == atomic_max ? 0xffc00000u : 0x7fc00000u);
      else return f64_bits(kind == atomic_max ? 0xfff8000000000000ull : 0x7ff8000000000000ull);
    } else if constexpr (kind == atomic_min) return Number<T>::largest;
    else if constexpr (kind == atomic_max) return Number<T>::smallest;
    else return T(0);
  }
};

// *slot = add(*slot, x) by compare and swap of the 4 or 8 bytes that hold it. sizeof(T) is 1, 2, 4 or 8.
template <class Monoid, class T> __device__ inline void combine_by_swap(T* slot, T x) {
  if constexpr (sizeof(T) == 8) {
    u64* p = reinterpret_cast<u64*>(slot);
    for (u64 old = *const_cast<volatile u64*>(p);;) {
      const u64 next = bit_cast<u64>(Monoid::add(bit_cast<T>(old), x));
      if (next == old) return;
      const u64 seen = atomicCAS(p, old, next);
      if (seen == old) return;
      old = seen;
    }
  } else if constexpr (sizeof(T) == 4) {
    u32* p = reinterpret_cast<u32*>(slot);
    for (u32 old = *const_cast<volatile u32*>(p);;) {
      const u32 next = bit_cast<u32>(Monoid::add(bit_cast<T>(old), x));
      if (next == old) return;
      const u32 seen = atomicCAS(p, old, next);
      if (seen == old) return;
      old = seen;
    }
  } else {
    const u64 address = reinterpret_cast<u64>(slot);
    u32* p = reinterpret_cast<u32*>(address & ~3ull);
    const u32 shift = u32(address & 3) * 8, ones = sizeof(T) == 1 ? 0xffu : 0xffffu;
    for (u32 old = *const_cast<volatile u32*>(p);;) {
      T now, sum;
      if constexpr (sizeof(T) == 1) {
        now = bit_cast<T>(u8(old >> shift));
        sum = Monoid::add(now, x);
      } else {
        now = bit_cast<T>(u16(old >> shift));
        sum = Monoid::add(now, x);
      }
      if (same_bits(now, sum)) return;
      u32 bits;
      if constexpr (sizeof(T) == 1) bits = bit_cast<u8>(sum);
      else bits = bit_cast<u16>(sum);
      const u32 seen = atomicCAS(p, old, (old & ~(ones << shift)) | bits << shift);
      if (seen == old) return;
      old = seen;
    }
  }
}

struct AddNumbers {
  template <class T> static __device__ T add(T x, T y) { return x + y; }
};
// *slot += x. In device memory an atomic addition of f32 takes subnormal numbers for zeros and leaves zeros in their place. Beside
// terms of 2^-101 and more none of those counts: half of such a term's last place is more, and no sum with it is subnormal but zero.
template <bool IN_MEMORY, class T> __device__ inline void add_number(T* slot, T x) {
  if constexpr (IN_MEMORY && SameType<T, f32>::value) {
    if (-f32_bits(0x0d000000u) < x && x < f32_bits(0x0d000000u)) {
      combine_by_swap<AddNumbers>(slot, x);
      return;
    }
  }
  atomicAdd(slot, x);
}
// To each part of a sum, which nothing reads before all terms are there.
template <bool IN_MEMORY, class P> __device__ inline void add_parts(Complex<P>* slot, Complex<P> x) {
  add_number<IN_MEMORY>(&slot->re, x.re);
  add_number<IN_MEMORY>(&slot->im, x.im);
}

// *slot = add(*slot, x) for an exact kind; IN_MEMORY: of the device, else in shared memory.
template <class Monoid, class T, bool IN_MEMORY = false> __device__ inline void combine(T* slot, T x) {
  constexpr int kind = Monoid::atomic;
  constexpr bool integer4 = SameType<T, i32>::value || SameType<T, u32>::value;
  constexpr bool integer8 = SameType<T, i64>::value || SameType<T, u64>::value;
  if constexpr (SameType<T, bool>::value && kind == atomic_or) {
    if (x) *slot = true;  // all writers write the same
  } else if constexpr (SameType<T, bool>::value && kind == atomic_and) {
    if (!x) *slot = false;
  } else if constexpr (kind == atomic_add && (SameType<T, f32>::value || SameType<T, f64>::value)) {
    add_number<IN_MEMORY>(slot, x);
  } else if constexpr (kind == atomic_add && IsComplex<T>::value) {
    add_parts<IN_MEMORY>(slot, x);
  } else if constexpr (kind == atomic_add && integer4) {
    atomicAdd(reinterpret_cast<u32*>(slot), u32(x));
  } else if constexpr (kind == atomic_add && integer8) {
    atomicAdd(reinterpret_cast<u64*>(slot), u64(x));
  } else if constexpr ((kind == atomic_min || kind == atomic_max) && integer4) {
    const T old = *const_cast<volatile T*>(slot);
    if (same_bits(Monoid::add(old, x), old)) return;
    if constexpr (kind == atomic_min) atomicMin(slot, x);
    else atomicMax(slot, x);
  } else if constexpr ((kind == atomic_or || kind == atomic_and || kind == atomic_xor) && (integer4 || integer8)) {
    typedef typename Number<T>::Wrapping U;
    U* p = reinterpret_cast<U*>(slot);
    if constexpr (kind == atomic_or) atomicOr(p, U(x));
    else if constexpr (kind == atomic_and) atomicAnd(p, U(x));
    else atomicXor(p, U(x));
  } else {
    combine_by_swap<Monoid, T>(slot, x);
  }
}

// Whether several additions at once pay: what they hold in registers is spilled from sm_100 on.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 1000
constexpr bool combines_at_once = true;
#else
constexpr bool combines_at_once = false;
#endif

// The same of N sums at slots `at`, those that are `active`. What waits for memory is asked for all of them at once.
template <class Monoid, class T, u32 N>
__device__ inline void combine_all(T* slots, const u32 (&at)[N], const bool (&active)[N], const T (&x)[N]) {
  typedef Foremost<Monoid, T> Nearest;
  if constexpr (combines_at_once && SameType<T, f64>::value && (Monoid::atomic == atomic_add || Nearest::pays)) {
    // What an atomic addition is as well, in shared memory.
    u64 old[N], seen[N];
    bool open[N];
#pragma unroll
    for (u32 t = 0; t < N; t++) {
      if (active[t]) old[t] = *reinterpret_cast<const volatile u64*>(&slots[at[t]]);
    }
#pragma unroll
    for (u32 t = 0; t < N; t++) {
      open[t] = active[t];
      // Sums only come nearer, so one that is nearer than a term stays so, whenever it was looked at.
      if constexpr (Nearest::pays) open[t] = open[t] && !Nearest::before(bit_cast<T>(old[t]), x[t]);
      if (!open[t]) continue;
      seen[t] = atomicCAS(reinterpret_cast<u64*>(&slots[at[t]]), old[t], bit_cast<u64>(Monoid::add(bit_cast<T>(old[t]), x[t])));
    }
#pragma unroll
    for (u32 t = 0; t < N; t++) {
      if (open[t] && seen[t] != old[t]) combine<Monoid, T>(&slots[at[t]], x[t]);
    }
  } else {
#pragma unroll
    for (u32 t = 0; t < N; t++) {
      if (active[t]) combine<Monoid, T>(&slots[at[t]], x[t]);
    }
  }
}

template <class T> struct FloatBits {
  typedef i32 Signed;
  typedef u32 Unsigned;
};
template <> struct FloatBits<f64> {
  typedef i64 Signed;
  typedef u64 Unsigned;
};

// The same in device memory, where an atomic operation that nobody waits for costs less than a look at what is there.
template <class Monoid, class T> __device__ inline void combine_in_memory(T* slot, T x) {
  constexpr int kind = Monoid::atomic;
  constexpr bool extreme = kind == atomic_min || kind == atomic_max, small = kind == atomic_min;
  constexpr bool is_float = SameType<T, f32>::value || SameType<T, f64>::value;
  if constexpr (extreme && IsNumber<T>::value && sizeof(T) >= 4 && !is_float) {
    if constexpr (small) atomicMin(slot, x);
    else atomicMax(slot, x);
  } else if constexpr (extreme && is_float) {
    typedef typename FloatBits<T>::Signed Signed;
    typedef typename FloatBits<T>::Unsigned Unsigned;
    if (x != x) return;
    // Positive floats are in the order of their bits, negative ones in the opposite.
    const Signed bits = bit_cast<Signed>(x);
    if ((bits >= 0) == small) {
      if constexpr (small) atomicMin(reinterpret_cast<Signed*>(slot), bits);
      else atomicMin(reinterpret_cast<Unsigned*>(slot), Unsigned(bits));
    } else {
      if constexpr (small) atomicMax(reinterpret_cast<Unsigned*>(slot), Unsigned(bits));
      else atomicMax(reinterpret_cast<Signed*>(slot), bits);
    }
  } else {
    combine<Monoid, T, true>(slot, x);
  }
}

// Past the first-level cache and the compiler.
template <class T> __device__ inline T read_whole(const T* slot) {
  if constexpr (sizeof(T) % 4 == 0) {
    Words<T> x;
    const volatile u32* p = reinterpret_cast<const volatile u32*>(slot);
    for (u32 i = 0; i < Words<T>::count; i++) x.word[i] = p[i];
    return x.value;
  } else {
    T x;
    const volatile u8* p = reinterpret_cast<const volatile u8*>(slot);
    for (u32 i = 0; i < sizeof(T); i++) reinterpret_cast<u8*>(&x)[i] = p[i];
    return x;
  }
}
template <class T> __device__ inline void write_whole(T* slot, T x) {
  if constexpr (sizeof(T) % 4 == 0) {
    const Words<T> from(x);
    volatile u32* p = reinterpret_cast<volatile u32*>(slot);
    for (u32 i = 0; i < Words<T>::count; i++) p[i] = from.word[i];
  } else {
    volatile u8* p = reinterpret_cast<volatile u8*>(slot);
    for (u32 i = 0; i < sizeof(T); i++) p[i] = reinterpret_cast<const u8*>(&x)[i];
  }
}

// *slot = add(*slot, x), any type and ⊕, under a lock. *state, 0 at first: no term yet; 1: somebody is adding; 2: a sum.
// DEVICE: between blocks, else within one.
template <class Monoid, class T, bool DEVICE> __device__ inline void add_locked(T* slot, u32* state, T x) {
  for (bool done = false; !done;) {
    const u32 seen = atomicExch(state, 1u);
    if (seen != 1) {
      if (DEVICE) __threadfence();
      else __threadfence_block();
      const T sum = seen == 0 ? x : Monoid::add(read_whole(slot), x);
      write_whole(slot, sum);
      if (DEVICE) __threadfence();
      else __threadfence_block();
      atomicExch(state, 2u);
      done = true;
    }
  }
}

// VALUES sums of one team, by index. State needed in shared memory besides the values: `state_words` u32.
template <class Monoid, class T, u32 THREADS, u32 VALUES> struct Accumulator {
  static constexpr bool exact = Exact<Monoid, T>::value;
  static constexpr bool first = Monoid::atomic == atomic_first || Monoid::terminal == terminal_always;
  static constexpr u32 state_words = exact ? 0 : THREADS == 32 ? (VALUES + 31) / 32 : VALUES;
  // `first` in a block: one pass over all products finds the smallest order, a second stores that product.
  static constexpr bool two_passes = first && THREADS != 32;
  // In shared memory one instruction, and the same in any order.
  static constexpr bool native = exact && (SameType<T, u32>::value || SameType<T, i32>::value);

  Team<THREADS> team;
  T* values;
  u32* state;

  // For n sums. Barrier by the caller.
  __device__ void clear(u32 n) {
    if constexpr (exact) {
      const T start = Exact<Monoid, T>::start();
      for (u32 i = team.rank(); i < n; i += THREADS) values[i] = start;
    } else {
      const u32 words = THREADS == 32 ? (n + 31) / 32 : n;
      for (u32 i = team.rank(); i < words; i += THREADS) state[i] = two_passes ? 0xffffffffu : 0;
    }
  }

  // First of two passes: order is the same for all products of one row of B, and ascending with k.
  __device__ void claim(u32 i, u32 order) {
    if (const_cast<volatile u32*>(state)[i] > order) atomicMin(&state[i], order);
  }

  // Adds x to sum i. Whole warps call together; active lanes of one group (of `groups` in the warp) have distinct i.
  // In a warp's team, sums are in the order of lanes: bit-equal to a serial sum.
  // By reference: an inactive lane's x has no value, and reading it would be undefined.
  __device__ void put(bool active, u32 i, const T& x, u32 order, u32 group, u32 groups) {
    if constexpr (THREADS == 32 && native) {
      if (active) combine<Monoid, T>(&values[i], x);
      __syncwarp();
    } else if constexpr (THREADS == 32) {
      if (groups <= tuning::most_turns) {
        for (u32 turn = 0; turn < groups; turn++) {
          if (active && group == turn) put_alone(i, x);
          __syncwarp();
        }
      } else {
        const u32 peers = __match_any_sync(full_warp, active ? i : 0x80000000u | lane_id());
        const u32 mine = __popc(peers & lanes_below());
        for (u32 turn = 0; __any_sync(full_warp, active && mine >= turn); turn++) {
          if (active && mine == turn) put_alone(i, x);
          __syncwarp();
        }
      }
    } else if constexpr (exact) {
      if (active) combine<Monoid, T>(&values[i], x);
    } else if constexpr (two_passes) {
      if (active && state[i] == order) values[i] = x;
    } else {
      if (active) put_locked(i, x);
    }
  }

  // By a warp that owns the sums; no other lane puts to the same sum now.
  __device__ void put_alone(u32 i, T x) {
    if constexpr (exact) {
      values[i] = Monoid::add(values[i], x);
    } else {
      const u32 bit = 1u << (i & 31);
      if (!(atomicOr(&state[i / 32], bit) & bit)) values[i] = x;
      else if constexpr (!first) values[i] = Monoid::add(values[i], x);
    }
  }

  __device__ void put_locked(u32 i, T x) { add_locked<Monoid, T, false>(&values[i], &state[i], x); }
};

}  // namespace oplus
