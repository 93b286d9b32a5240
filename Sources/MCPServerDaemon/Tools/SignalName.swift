#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The names of signals, for the results of commands that one of them killed.
enum SignalName {
    private static let names: [Int32: String] = [
        SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP",
        SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL", SIGUSR1: "SIGUSR1",
        SIGSEGV: "SIGSEGV", SIGUSR2: "SIGUSR2", SIGPIPE: "SIGPIPE", SIGALRM: "SIGALRM", SIGTERM: "SIGTERM",
        SIGXCPU: "SIGXCPU: its processor time is used up", SIGXFSZ: "SIGXFSZ: its file became too large",
        SIGSYS: "SIGSYS: a system call that its sandbox does not allow",
    ]

    /// Returns the name, such as `SIGTERM`; of a signal without one, its number.
    static func name(_ number: Int32) -> String {
        names[number].map { String($0.prefix { $0 != ":" }) } ?? "\(number)"
    }

    /// Returns a text such as `signal 9 (SIGKILL)`.
    static func text(_ number: Int32) -> String {
        "signal \(number)" + (names[number].map { " (\($0))" } ?? "")
    }
}
