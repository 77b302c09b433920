/*
 * abi.h - names that gcc's and clang's ThreadSanitizer libraries export beside the hooks, for
 * programs that call them: the runtime and the stub of `heddle cc` define them all.
 * tests/e2e/record_abi.t compares the list with the libraries that are installed.
 */
#ifndef HEDDLE_ABI_H
#define HEDDLE_ABI_H

/* clang-format off */

/* No effect; return 0, NULL or nothing. */
#define ABI_IDLE(F) \
	F(AnnotateBenignRace) F(AnnotateBenignRaceSized) F(AnnotateCondVarSignal) \
	F(AnnotateCondVarSignalAll) F(AnnotateCondVarWait) \
	F(AnnotateEnableRaceDetection) F(AnnotateExpectRace) \
	F(AnnotateFlushExpectedRaces) F(AnnotateFlushState) \
	F(AnnotateIgnoreSyncBegin) F(AnnotateIgnoreSyncEnd) \
	F(AnnotateMemoryIsInitialized) F(AnnotateMemoryIsUninitialized) \
	F(AnnotateMutexIsNotPHB) F(AnnotateMutexIsUsedAsCondVar) F(AnnotateNewMemory) \
	F(AnnotateNoOp) F(AnnotatePCQCreate) F(AnnotatePCQDestroy) F(AnnotatePCQGet) \
	F(AnnotatePCQPut) F(AnnotatePublishMemoryRange) F(AnnotateThreadName) \
	F(AnnotateTraceMemory) F(AnnotateUnpublishMemoryRange) F(RunningOnValgrind) \
	F(WTFAnnotateBenignRaceSized) F(__sanitizer_acquire_crash_state) \
	F(__sanitizer_cov_8bit_counters_init) F(__sanitizer_cov_bool_flag_init) \
	F(__sanitizer_cov_dump) F(__sanitizer_cov_pcs_init) F(__sanitizer_cov_reset) \
	F(__sanitizer_cov_trace_cmp) F(__sanitizer_cov_trace_cmp1) \
	F(__sanitizer_cov_trace_cmp2) F(__sanitizer_cov_trace_cmp4) \
	F(__sanitizer_cov_trace_cmp8) F(__sanitizer_cov_trace_const_cmp1) \
	F(__sanitizer_cov_trace_const_cmp2) F(__sanitizer_cov_trace_const_cmp4) \
	F(__sanitizer_cov_trace_const_cmp8) F(__sanitizer_cov_trace_div4) \
	F(__sanitizer_cov_trace_div8) F(__sanitizer_cov_trace_gep) \
	F(__sanitizer_cov_trace_pc_guard) F(__sanitizer_cov_trace_pc_guard_init) \
	F(__sanitizer_cov_trace_pc_indir) F(__sanitizer_cov_trace_switch) \
	F(__sanitizer_dump_coverage) F(__sanitizer_dump_trace_pc_guard_coverage) \
	F(__sanitizer_get_allocated_size) F(__sanitizer_get_current_allocated_bytes) \
	F(__sanitizer_get_estimated_allocated_size) F(__sanitizer_get_free_bytes) \
	F(__sanitizer_get_heap_size) F(__sanitizer_get_module_and_offset_for_pc) \
	F(__sanitizer_get_ownership) F(__sanitizer_get_report_path) \
	F(__sanitizer_get_unmapped_bytes) \
	F(__sanitizer_install_malloc_and_free_hooks) F(__sanitizer_print_stack_trace) \
	F(__sanitizer_set_death_callback) F(__sanitizer_set_report_fd) \
	F(__sanitizer_set_report_path) F(__sanitizer_symbolize_global) \
	F(__sanitizer_symbolize_pc) F(__tsan_create_fiber) F(__tsan_destroy_fiber) \
	F(__tsan_external_assign_tag) F(__tsan_external_read) \
	F(__tsan_external_register_header) F(__tsan_external_register_tag) \
	F(__tsan_external_write) F(__tsan_flush_memory) F(__tsan_get_alloc_stack) \
	F(__tsan_get_current_fiber) F(__tsan_get_current_report) \
	F(__tsan_get_report_data) F(__tsan_get_report_loc) \
	F(__tsan_get_report_loc_object_type) F(__tsan_get_report_mop) \
	F(__tsan_get_report_mutex) F(__tsan_get_report_stack) \
	F(__tsan_get_report_tag) F(__tsan_get_report_thread) \
	F(__tsan_get_report_unique_tid) F(__tsan_java_alloc) F(__tsan_java_finalize) \
	F(__tsan_java_find) F(__tsan_java_fini) F(__tsan_java_free) \
	F(__tsan_java_init) F(__tsan_java_move) F(__tsan_locate_address) \
	F(__tsan_set_fiber_name) F(__tsan_switch_to_fiber) \
	F(__tsan_testonly_shadow_stack_current_size)

