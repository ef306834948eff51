//! What Linux says of memory, in files. They are read into a buffer on the stack: whoever asks may have no memory left.
use super::Held;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A file of a few lines, as far as `f` needs it.
fn read<T>(path: impl AsRef<Path>, f: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    let (mut file, mut buffer, mut n) = (File::open(path).ok()?, [0; 8 << 10], 0);
    while n < buffer.len() {
        match file.read(&mut buffer[n..]).ok()? {
            0 => break,
            more => n += more,
        }
    }
    let text = &buffer[..n];
    f(std::str::from_utf8(text).or_else(|e| std::str::from_utf8(&text[..e.valid_up_to()])).ok()?)
}

/// The number behind `name` at the beginning of a line, in bytes.
fn number(text: &str, name: &str) -> Option<u64> {
    let mut words = text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace();
    let n: u64 = words.next()?.parse().ok()?;
    n.checked_mul(if words.next() == Some("kB") { 1024 } else { 1 })
}

/// Of so much memory that is left when all seems to be taken: figures are estimates, and some is taken between two looks.
fn spared(all: u64) -> u64 {
    (1 << 30).min(all / 8)
}

/// Free memory and what the system would make free, swap too, within the limits of control groups (a container's).
pub(super) fn left() -> Option<u64> {
    let (free, swap) = read("/proc/meminfo", |text| {
        let free = number(text, "MemAvailable:")?.saturating_sub(spared(number(text, "MemTotal:")?));
        Some((Some(free), number(text, "SwapFree:")))
    })?;
    free.into_iter().chain(of_groups()).min().map(|left| left.saturating_add(swap.unwrap_or(0)))
}

/// What the groups of this process leave to it, the least of all from its own to the outermost.
fn of_groups() -> Option<u64> {
    const MOUNTED: &str = "/sys/fs/cgroup";
    let (path, all, limit, held) = read("/proc/self/cgroup", |text| {
        // The second version has a line `0::/path`, the first one `4:memory:/path`.
        let mut lines = text.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
        let first = lines.clone().find(|(kinds, _)| kinds.split(',').any(|kind| kind == "memory"));
        let of = |path: &str, kind, limit, held| {
            let all = Path::new(MOUNTED).join(kind);
            Some((all.join(path.trim_start_matches('/')), all, limit, held))
        };
        match first {
            Some((_, path)) => of(path, "memory", "memory.limit_in_bytes", "total_rss "),
            None => of(lines.find(|(kinds, _)| kinds.is_empty())?.1, "", "memory.max", "anon "),
        }
    })?;
    let group = |folder: &Path| {
        let most = read(folder.join(limit), |text| text.trim().parse::<u64>().ok())?;
        // Pages of files are given up where memory is short: what counts is what programs hold.
        let taken = read(folder.join("memory.stat"), |text| number(text, held))?;
        Some(most.saturating_sub(taken).saturating_sub(spared(most)))
    };
    path.ancestors().take_while(|folder| folder.starts_with(&all)).filter_map(group).min()
}

/// What this process holds.
pub(super) fn held() -> Option<Held> {
    read("/proc/self/status", |text| {
        Some(Held { addresses: number(text, "VmSize:")?, touched: number(text, "VmRSS:")? })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_behind_their_names() {
        let text = "MemTotal:       1000 kB\nMemAvailable:    12 kB\ntotal_rss 4096\nodd\nlong 99999999999999999999\nmuch 18446744073709551615 kB\n";
        assert_eq!(number(text, "MemAvailable:"), Some(12 << 10));
        assert_eq!(number(text, "total_rss "), Some(4096));
        for name in ["SwapFree:", "odd", "long ", "much "] {
            assert_eq!(number(text, name), None, "{name}");
        }
        assert_eq!(read("/no/such/file", |_| Some(())), None);
    }

    #[test]
    fn a_group_allows_less_than_the_machine_has() {
        let (all, left) = (read("/proc/meminfo", |text| number(text, "MemTotal:")), left());
        let swap = read("/proc/meminfo", |text| number(text, "SwapTotal:")).unwrap_or(0);
        assert!(left.is_some_and(|left| left > 0 && left <= all.unwrap_or(0) + swap), "{left:?} {all:?}");
        assert!(of_groups().is_none_or(|left| left > 0));
    }
}
