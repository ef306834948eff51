//! A test in as many processes as there are processors: NVRTC works on one text at a time in a process. What is to do is dealt out piece
//! by piece, as pieces take from a tenth of a second to ten.
use std::cell::Cell;
use std::fs::File;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::{Child, Command};

/// Set in the processes that share a test: the folder in which they say what they took.
const SHARED: &str = "OPLUS_TEST_SHARED";

/// What one process has of all there is to do.
pub struct Share {
    folder: PathBuf,
    next: Cell<usize>,
}

impl Share {
    /// Those of `pieces` that no other process took before. All processes ask for the same pieces in the same order.
    pub fn of<T>(&self, pieces: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
        pieces.into_iter().filter(|_| {
            let piece = self.next.replace(self.next.get() + 1);
            match File::create_new(self.folder.join(piece.to_string())) {
                Ok(_) => true,
                Err(e) if e.kind() == ErrorKind::AlreadyExists => false,
                Err(e) => panic!("{}: {e}", self.folder.display()),
            }
        })
    }
}

/// Runs the test of this name in several processes, in each of which `work` does its share.
pub fn shared(test: &str, work: impl FnOnce(Share)) {
    if let Some(folder) = std::env::var_os(SHARED) {
        return work(Share { folder: folder.into(), next: Cell::new(0) });
    }
    let folder = std::env::temp_dir().join(format!("oplus-{test}-{}", std::process::id()));
    // One of this number may have ended before it could remove its own.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).unwrap();
    let of = std::thread::available_parallelism().map_or(1, |n| n.get());
    let start = |_| {
        Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--nocapture"])
            .env(SHARED, &folder)
            .spawn()
            .unwrap()
    };
    let shares: Vec<Child> = (0..of).map(start).collect();
    let ended: Vec<bool> = shares.into_iter().map(|mut share| share.wait().unwrap().success()).collect();
    let taken = std::fs::read_dir(&folder).unwrap().count();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(ended.iter().all(|well| *well) && taken > 0, "{ended:?}, {taken} pieces");
}
