//! What a kernel has found, told by the kernel itself: its last block writes it to a page of host memory, at which the host looks, and
//! leaves the control block zero. A copy and a wait after every launch, and a fill before it, take a small product's half.
use super::keep::Page;
use crate::backend::cuda::{Buffer, Context, Launch, lock};
use crate::error::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Words that a kernel with a slate tells.
pub(crate) const SAID: usize = 16;
/// Words of these that a value has room in, before the count of blocks.
pub(crate) const TOLD: usize = 14;
/// Words of the slate: where more begin as zero, filling them is little of all.
const SLATE: u64 = 1 << 13;
/// The word that the host waits for, and the most that may be told before it.
pub(crate) const NUMBER: usize = 511;
/// A look costs a core; after so long the driver waits.
const PATIENCE: Duration = Duration::from_micros(100);

/// The address of the page and the number to write when all has been told; 0: nothing is to be.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Report {
    pub(crate) page: u64,
    pub(crate) number: u64,
}

/// Zeros on the device, and whom to tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slate {
    pub(crate) report: Report,
    pub(crate) control: u64,
    /// How many the kernel leaves as zeros, where it tells.
    pub(crate) words: u64,
}

impl Slate {
    /// For kernels that could tell and are asked for nothing.
    pub(crate) const UNTOLD: Slate = Slate { report: Report { page: 0, number: 0 }, control: 0, words: 0 };
}

impl<'a> Launch<'a> {
    /// Whom to tell, as the last arguments.
    pub(crate) fn telling(self, report: Report) -> Self {
        self.arg(report.page).arg(report.number)
    }
    /// The same, and what is to be left zero.
    pub(crate) fn leaving(self, slate: &Slate) -> Self {
        self.telling(slate.report).arg(slate.words)
    }
}

/// The page, what was written to it last, and the slate's address: under one lock from before a launch until it has told.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) page: Page,
    number: u64,
    slate: Option<u64>,
}

impl Host {
    pub(crate) const fn new() -> Self {
        Self { page: Page::Untried, number: 0, slate: None }
    }
    /// The slate, to be given back.
    pub(crate) fn take_slate(&mut self) -> Option<u64> {
        self.slate.take()
    }
    /// What `launch` tells, the first words.
    fn told<const N: usize>(
        &mut self,
        context: &Context,
        launch: impl FnOnce(Report) -> Result<()>,
    ) -> Option<Result<[u64; N]>> {
        const { assert!(N <= NUMBER) };
        if let Err(e) = context.bind("wait for kernel") {
            return Some(Err(e));
        }
        let page = self.page.address(context)?;
        self.number += 1;
        let number = self.number;
        // SAFETY: the page is ours alone under the lock and stays; the device writes to it as to an atomic.
        let said = unsafe { AtomicU64::from_ptr(page.add(NUMBER)) };
        // Nothing that was there before, a page's first contents among it, is this number; no kernel is at work that would write one.
        said.store(0, Ordering::Release);
        let wait = || {
            let since = Instant::now();
            while said.load(Ordering::Acquire) != number {
                if since.elapsed() > PATIENCE {
                    context.synchronize_for("wait for kernel")?;
                    break;
                }
                std::hint::spin_loop();
            }
            if said.load(Ordering::Acquire) != number {
                let reason = "a kernel ended and has told nothing".into();
                return Err(Error::InvalidValue { operation: "wait for kernel", reason });
            }
            // SAFETY: written before the number was.
            Ok(std::array::from_fn(|i| unsafe { page.add(i).read_volatile() }))
        };
        Some(launch(Report { page: page as u64, number }).and_then(|()| wait()))
    }
}

impl Context {
    /// What `launch`, one kernel with `words` zeros for its control block and states, leaves in the first of them. Nothing is
    /// allocated in `launch`.
    pub(crate) fn with_slate(
        self: &Arc<Self>,
        words: u64,
        launch: impl Fn(&Slate) -> Result<()>,
    ) -> Result<[u64; SAID]> {
        let mut host = lock(&self.keep.host);
        let control = if words <= SLATE { self.slate(&mut host) } else { None };
        if let Some(control) = control
            && let Some(told) = host.told(self, |report| launch(&Slate { report, control, words }))
        {
            if told.is_err() {
                // Nobody knows what is in it.
                host.take_slate().into_iter().for_each(|slate| self.release(slate));
            }
            return told;
        }
        drop(host);
        let zeros = Buffer::zeroed(self, words.max(SAID as u64).saturating_mul(8))?;
        launch(&Slate { report: Report::default(), control: zeros.pointer(), words: 0 })?;
        let found: Vec<u64> = zeros.read(0..SAID)?;
        Ok(std::array::from_fn(|i| found[i]))
    }

    /// The first words of a control block, as `launch` tells them or else leaves them there. Nothing is allocated in `launch`.
    pub(crate) fn tells<const N: usize>(
        &self,
        control: &Buffer,
        launch: impl Fn(Report) -> Result<()>,
    ) -> Result<Vec<u64>> {
        if let Some(told) = lock(&self.keep.host).told::<N>(self, &launch) {
            return told.map(|words| words.to_vec());
        }
        launch(Report::default())?;
        control.read(0..N)
    }

    /// The zeros that are kept, made now if there are none yet. They are nobody's in the count of bytes in use.
    fn slate(&self, host: &mut Host) -> Option<u64> {
        if host.slate.is_none() && self.keep.keeps() {
            self.bind("allocate").ok()?;
            let made = self.allocate("allocate", 8 * SLATE).ok()?;
            self.usage.subtract(8 * SLATE);
            // SAFETY: the whole of our own allocation, the context is current.
            let status = unsafe { (self.driver().api.memset_d8_async)(made, 0, 8 * SLATE as usize, self.stream()) };
            if status != 0 {
                self.release(made);
                return None;
            }
            host.slate = Some(made);
        }
        host.slate
    }
}
