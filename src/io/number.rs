//! Numbers from ASCII without allocation: exact fast paths, the standard library's parser for the rest.

/// The tokens of a line, split at blanks, tabs, carriage returns and any of `also`.
pub(crate) fn tokens<'a>(line: &'a [u8], also: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    line.split(|b| b.is_ascii_whitespace() || also.contains(b)).filter(|t| !t.is_empty())
}

/// A decimal number without a sign.
pub(crate) fn unsigned(token: &[u8]) -> Option<u64> {
    if token.is_empty() || token.len() > 20 {
        return None;
    }
    token.iter().try_fold(0u64, |n, b| {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 { None } else { n.checked_mul(10)?.checked_add(digit as u64) }
    })
}

/// A decimal integer.
pub(crate) fn integer(token: &[u8]) -> Option<i128> {
    match token.split_first() {
        Some((b'-', digits)) => unsigned(digits).map(|n| -(n as i128)),
        Some((b'+', digits)) => unsigned(digits).map(|n| n as i128),
        _ => unsigned(token).map(|n| n as i128),
    }
}

const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// The nearest f64; `inf`, `nan` and Fortran's `d` exponents included.
pub(crate) fn real(token: &[u8]) -> Option<f64> {
    fast_real(token).or_else(|| {
        let text = std::str::from_utf8(token).ok()?;
        text.parse().ok().or_else(|| text.replace(['d', 'D'], "e").parse().ok())
    })
}

/// Up to 2⁵³ times a power of ten up to 10²²: both exact, so one rounding gives the nearest (Clinger).
fn fast_real(token: &[u8]) -> Option<f64> {
    let (negative, mut rest) = match token.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, token),
    };
    let (mut mantissa, mut digits, mut exponent, mut point) = (0u64, 0, 0i32, false);
    while let Some((b, after)) = rest.split_first() {
        match b {
            b'0'..=b'9' => {
                digits += 1;
                if digits > 18 {
                    return None;
                }
                mantissa = mantissa * 10 + (b - b'0') as u64;
                exponent -= point as i32;
            }
            b'.' if !point => point = true,
            b'e' | b'E' => {
                let written = integer(after)?;
                exponent += i32::try_from(written).ok().filter(|e| e.abs() < 1000)?;
                break;
            }
            _ => return None,
        }
        rest = after;
    }
    if digits == 0 || mantissa > 1 << 53 {
        return None;
    }
    let scale = POWERS.get(exponent.unsigned_abs() as usize)?;
    let value = if exponent < 0 { mantissa as f64 / scale } else { mantissa as f64 * scale };
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reals_are_the_nearest() {
        for t in [
            "0",
            "-0.0",
            "1",
            "3.25",
            "1e-5",
            "123456789.125",
            "9007199254740993",
            "1e308",
            "4.9e-324",
            "inf",
            "-2.5E+3",
            ".5",
            "5.",
        ] {
            assert_eq!(real(t.as_bytes()).map(f64::to_bits), t.parse::<f64>().ok().map(f64::to_bits), "{t}");
        }
        assert_eq!(real(b"1.5d2"), Some(150.0));
        assert!(real(b"nan").is_some_and(f64::is_nan));
        for t in ["", "-", ".", "e5", "1e", "1.2.3", "0x10", "--1"] {
            assert_eq!(real(t.as_bytes()), None, "{t}");
        }
    }

    #[test]
    fn integers_do_not_wrap() {
        assert_eq!(unsigned(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(unsigned(b"18446744073709551616"), None);
        assert_eq!(integer(b"-9223372036854775808"), Some(i64::MIN as i128));
        assert_eq!(integer(b"+7"), Some(7));
        assert_eq!(integer(b"7.0"), None);
    }
}