/* Recorded by the runtime. */
#define ABI_ACTING(F) \
	F(AnnotateHappensBefore) F(AnnotateHappensAfter) F(WTFAnnotateHappensBefore) \
	F(WTFAnnotateHappensAfter) F(AnnotateIgnoreReadsBegin) \
	F(AnnotateIgnoreReadsEnd) F(__tsan_java_mutex_lock) \
	F(__tsan_java_mutex_unlock) F(__tsan_java_mutex_read_lock) \
	F(__tsan_java_mutex_read_unlock) F(__tsan_java_acquire) \
	F(__tsan_java_release) F(__tsan_java_release_store) \
	F(__tsan_java_mutex_lock_rec) F(__tsan_java_mutex_unlock_rec) \
	F(AnnotateIgnoreWritesBegin) F(AnnotateIgnoreWritesEnd) \
	F(AnnotateRWLockAcquired) F(AnnotateRWLockCreate) \
	F(AnnotateRWLockCreateStatic) F(AnnotateRWLockDestroy) \
	F(AnnotateRWLockReleased) F(__tsan_mutex_post_divert) \
	F(__tsan_mutex_pre_divert) F(__tsan_mutex_post_signal) \
	F(__tsan_mutex_pre_signal)

/* The barrier of ThreadSanitizer's own tests, which must not order: the number of threads in
 * the lowest byte, the number of arrivals above. */
enum { ABI_BARRIER_STEP = 256 };
static inline unsigned long long abi_barrier_round(unsigned long long barrier)
{
	unsigned long long count = barrier % ABI_BARRIER_STEP;
	return count ? barrier / ABI_BARRIER_STEP / count : 0;
}

/* Functions that a program may define for the library to call; never called. */
#define ABI_CALLBACKS(F) \
	F(__tsan_default_options) F(__tsan_default_suppressions) F(__tsan_on_report) \
	F(__tsan_symbolize_external) F(__tsan_symbolize_external_ex) \
	F(__tsan_test_only_on_fork) F(__sanitizer_malloc_hook) F(__sanitizer_free_hook) \
	F(__sanitizer_on_print) F(__sanitizer_report_error_summary) \
	F(__sanitizer_sandbox_on_notify) F(__tsan_on_initialize) \
	F(__sanitizer_weak_hook_memcmp) F(__sanitizer_weak_hook_memmem) \
	F(__sanitizer_weak_hook_strcasecmp) F(__sanitizer_weak_hook_strcasestr) \
	F(__sanitizer_weak_hook_strcmp) F(__sanitizer_weak_hook_strncasecmp) \
	F(__sanitizer_weak_hook_strncmp) F(__sanitizer_weak_hook_strstr)

/* __sanitizer_syscall_pre_impl_NAME and ..._post_impl_NAME of sanitizer/linux_syscall_hooks.h:
 * no effect. */
