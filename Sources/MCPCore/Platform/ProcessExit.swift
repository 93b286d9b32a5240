/// The way a process ended.
package enum ProcessExit: Sendable, Hashable, CustomStringConvertible {
    /// The process exited with this code.
    case exited(Int32)
    /// The process was killed by this signal.
    case signaled(Int32)
    /// Other code collected its status, or SIGCHLD is ignored in this process.
    case unknown

    /// Decodes the status that waitpid stored; the macros for this are not visible in Swift.
    init(waitStatus: Int32) {
        let signal = waitStatus & 0x7F
        self = signal == 0 ? .exited((waitStatus >> 8) & 0xFF) : .signaled(signal)
    }

    /// What follows the name of the program in a sentence.
    package var description: String {
        switch self {
        case .exited(let code): "exited with status \(code)"
        case .signaled(let signal): "was killed by signal \(signal)"
        case .unknown: "ended"
        }
    }
}
