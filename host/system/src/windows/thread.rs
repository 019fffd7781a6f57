//! A thread's processor time.

use std::time::Duration;

use winsafe::HTHREAD;

/// The processor time of the current thread. It grows in steps of about 16 ms.
pub fn processor_time() -> Duration {
    let times = HTHREAD::GetCurrentThread().GetThreadTimes();
    let (_, _, of_kernel, of_user) = times.expect("a thread may query its own times");
    // In units of 100 ns.
    let units = u64::from(of_kernel) + u64::from(of_user);
    Duration::from_nanos(units * 100)
}
