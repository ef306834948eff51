//! Numbers from ASCII without allocation: exact fast paths, the standard library's parser for the rest.

/// Why a text is not a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is no number.
    NotANumber,
    /// It is one, but none of the type asked for.
    DoesNotFit,
}

/// A decimal number without a sign.
#[inline]
fn magnitude(digits: &[u8]) -> Result<u128, Refused> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Refused::NotANumber);
    }
    let step = |n: u128, b: &u8| n.checked_mul(10)?.checked_add((b - b'0') as u128);
    digits.iter().try_fold(0, step).ok_or(Refused::DoesNotFit)
}

/// A decimal number without a sign.
#[inline]
pub(crate) fn unsigned(text: &[u8]) -> Result<u64, Refused> {
    if text.is_empty() || text.len() > 19 {
        return magnitude(text).and_then(|n| u64::try_from(n).map_err(|_| Refused::DoesNotFit));
    }
    // Nineteen digits are below 2⁶⁴.
    let mut n = 0u64;
    for b in text {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            return Err(Refused::NotANumber);
        }
        n = n * 10 + digit as u64;
    }
    Ok(n)
}

/// A decimal integer.
pub(crate) fn integer(text: &[u8]) -> Result<i128, Refused> {
    let (negative, digits) = match text.split_first() {
        Some((b'-', digits)) => (true, digits),
        Some((b'+', digits)) => (false, digits),
        _ => (false, text),
    };
    let n = match unsigned(digits) {
        Ok(n) => n as i128,
        Err(Refused::NotANumber) => return Err(Refused::NotANumber),
        Err(Refused::DoesNotFit) => {
            magnitude(digits).and_then(|n| i128::try_from(n).map_err(|_| Refused::DoesNotFit))?
        }
    };
    Ok(if negative { -n } else { n })
}

/// The whole number that a real one is, to the last digit.
pub(crate) fn whole(text: &[u8]) -> Result<i128, Refused> {
    if let Some(point) = text.iter().position(|b| *b == b'.')
        && text[point + 1..].iter().all(|b| *b == b'0')
        && let Ok(x) = integer(&text[..point])
    {
        return Ok(x);
    }
    // What is exact, or rounded to no whole number unless it was one.
    const EXACT: f64 = (1u64 << 53) as f64;
    if let Some(x) = fast_real(text).filter(|x| x.abs() < EXACT) {
        return if x.trunc() == x { Ok(x as i128) } else { Err(Refused::DoesNotFit) };
    }
    // A number it is.
    real(text)?;
    exactly(text).ok_or(Refused::DoesNotFit)
}

/// The same of a text that is a number: `None` where it is not whole, or longer than an i128.
fn exactly(text: &[u8]) -> Option<i128> {
    let grown = |n: i128, zeros: i64, digit: u8| {
        let power = 10i128.checked_pow(u32::try_from(zeros).ok()?)?;
        n.checked_mul(power)?.checked_add(digit.into())
    };
    // n · 10^(zeros + exponent), whose n ends in no zero: with a power below 0 it is not whole.
    let (mut n, mut zeros, mut exponent, mut behind_point) = (0i128, 0i64, 0i64, false);
    for (i, b) in text.iter().enumerate() {
        match b {
            b'0'..=b'9' => {
                exponent -= i64::from(behind_point);
                zeros += i64::from(n != 0);
                if *b != b'0' {
                    (n, zeros) = (grown(n, zeros, b - b'0')?, 0);
                }
            }
            b'.' => behind_point = true,
            b'e' | b'E' | b'd' | b'D' => {
                exponent = exponent.saturating_add(power(&text[i + 1..]));
                break;
            }
            // Of infinity and NaN.
            b'n' | b'N' => return None,
            _ => (),
        }
    }
    let n = if n == 0 { 0 } else { grown(n, zeros.saturating_add(exponent), 0)? };
    Some(if text.first() == Some(&b'-') { -n } else { n })
}

/// Whether a real number is not 0, however near.
pub(crate) fn nonzero(text: &[u8]) -> Result<bool, Refused> {
    let nearest = real(text)?;
    let mut mantissa = text.iter().take_while(|b| !matches!(b, b'e' | b'E' | b'd' | b'D'));
    Ok(nearest != 0.0 || mantissa.any(|b| matches!(b, b'1'..=b'9')))
}

const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// The nearest f64; `inf`, `nan` and Fortran's `d` exponents included.
#[inline]
pub(crate) fn real(text: &[u8]) -> Result<f64, Refused> {
    match fast_real(text) {
        Some(x) => Ok(x),
        None => parsed(text),
    }
}

