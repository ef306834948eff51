//! What ptxas says about each kernel, out of NVRTC's log.
use std::collections::BTreeMap;

/// What one kernel takes of a multiprocessor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resources {
    /// Registers a thread.
    pub registers: u32,
    /// Stack frame, in bytes a thread.
    pub stack: u32,
    /// Bytes written to the stack for want of registers.
    pub spill_stores: u32,
    /// Bytes read back.
    pub spill_loads: u32,
    /// Static shared memory, in bytes a block.
    pub shared: u32,
}

/// The kernels of a log made with `--ptxas-options=-v`, by the names they are loaded by.
pub(crate) fn parse(log: &str) -> BTreeMap<String, Resources> {
    let mut kernels: BTreeMap<String, Resources> = BTreeMap::new();
    // The entry being compiled, and the function (it, or one it calls) whose properties follow.
    let (mut entry, mut function): (Option<String>, Option<String>) = (None, None);
    for line in log.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            entry = rest.split('\'').next().map(str::to_owned);
            if let Some(name) = &entry {
                kernels.entry(name.clone()).or_default();
            }
        } else if let Some((_, rest)) = line.split_once("Function properties for ") {
            function = Some(rest.trim().trim_matches('\'').to_owned());
        } else if let Some(kernel) = entry.as_ref().and_then(|e| kernels.get_mut(e)) {
            if line.contains("bytes stack frame") && (function.is_none() || function == entry) {
                kernel.stack = before(line, " bytes stack frame").unwrap_or(0);
                kernel.spill_stores = before(line, " bytes spill stores").unwrap_or(0);
                kernel.spill_loads = before(line, " bytes spill loads").unwrap_or(0);
            } else if let Some((_, rest)) = line.split_once("Used ") {
                kernel.registers = before(rest, " registers").unwrap_or(0);
                kernel.shared = before(rest, " bytes smem").unwrap_or(0);
            }
        }
    }
    kernels
}

/// The number that stands before `unit`.
fn before(line: &str, unit: &str) -> Option<u32> {
    let (head, _) = line.split_once(unit)?;
    head.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_a_log() {
        let log = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'spill' for 'sm_90'\n\
            ptxas info    : Function properties for spill\n    656 bytes stack frame, 660 bytes spill stores, 700 bytes spill loads\n\
            ptxas info    : Used 64 registers, used 1 barriers, 656 bytes cumulative stack size, 4096 bytes smem, 380 bytes cmem[0]\n\
            ptxas info    : Compile time = 12.345 ms\n\
            ptxas info    : Compiling entry function '_Z2tkI7MinPlusEvPf' for 'sm_90'\n\
            ptxas info    : Function properties for helper\n    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Function properties for _Z2tkI7MinPlusEvPf\n    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 8 registers\n";
        let kernels = parse(log);
        assert_eq!(kernels.len(), 2);
        assert_eq!(
            kernels["spill"],
            Resources { registers: 64, stack: 656, spill_stores: 660, spill_loads: 700, shared: 4096 }
        );
        assert_eq!(kernels["_Z2tkI7MinPlusEvPf"], Resources { registers: 8, ..Resources::default() });
    }

    #[test]
    fn other_text_is_no_kernel() {
        assert!(parse("").is_empty());
        assert!(
            parse("k.cu(3): warning #177-D: variable \"x\" was declared but never referenced\nUsed 5 registers")
                .is_empty()
        );
    }
}
