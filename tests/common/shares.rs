//! A test in as many processes as there are processors: NVRTC works on one text at a time in a process.
use std::process::{Child, Command};

/// Set in the processes that have a share each: which one, and of how many.
const SHARE: &str = "OPLUS_TEST_SHARE";

/// Runs the test of this name in several processes, in each of which `work(one, of)` does its share.
pub fn shared(test: &str, work: impl FnOnce(usize, usize)) {
    if let Ok(share) = std::env::var(SHARE) {
        let (one, of) = share.split_once('/').unwrap();
        return work(one.parse().unwrap(), of.parse().unwrap());
    }
    let of = std::thread::available_parallelism().map_or(1, |n| n.get());
    let start = |one| {
        Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--nocapture"])
            .env(SHARE, format!("{one}/{of}"))
            .spawn()
            .unwrap()
    };
    let shares: Vec<Child> = (0..of).map(start).collect();
    let ended: Vec<bool> = shares.into_iter().map(|mut share| share.wait().unwrap().success()).collect();
    assert!(ended.iter().all(|well| *well), "{ended:?}");
}