/// By the standard library.
pub(crate) fn parsed<T: std::str::FromStr>(text: &[u8]) -> Result<T, Refused> {
    let text = std::str::from_utf8(text).map_err(|_| Refused::NotANumber)?;
    if let Ok(x) = text.parse() {
        return Ok(x);
    }
    // No Fortran number is this long; the copy is kept small.
    let fortran = text.len() <= 64 && text.contains(['d', 'D']);
    let x = if fortran { text.replace(['d', 'D'], "e").parse().ok() } else { None };
    x.ok_or(Refused::NotANumber)
}

/// Up to 2⁵³ times a power of ten up to 10²²: both exact, so one rounding gives the nearest (Clinger 1990).
#[inline]
fn fast_real(text: &[u8]) -> Option<f64> {
    let (negative, digits) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, text),
    };
    let mut rest = digits;
    let (mut mantissa, mut seen, mut after_point, mut exponent) = (0u64, 0usize, 0usize, 0i64);
    let mut take = |rest: &mut &[u8]| {
        let before = rest.len();
        while let [b @ b'0'..=b'9', tail @ ..] = *rest {
            // More than 19 digits wrap, and are refused below.
            mantissa = mantissa.wrapping_mul(10).wrapping_add((b - b'0') as u64);
            *rest = tail;
        }
        before - rest.len()
    };
    seen += take(&mut rest);
    if let [b'.', tail @ ..] = rest {
        rest = tail;
        after_point = take(&mut rest);
        seen += after_point;
    }
    if let [b'e' | b'E', tail @ ..] = rest {
        exponent = integer(tail).ok().and_then(|e| i64::try_from(e).ok()).filter(|e| e.abs() < 1000)?;
        rest = &[];
    }
    if !rest.is_empty() || seen == 0 || seen > 19 || mantissa > 1 << 53 {
        return None;
    }
    let exponent = exponent - after_point as i64;
    let scale = POWERS.get(exponent.unsigned_abs() as usize)?;
    let value = if exponent < 0 { mantissa as f64 / scale } else { mantissa as f64 * scale };
    Some(if negative { -value } else { value })
}

/// The nearest f64, or its neighbour on the side of what the text says: rounded to 16 bits it is what the text is nearest to. Halfway
/// between two of those it would otherwise be the even one, whichever side the text is on.
#[cfg(feature = "half")]
pub(crate) fn beside_ties(text: &[u8]) -> Result<f64, Refused> {
    let nearest = real(text)?;
    // Halfway between two is what has twelve bits at most.
    if nearest == 0.0 || !nearest.is_finite() || nearest.to_bits().trailing_zeros() < 52 - 12 {
        return Ok(nearest);
    }
    // Down to 2⁻¹³⁴ all digits: whatever is less is nearest to 0.
    let side = decimal(text).cmp(&decimal(format!("{nearest:.134}").as_bytes()));
    Ok(f64::from_bits(nearest.to_bits().saturating_add_signed(side as i64)))
}

/// The magnitude 0.d₁d₂… · 10^e of a number's text as (e, d), which are in the order of magnitudes.
#[cfg(feature = "half")]
fn decimal(text: &[u8]) -> (i64, Vec<u8>) {
    let (mut exponent, mut digits, mut behind_point) = (0i64, Vec::new(), false);
    for (i, b) in text.iter().enumerate() {
        match b {
            b'0' if digits.is_empty() => exponent -= i64::from(behind_point),
            b'0'..=b'9' => {
                digits.push(*b);
                exponent += i64::from(!behind_point);
            }
            b'.' => behind_point = true,
            b'e' | b'E' | b'd' | b'D' => {
                exponent = exponent.saturating_add(power(&text[i + 1..]));
                break;
            }
            _ => (),
        }
    }
    while digits.last() == Some(&b'0') {
        digits.pop();
    }
    (exponent, digits)
}

