/// How a process ended.
package enum ProcessExit: Sendable, Hashable, CustomStringConvertible {
    /// It returned this code.
    case exited(Int32)
    /// This signal killed it.
    case signaled(Int32)
    /// Somebody else collected its status, or SIGCHLD is ignored in this process.
    case unknown

    /// Decodes what waitpid stored; the macros for it are not visible in Swift.
    init(waitStatus: Int32) {
        let signal = waitStatus & 0x7F
        self = signal == 0 ? .exited((waitStatus >> 8) & 0xFF) : .signaled(signal)
    }

    package var description: String {
        switch self {
        case .exited(let code): "exit code \(code)"
        case .signaled(let signal): "killed by signal \(signal)"
        case .unknown: "unknown exit status"
        }
    }
}
