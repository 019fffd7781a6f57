//! seccomp: the allowed system calls.
//!
//! Reading, writing, waiting, memory and time are allowed; and files, which Landlock restricts. So no program or
//! process can be started, no new socket can connect or listen, memory never becomes executable, and other processes
//! cannot be reached.

use std::collections::BTreeMap;

use seccompiler::SeccompCmpArgLen::{Dword, Qword};
use seccompiler::SeccompCmpOp::{Eq, MaskedEq};
use seccompiler::{
    BackendError, BpfProgram, Error, SeccompAction, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter_all_threads,
};

/// System calls, by their names in the C library.
macro_rules! calls {
    ($($call:ident)+) => {
        &[$(libc::$call),+]
    };
}

/// Calls that are allowed with any arguments.
const ALLOWED: &[libc::c_long] = calls! {
    // Open descriptors.
    SYS_read SYS_readv SYS_pread64 SYS_preadv SYS_preadv2 SYS_write SYS_writev SYS_pwrite64
    SYS_pwritev SYS_pwritev2 SYS_lseek SYS_close SYS_close_range SYS_dup SYS_dup3 SYS_pipe2
    SYS_eventfd2 SYS_epoll_create1 SYS_epoll_ctl SYS_epoll_pwait SYS_epoll_pwait2 SYS_ppoll
    SYS_pselect6
    // Open sockets.
    SYS_accept4 SYS_recvfrom SYS_recvmsg SYS_shutdown SYS_getsockname SYS_getpeername SYS_getsockopt
    SYS_setsockopt
    // Files, as far as Landlock allows.
    SYS_openat SYS_openat2 SYS_newfstatat SYS_fstat SYS_statx SYS_fstatfs SYS_statfs SYS_faccessat
    SYS_faccessat2 SYS_getdents64 SYS_readlinkat SYS_getcwd SYS_mkdirat SYS_unlinkat SYS_renameat
    SYS_renameat2 SYS_linkat SYS_symlinkat SYS_ftruncate SYS_flock SYS_fallocate SYS_fadvise64
    SYS_fsync SYS_fdatasync SYS_sync_file_range SYS_copy_file_range
    // Memory; executable memory is below.
    SYS_brk SYS_munmap SYS_mremap SYS_madvise SYS_mincore SYS_membarrier SYS_memfd_create
    // Threads and their waits.
    SYS_futex SYS_futex_waitv SYS_set_robust_list SYS_get_robust_list SYS_set_tid_address SYS_rseq
    SYS_sched_yield SYS_sched_getaffinity SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn
    SYS_rt_sigtimedwait SYS_sigaltstack SYS_restart_syscall SYS_exit SYS_exit_group SYS_wait4
    SYS_waitid
    // Time, randomness, and who we are.
    SYS_clock_gettime SYS_clock_getres SYS_clock_nanosleep SYS_nanosleep SYS_gettimeofday
    SYS_getrandom SYS_getpid SYS_getppid SYS_gettid SYS_getuid SYS_geteuid SYS_getgid SYS_getegid
    SYS_getrusage SYS_sysinfo SYS_uname
};

/// Allowed calls that newer architectures lack.
#[cfg(target_arch = "x86_64")]
const ALLOWED_HERE: &[libc::c_long] = calls! {
    SYS_poll SYS_select SYS_epoll_wait SYS_dup2 SYS_open SYS_stat SYS_lstat SYS_access SYS_readlink
    SYS_mkdir SYS_rmdir SYS_unlink SYS_rename SYS_time
};
#[cfg(not(target_arch = "x86_64"))]
const ALLOWED_HERE: &[libc::c_long] = &[];

/// Calls that are allowed if an argument, counted from 0, is this. Other arguments send keys to a terminal (`TIOCSTI`),
/// send signals to any process (`F_SETOWN`), or let the log be overwritten (`F_SETFL`).
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "these are small, and of other types on other systems"
)]
const NAMED: &[(libc::c_long, u8, u32)] = &[
    (libc::SYS_fcntl, 1, libc::F_DUPFD as u32),
    (libc::SYS_fcntl, 1, libc::F_DUPFD_CLOEXEC as u32),
    (libc::SYS_fcntl, 1, libc::F_GETFD as u32),
    (libc::SYS_fcntl, 1, libc::F_SETFD as u32),
    (libc::SYS_fcntl, 1, libc::F_GETFL as u32),
    (libc::SYS_fcntl, 1, libc::F_ADD_SEALS as u32),
    (libc::SYS_ioctl, 1, libc::FIONBIO as u32),
    (libc::SYS_ioctl, 1, libc::FIONREAD as u32),
    (libc::SYS_ioctl, 1, libc::FIOCLEX as u32),
    (libc::SYS_ioctl, 1, libc::TCGETS as u32),
    (libc::SYS_ioctl, 1, libc::TIOCGWINSZ as u32),
    (libc::SYS_prctl, 0, libc::PR_SET_NAME as u32),
    (libc::SYS_prctl, 0, libc::PR_SET_VMA as u32),
];

