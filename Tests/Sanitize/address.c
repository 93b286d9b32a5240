// The options of a program under AddressSanitizer, also of one that a test starts without its own environment. What
// ends a process is in its report, so that side tables alone (sanitize.sh) change no status.
const char *__asan_default_options(void) {
    return "detect_leaks=1:exitcode=0:detect_stack_use_after_return=0:log_path=" REPORT;
}
