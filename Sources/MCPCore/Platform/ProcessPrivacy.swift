#if os(Linux)
import CMCPSystem
#endif

/// The visibility of this process to other processes of the same user.
package enum ProcessPrivacy {
    /// Hides the memory and environment of this process from other processes of its user.
    ///
    /// The commands that it starts are such processes: they could read its secrets in `/proc/PID/environ` or
    /// trace it.
    ///
    /// The process no longer leaves a core file. Children lose this protection when they execute a program,
    /// and root (CAP_SYS_PTRACE) can still see everything. Linux only.
    package static func begin() {
        #if os(Linux)
        _ = mcp_set_dumpable(0)
        #endif
    }
}