/// The call that fails as on a kernel without it.
const UNKNOWN: libc::c_long = libc::SYS_clone3;

pub fn give_up() -> Result<(), String> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)
        .map_err(|_| format!("seccomp is not supported on {}", std::env::consts::ARCH))?;
    let programs = unknown(arch).and_then(|unknown| Ok([unknown, filter(arch)?]));
    let programs = programs.map_err(|error| format!("seccomp fails: {error}"))?;
    let mut applied = programs
        .iter()
        .map(|program| apply_filter_all_threads(program));
    applied.try_for_each(|applied| applied.map_err(|error| why(&error)))
}

fn why(error: &Error) -> String {
    match error {
        Error::Seccomp(error) | Error::Prctl(error)
            if error.raw_os_error() == Some(libc::EINVAL) =>
        {
            "this kernel has no seccomp filters".to_owned()
        }
        error => format!("seccomp fails: {error}"),
    }
}

/// The allowed calls; all others fail with "not permitted", which programs handle.
fn filter(arch: TargetArch) -> Result<BpfProgram, BackendError> {
    let all = ALLOWED.iter().chain(ALLOWED_HERE).chain([&UNKNOWN]);
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = all.map(|call| (*call, Vec::new())).collect();
    let mut allow = |call, conditions: Vec<SeccompCondition>| {
        let rule = SeccompRule::new(conditions)?;
        rules.entry(call).or_default().push(rule);
        Ok::<_, BackendError>(())
    };
    for (call, position, value) in NAMED {
        let is_it = SeccompCondition::new(*position, Dword, Eq, u64::from(*value))?;
        allow(*call, vec![is_it])?;
    }
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        let code = u64::from(libc::PROT_EXEC.cast_unsigned());
        let is_none = SeccompCondition::new(2, Dword, MaskedEq(code), 0)?;
        allow(call, vec![is_none])?;
    }
    // Threads, but no processes.
    let thread = u64::from((libc::CLONE_VM | libc::CLONE_THREAD).cast_unsigned());
    let is_thread = SeccompCondition::new(0, Qword, MaskedEq(thread), thread)?;
    allow(libc::SYS_clone, vec![is_thread])?;
    // Signals to ourselves: an abort sends one.
    let is_ours = SeccompCondition::new(0, Dword, Eq, std::process::id().into())?;
    allow(libc::SYS_tgkill, vec![is_ours])?;
    // Times may be set on open files, not by path.
    let is_open = SeccompCondition::new(1, Qword, Eq, 0)?;
    allow(libc::SYS_utimensat, vec![is_open])?;
    // Data may be sent only over existing connections: a listening socket could connect by sending (TCP Fast Open).
    let fast_open = u64::from(libc::MSG_FASTOPEN.cast_unsigned());
    let does_not_connect = |flags| SeccompCondition::new(flags, Dword, MaskedEq(fast_open), 0);
    let has_no_address = SeccompCondition::new(4, Qword, Eq, 0)?;
    allow(libc::SYS_sendto, vec![does_not_connect(3)?, has_no_address])?;
    allow(libc::SYS_sendmsg, vec![does_not_connect(2)?])?;
    // Limits may be read, not set.
    let is_read = SeccompCondition::new(2, Qword, Eq, 0)?;
    allow(libc::SYS_prlimit64, vec![is_read])?;
    let refused = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    SeccompFilter::new(rules, refused, SeccompAction::Allow, arch)?.try_into()
}

/// The filter for [`UNKNOWN`], which newer libraries try first and whose arguments a filter cannot check. They fall
/// back to an older call on a kernel without it. Of two filters, the stricter one counts.
fn unknown(arch: TargetArch) -> Result<BpfProgram, BackendError> {
    let rules = BTreeMap::from([(UNKNOWN, Vec::new())]);
    let unknown = SeccompAction::Errno(libc::ENOSYS.cast_unsigned());
    SeccompFilter::new(rules, SeccompAction::Allow, unknown, arch)?.try_into()
}