#define ABI_SYSCALLS(F) \
	F(accept) F(accept4) F(access) F(acct) F(add_key) F(adjtimex) F(alarm) F(bdflush) \
	F(bind) F(brk) F(capget) F(capset) F(chdir) F(chmod) F(chown) F(chroot) \
	F(clock_adjtime) F(clock_getres) F(clock_gettime) F(clock_nanosleep) \
	F(clock_settime) F(close) F(connect) F(creat) F(delete_module) F(dup) F(dup2) \
	F(dup3) F(epoll_create) F(epoll_create1) F(epoll_ctl) F(epoll_pwait) F(epoll_pwait2) \
	F(epoll_wait) F(eventfd) F(eventfd2) F(exit) F(exit_group) F(faccessat) F(fchdir) \
	F(fchmod) F(fchmodat) F(fchown) F(fchownat) F(fcntl) F(fcntl64) F(fdatasync) \
	F(fgetxattr) F(flistxattr) F(flock) F(fork) F(fremovexattr) F(fsetxattr) F(fstat) \
	F(fstat64) F(fstatat64) F(fstatfs) F(fstatfs64) F(fsync) F(ftruncate) F(futimesat) \
	F(get_mempolicy) F(get_robust_list) F(getcpu) F(getcwd) F(getdents) F(getdents64) \
	F(getegid) F(geteuid) F(getgid) F(getgroups) F(gethostname) F(getitimer) \
	F(getpeername) F(getpgid) F(getpgrp) F(getpid) F(getppid) F(getpriority) \
	F(getrandom) F(getresgid) F(getresuid) F(getrlimit) F(getrusage) F(getsid) \
	F(getsockname) F(getsockopt) F(gettid) F(gettimeofday) F(getuid) F(getxattr) \
	F(init_module) F(inotify_add_watch) F(inotify_init) F(inotify_init1) \
	F(inotify_rm_watch) F(io_cancel) F(io_destroy) F(io_getevents) F(io_setup) \
	F(io_submit) F(ioctl) F(ioperm) F(ioprio_get) F(ioprio_set) F(ipc) F(kexec_load) \
	F(keyctl) F(kill) F(lchown) F(lgetxattr) F(link) F(linkat) F(listen) F(listxattr) \
	F(llistxattr) F(llseek) F(lookup_dcookie) F(lremovexattr) F(lseek) F(lsetxattr) \
	F(lstat) F(lstat64) F(madvise) F(mbind) F(migrate_pages) F(mincore) F(mkdir) \
	F(mkdirat) F(mknod) F(mknodat) F(mlock) F(mlockall) F(mmap_pgoff) F(mount) \
	F(move_pages) F(mprotect) F(mq_getsetattr) F(mq_notify) F(mq_open) \
	F(mq_timedreceive) F(mq_timedsend) F(mq_unlink) F(mremap) F(msgctl) F(msgget) \
	F(msgrcv) F(msgsnd) F(msync) F(munlock) F(munlockall) F(munmap) F(name_to_handle_at) \
	F(nanosleep) F(newfstat) F(newfstatat) F(newlstat) F(newstat) F(newuname) \
	F(ni_syscall) F(nice) F(old_getrlimit) F(old_mmap) F(old_readdir) F(old_select) \
	F(oldumount) F(olduname) F(open) F(open_by_handle_at) F(openat) F(pause) \
	F(pciconfig_iobase) F(pciconfig_read) F(pciconfig_write) F(perf_event_open) \
	F(personality) F(pipe) F(pipe2) F(pivot_root) F(poll) F(ppoll) F(pread64) F(preadv) \
	F(prlimit64) F(process_vm_readv) F(process_vm_writev) F(pselect6) F(ptrace) \
	F(pwrite64) F(pwritev) F(quotactl) F(read) F(readlink) F(readlinkat) F(readv) \
	F(reboot) F(recv) F(recvfrom) F(recvmmsg) F(recvmsg) F(remap_file_pages) \
	F(removexattr) F(rename) F(renameat) F(request_key) F(restart_syscall) F(rmdir) \
	F(rt_sigaction) F(rt_sigpending) F(rt_sigprocmask) F(rt_sigqueueinfo) \
	F(rt_sigtimedwait) F(rt_tgsigqueueinfo) F(sched_get_priority_max) \
	F(sched_get_priority_min) F(sched_getaffinity) F(sched_getparam) \
	F(sched_getscheduler) F(sched_rr_get_interval) F(sched_setaffinity) \
	F(sched_setparam) F(sched_setscheduler) F(sched_yield) F(select) F(semctl) F(semget) \
	F(semop) F(semtimedop) F(send) F(sendfile) F(sendfile64) F(sendmmsg) F(sendmsg) \
	F(sendto) F(set_mempolicy) F(set_robust_list) F(set_tid_address) F(setdomainname) \
	F(setfsgid) F(setfsuid) F(setgid) F(setgroups) F(sethostname) F(setitimer) F(setns) \
	F(setpgid) F(setpriority) F(setregid) F(setresgid) F(setresuid) F(setreuid) \
	F(setrlimit) F(setsid) F(setsockopt) F(settimeofday) F(setuid) F(setxattr) \
	F(sgetmask) F(shmat) F(shmctl) F(shmdt) F(shmget) F(shutdown) F(sigaction) \
	F(sigaltstack) F(signal) F(signalfd) F(signalfd4) F(sigpending) F(sigprocmask) \
	F(socket) F(socketcall) F(socketpair) F(splice) F(spu_create) F(spu_run) F(ssetmask) \
	F(stat) F(stat64) F(statfs) F(statfs64) F(stime) F(swapoff) F(swapon) F(symlink) \
	F(symlinkat) F(sync) F(syncfs) F(sysctl) F(sysfs) F(sysinfo) F(syslog) F(tee) \
	F(tgkill) F(time) F(timer_create) F(timer_delete) F(timer_getoverrun) \
	F(timer_gettime) F(timer_settime) F(timerfd_create) F(timerfd_gettime) \
	F(timerfd_settime) F(times) F(tkill) F(truncate) F(umask) F(umount) F(uname) \
	F(unlink) F(unlinkat) F(unshare) F(uselib) F(ustat) F(utime) F(utimensat) F(utimes) \
	F(vfork) F(vhangup) F(vmsplice) F(wait4) F(waitid) F(waitpid) F(write) F(writev)

#endif
