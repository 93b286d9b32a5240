// Makes ThreadSanitizer see that Swift's `Mutex` orders what it protects. On Linux, it is a futex, which the sanitizer
// does not know, so that it would report races that do not exist. Linked into each program, whose symbols come before
// those of the Swift runtime: each slow path of `Synchronization` is followed or preceded by what the sanitizer
// understands. The fast path is inlined atomic code, which it sees itself.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT bool try_lock_slow(SELF) __asm__(TRY);
SWIFT void unlock_slow(SELF) __asm__(UNLOCK);

SWIFT void lock_slow(uint32_t thread, SELF) {
    static SWIFT void (*real)(uint32_t, SELF);
    if (!real) real = dlsym(RTLD_NEXT, LOCK);
    real(thread, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT bool try_lock_slow(SELF) {
    static SWIFT bool (*real)(SELF);
    if (!real) real = dlsym(RTLD_NEXT, TRY);
    bool locked = real(self);
    if (locked && __tsan_acquire) __tsan_acquire(self);
    return locked;
}

SWIFT void unlock_slow(SELF) {
    static SWIFT void (*real)(SELF);
    if (!real) real = dlsym(RTLD_NEXT, UNLOCK);
    if (__tsan_release) __tsan_release(self);
    real(self);
}

// What ends a process is in its report, so that side tables alone (sanitize.sh) change no status.
const char *__tsan_default_options(void) {
    return "second_deadlock_stack=1:exitcode=0:suppressions=" SUPPRESSIONS ":log_path=" REPORT;
}
