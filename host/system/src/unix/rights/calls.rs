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

/// Calls that are allowed with any arguments.
const ALLOWED: &[libc::c_long] = &[
    // Open descriptors.
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_preadv2,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_lseek,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_pipe2,
    libc::SYS_eventfd2,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    // Open sockets.
    libc::SYS_accept4,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_shutdown,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
    libc::SYS_setsockopt,
    // Files, as far as Landlock allows.
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_newfstatat,
    libc::SYS_fstat,
    libc::SYS_statx,
    libc::SYS_fstatfs,
    libc::SYS_statfs,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_getdents64,
    libc::SYS_readlinkat,
    libc::SYS_getcwd,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_ftruncate,
    libc::SYS_flock,
    libc::SYS_fallocate,
    libc::SYS_fadvise64,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync_file_range,
    libc::SYS_copy_file_range,
    // Memory; executable memory is below.
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_mincore,
    libc::SYS_membarrier,
    libc::SYS_memfd_create,
    // Threads and their waits.
    libc::SYS_futex,
    libc::SYS_futex_waitv,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_rseq,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_wait4,
    libc::SYS_waitid,
    // Time, randomness, and who we are.
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getrusage,
    libc::SYS_sysinfo,
    libc::SYS_uname,
];

/// Allowed calls that newer architectures lack.
#[cfg(target_arch = "x86_64")]
const ALLOWED_HERE: &[libc::c_long] = &[
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_epoll_wait,
    libc::SYS_dup2,
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_time,
];
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
