//! Ways of doing a thing, measured against each other.

use std::time::{Duration, Instant};

/// One way of doing a thing, and how long it took each time.
pub(crate) struct Contender<'a> {
    name: &'static str,
    run: Box<dyn FnMut() + 'a>,
    times: Vec<Duration>,
}

impl<'a> Contender<'a> {
    pub(crate) fn new(name: &'static str, run: impl FnMut() + 'a) -> Self {
        Self { name, run: Box::new(run), times: Vec::new() }
    }

    fn at_quantile(&self, quantile: f64) -> f64 {
        let mut times = self.times.clone();
        times.sort_unstable();
        times[((times.len() - 1) as f64 * quantile) as usize].as_secs_f64() * 1e3
    }
}

/// Lets all of them take turns, and prints how they did beside the first.
pub(crate) fn compete(title: &str, turns: usize, contenders: &mut [Contender<'_>]) {
    for _ in 0..turns {
        for contender in &mut *contenders {
            let began = Instant::now();
            (contender.run)();
            contender.times.push(began.elapsed());
        }
    }
    println!("\n{title}\n{:<46}{:>10}{:>10}{:>10}{:>9}", "", "p50 ms", "p10", "p90", "ratio");
    let base = contenders[0].at_quantile(0.5);
    for contender in contenders {
        let [low, middle, high] = [0.1, 0.5, 0.9].map(|quantile| contender.at_quantile(quantile));
        println!("{:<46}{middle:>10.3}{low:>10.3}{high:>10.3}{:>8.2}x", contender.name, middle / base);
    }
}
