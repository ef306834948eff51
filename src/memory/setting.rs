//! Environment variables: what they are set to, and those that say how many bytes may be held.
use crate::error::{Error, Result};

pub(crate) const HOST_MEMORY: &str = "OPLUS_HOST_MEMORY";
pub(crate) const HOST_KEEP: &str = "OPLUS_HOST_KEEP";
pub(crate) const CUDA_KEEP: &str = "OPLUS_CUDA_KEEP";

/// The variable's bytes; `None` where it is not set, or not understood, which [`check`] says.
pub(crate) fn bytes(name: &str) -> Option<u64> {
    set(name).and_then(|text| parsed(&text))
}

/// That all variables are understood.
pub(crate) fn check() -> Result<()> {
    for operation in [HOST_MEMORY, HOST_KEEP, CUDA_KEEP] {
        if let Some(text) = set(operation)
            && parsed(&text).is_none()
        {
            let reason = format!("{text:?} is no number of bytes, such as 1073741824, 512M or 1.5GiB");
            return Err(Error::InvalidValue { operation, reason });
        }
    }
    Ok(())
}

/// The variable's text without blanks around it. What is set to nothing is not set.
pub(crate) fn set(name: &str) -> Option<String> {
    let text = std::env::var_os(name)?.to_string_lossy().trim().to_string();
    (!text.is_empty()).then_some(text)
}

/// A number and a unit, a power of 1024: none, B, K, KB, KiB, and so on to T, in either case.
fn parsed(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim_start().to_ascii_lowercase());
    let power = match unit.as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 1,
        "m" | "mb" | "mib" => 2,
        "g" | "gb" | "gib" => 3,
        "t" | "tb" | "tib" => 4,
        _ => return None,
    };
    let scale = 1u64 << (10 * power);
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(scale);
    }
    let bytes = number.parse::<f64>().ok().filter(|_| power > 0)? * scale as f64;
    (bytes < u64::MAX as f64).then_some(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::parsed;

    #[test]
    fn numbers_with_and_without_units() {
        for (text, bytes) in [
            ("0", Some(0)),
            ("1073741824", Some(1 << 30)),
            ("12b", Some(12)),
            ("512M", Some(512 << 20)),
            ("8 GiB", Some(8 << 30)),
            ("1.5g", Some(3 << 29)),
            ("16tb", Some(16 << 40)),
            ("3kib", Some(3 << 10)),
            ("", None),
            ("lots", None),
            ("ib", None),
            ("4ib", None),
            ("-1", None),
            ("1.5", None),
            ("1..5G", None),
            (".G", None),
            ("5 G B", None),
            ("1e9", None),
            ("5X", None),
            ("99999999999999999999", None),
            ("99999999999T", None),
        ] {
            assert_eq!(parsed(text), bytes, "{text:?}");
        }
    }
}
