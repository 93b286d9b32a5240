#if os(Linux)
import CMCPSystem
#endif

/// What other processes of the same user may see of this one.
package enum ProcessPrivacy {
    /// Hides the memory and the environment of this process from other processes of its user, as the commands
    /// that it starts are: they could read its secrets in `/proc/PID/environ` or trace it.
    ///
    /// The process leaves no core file any more. Children begin without this when they execute a program, and
    /// root (CAP_SYS_PTRACE) sees everything still. Linux only.
    package static func begin() {
        #if os(Linux)
        _ = mcp_set_dumpable(0)
        #endif
    }
}
