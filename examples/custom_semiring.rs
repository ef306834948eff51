//! A semiring of your own: one definition, compiled by rustc for the CPU and by NVRTC for the GPU.
mod common;
use common::say_line;
use oplus::prelude::*;

oplus::scalar! {
    /// The probability that a message gets through, and over how many links.
    pub struct Link { chance: f32, links: u32 }
}
oplus::semiring! {
    /// The likeliest way, then the one of fewest links: ⊕ takes the better way, ⊗ goes one way after another.
    pub struct Likeliest[](Link, Link) -> Link;
    identity = Link::make(0.0, u32::MAX);
    add = |x, y| (select(x.chance > y.chance || (x.chance == y.chance && x.links <= y.links), x, y));
    multiply = |a, b, _| (Link::make(mul(a.chance, b.chance), add(a.links, b.links)));
}

fn run() -> Result<()> {
    let link = |from, to, chance| (from, to, Link::make(chance, 1));
    let network = [link(0, 1, 0.5), link(0, 2, 0.9), link(2, 1, 0.8), link(1, 3, 0.99), link(2, 3, 0.25)];
    let network: Matrix<Link, Likeliest> = Matrix::build(4, 4, &network)?;
    let device = Device::try_best()?;
    let network = network.to(&device)?;

    // N ⊕ N⊗N ⊕ …: the likeliest ways of up to four links, by squaring twice.
    let mut best = network;
    for _ in 0..2 {
        mxm(&best, &best).accumulate(Likeliest).into(&mut best)?;
    }
    say_line!("on {device}:")?;
    for (from, to, way) in best.entries()? {
        say_line!("{from} → {to}: {:>5.1} % over {} links", way.chance * 100.0, way.links)?;
    }
    Ok(())
}

fn main() -> std::process::ExitCode {
    common::program(run)
}
