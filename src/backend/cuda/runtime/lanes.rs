//! Streams beside a context's own, for kernels that do not depend on each other.
use super::api::DriverApi;
use super::trace;
use crate::backend::cuda::Context;
use crate::error::Result;
use cudarc::driver::sys::CUevent;
pub(crate) use cudarc::driver::sys::CUstream;

/// How many.
pub(crate) const LANES: usize = 4;

/// The streams, an event of each, and one of the context's own stream. Threads may share them: an event that another
/// thread records again only stands for more work than it must.
#[derive(Debug)]
pub(crate) struct Lanes {
    streams: [CUstream; LANES],
    ends: [CUevent; LANES],
    begin: CUevent,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Lanes {}
// SAFETY: as above.
unsafe impl Sync for Lanes {}

impl Lanes {
    /// Those of the context; `None` if they cannot be made, which the next call tries again. Why is of no interest: kernels that run one
    /// after the other give the same, and where the context is broken their launch says so.
    fn of(context: &Context) -> Option<&Self> {
        if context.lanes.get().is_none() {
            // Another thread may have been first.
            if let Err(spare) = context.lanes.set(Lanes::open(context).ok()?) {
                spare.close(&context.driver().api);
            }
        }
        context.lanes.get()
    }
    fn open(context: &Context) -> Result<Self> {
        const OPERATION: &str = "create stream";
        const NON_BLOCKING: u32 = 1;
        const NO_TIMING: u32 = 2;
        let api = &context.driver().api;
        context.bind(OPERATION)?;
        let null = std::ptr::null_mut();
        let mut lanes =
            Lanes { streams: [null; LANES], ends: [std::ptr::null_mut(); LANES], begin: std::ptr::null_mut() };
        let mut make = || -> Result<()> {
            // SAFETY: the context is current; a valid place to write to.
            context.check(OPERATION, unsafe { (api.event_create)(&mut lanes.begin, NO_TIMING) })?;
            for lane in 0..LANES {
                // SAFETY: as above.
                context.check(OPERATION, unsafe { (api.stream_create)(&mut lanes.streams[lane], NON_BLOCKING) })?;
                // SAFETY: as above.
                context.check(OPERATION, unsafe { (api.event_create)(&mut lanes.ends[lane], NO_TIMING) })?;
            }
            Ok(())
        };
        let made = make();
        if made.is_err() {
            lanes.close(api);
        }
        made.map(|()| lanes)
    }
    /// Gives back what there is. The context is current.
    pub(crate) fn close(&self, api: &DriverApi) {
        for event in self.ends.iter().chain([&self.begin]).filter(|e| !e.is_null()) {
            // SAFETY: ours, and destroyed once.
            unsafe { (api.event_destroy)(*event) };
        }
        for stream in self.streams.iter().filter(|s| !s.is_null()) {
            // SAFETY: ours, and destroyed once; pending work is completed first.
            unsafe { (api.stream_destroy)(*stream) };
        }
    }
}

/// Kernels started while this lives may run at once, each on the stream that `next` gives; all wait for what was started
/// before, and what is started after waits for all of them.
#[derive(Debug)]
pub(crate) struct Fork<'a> {
    context: &'a Context,
    lanes: Option<&'a Lanes>,
    used: std::cell::Cell<usize>,
}

impl<'a> Fork<'a> {
    /// With `wanted` unset, while launches are timed one by one, or where the driver has no memory for lanes, everything stays on
    /// the context's stream.
    pub(crate) fn begin(context: &'a Context, wanted: bool) -> Result<Self> {
        let used = std::cell::Cell::new(0);
        let lanes = if wanted && !trace::is_on(context) { Lanes::of(context) } else { None };
        let Some(lanes) = lanes else { return Ok(Self { context, lanes: None, used }) };
        context.bind("record event")?;
        // SAFETY: our event on our stream.
        context.check("record event", unsafe { (context.driver().api.event_record)(lanes.begin, context.stream()) })?;
        Ok(Self { context, lanes: Some(lanes), used })
    }
    /// The stream for the next kernel; the context's own takes its turn too.
    pub(crate) fn next(&self) -> Result<CUstream> {
        let Some(lanes) = self.lanes else { return Ok(self.context.stream()) };
        let turn = self.used.get();
        self.used.set(turn + 1);
        let lane = turn % (LANES + 1);
        if lane == LANES {
            return Ok(self.context.stream());
        }
        if turn < LANES {
            let api = &self.context.driver().api;
            self.context.bind("wait for event")?;
            // SAFETY: our event and stream.
            let status = unsafe { (api.stream_wait_event)(lanes.streams[lane], lanes.begin, 0) };
            self.context.check("wait for event", status)?;
        }
        Ok(lanes.streams[lane])
    }
}

impl Drop for Fork<'_> {
    /// The context's stream waits. Should that fail, the device is waited for, so that no buffer is freed too early.
    fn drop(&mut self) {
        let Some(lanes) = self.lanes else { return };
        let api = &self.context.driver().api;
        if self.context.bind("wait for event").is_err() {
            return;
        }
        for lane in 0..self.used.get().min(LANES) {
            // SAFETY: our events and streams.
            let failed = unsafe {
                (api.event_record)(lanes.ends[lane], lanes.streams[lane]) != 0
                    || (api.stream_wait_event)(self.context.stream(), lanes.ends[lane], 0) != 0
            };
            if failed {
                // SAFETY: our stream.
                unsafe { (api.stream_synchronize)(lanes.streams[lane]) };
            }
        }
    }
}
