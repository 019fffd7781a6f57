//! A thread's processor time.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The processor time of the current thread.
pub fn processor_time() -> Duration {
    // The conversion fails only for negative times.
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_its_own_time() {
        const TIME: Duration = Duration::from_millis(50);
        let end = processor_time() + TIME;
        let other = std::thread::spawn(|| {
            let end = processor_time() + TIME;
            while processor_time() < end {}
        });
        other.join().expect("a thread");
        assert!(processor_time() < end);
    }
}