/// An exponent, as far as a text can have as many digits.
fn power(text: &[u8]) -> i64 {
    const MOST: i64 = i64::MAX / 2;
    match integer(text) {
        Ok(e) => e.clamp(i128::from(-MOST), i128::from(MOST)) as i64,
        Err(_) if text.first() == Some(&b'-') => -MOST,
        Err(_) => MOST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "half")]
    #[test]
    fn ties_of_sixteen_bits_fall_on_the_side_of_the_text() {
        use crate::algebra::{Ordered, bf16, f16};
        // 1 + 2⁻¹¹ is halfway between 1 and 1 + 2⁻¹⁰, whose last bit is odd.
        let (half, above) = ("1.00048828125", 1.0009765625);
        let read = |text: &str| f16::of_f64(beside_ties(text.as_bytes()).unwrap()).to_f64();
        assert_eq!(read(half), 1.0);
        for (text, expected) in [
            (format!("{half}000000000000000000000000000001"), above),
            ("0.01000488281250000000000000000000000001e2".into(), above),
            ("100048828125.00000000000000000001d-11".into(), above),
            ("1.00048828124999999999999999999999999".into(), 1.0),
            (format!("-{half}00000000000000000000001"), -above),
            ("65519.99999999999999999999999999".into(), 65504.0),
            ("2.98023223876953125000000000000000000001e-8".into(), 5.960464477539063e-8),
            ("2.98023223876953125e-8".into(), 0.0),
            ("1e-400".into(), 0.0),
        ] {
            assert_eq!(read(&text), expected, "{text}");
        }
        assert!(read("65520").is_infinite() && read("inf").is_infinite() && read("nan").is_nan());
        // 1 + 2⁻⁸ of bf16.
        let read = |text: &str| bf16::of_f64(beside_ties(text.as_bytes()).unwrap()).to_f64();
        assert_eq!((read("1.00390625"), read("1.0039062500000000000000000000000001")), (1.0, 1.0078125));
        let mut random = crate::generate::Random::new(6, 0);
        for _ in 0..2000 {
            // Between two neighbours and their middle, a hair away from it.
            let low = f16::from_bits(random.below(0x7bff) as u16);
            let (x, y) = (low.to_f64(), f16::from_bits(low.to_bits() + 1).to_f64());
            let middle = format!("{:.40}", (x + y) / 2.0);
            assert_eq!(f16::of_f64(beside_ties(format!("{middle}1").as_bytes()).unwrap()).to_f64(), y, "{middle}");
        }
    }

    #[test]
    fn reals_are_the_nearest() {
        let texts = "0 -0.0 1 3.25 1e-5 123456789.125 9007199254740993 1e308 4.9e-324 inf -inf -2.5E+3 .5 5. 1e+22 1e23 \
            0.000000000000000000000000001 18446744073709551617 9007199254740992e22 1e400 -1e-400 00000000000000000000001";
        for t in texts.split(' ') {
            assert_eq!(real(t.as_bytes()).map(f64::to_bits), Ok(t.parse::<f64>().unwrap().to_bits()), "{t}");
        }
        assert_eq!(real(b"1.5d2"), Ok(150.0));
        assert!(real(b"nan").is_ok_and(f64::is_nan) && real(b"NaN").is_ok_and(f64::is_nan));
        for t in ["", "-", ".", "e5", "1e", "1.2.3", "0x10", "--1", "1e5e5", "1e 5", "+-1", "1_000", "\u{661}"] {
            assert_eq!(real(t.as_bytes()), Err(Refused::NotANumber), "{t}");
        }
    }

    #[test]
    fn random_reals_agree_with_the_standard_library() {
        let mut random = crate::generate::Random::new(5, 0);
        for _ in 0..100_000 {
            let digits = random.bits() >> random.below(60);
            let (point, exponent) = (random.below(12) as usize, random.below(60) as i64 - 30);
            let mut text = digits.to_string();
            text.insert(point.min(text.len()), '.');
            if random.below(2) == 0 {
                text += &format!("e{exponent}");
            }
            assert_eq!(real(text.as_bytes()).unwrap().to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
    }

    #[test]
    fn integers_do_not_wrap() {
        assert_eq!(unsigned(b"18446744073709551615"), Ok(u64::MAX));
        assert_eq!(unsigned(b"0000000000000000000000018446744073709551615"), Ok(u64::MAX));
        assert_eq!(unsigned(b"18446744073709551616"), Err(Refused::DoesNotFit));
        assert_eq!(unsigned(b""), Err(Refused::NotANumber));
        assert_eq!(unsigned(b"1234567890123456789x"), Err(Refused::NotANumber));
        assert_eq!(integer(b"-9223372036854775809"), Ok(i64::MIN as i128 - 1));
        assert_eq!(integer(b"-170141183460469231731687303715884105727"), Ok(-i128::MAX));
        assert_eq!(integer(b"340282366920938463463374607431768211456"), Err(Refused::DoesNotFit));
        assert_eq!(integer(&[b'9'; 400]), Err(Refused::DoesNotFit));
        assert_eq!(integer(b"+7"), Ok(7));
        for t in [&b"7.0"[..], b"", b"-", b"+-7", b"1e3"] {
            assert_eq!(integer(t), Err(Refused::NotANumber));
        }
    }
}
