#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A failed call of the operating system.
package struct IOError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error number, for example ENOENT.
    package let errno: Int32
    /// The call that failed, with what it was applied to where that helps: `open /etc/x`.
    package let function: String

    package init(errno: Int32, function: String) {
        self.errno = errno
        self.function = function
    }

    /// Takes the thread's current error number, so it must be made directly after the call.
    package init(_ function: StaticString) {
        self.init(errno: currentErrno(), function: "\(function)")
    }

    /// Whether an `accept` failed for the connection that it would have returned, and not for the socket.
    /// Linux reports network errors of the new connection there, too (accept(2)).
    package var isOfOneConnection: Bool {
        switch errno {
        case ECONNABORTED, EPROTO, ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH, EOPNOTSUPP: true
        default: false
        }
    }

    /// The operating system's words for the error number.
    package var reason: String { describeErrno(errno) }

    package var description: String { "\(function): \(reason)" }

    /// The same error, saying what the call was applied to.
    package func applied(to subject: String) -> IOError {
        IOError(errno: errno, function: "\(function) \(subject)")
    }
}

@inline(__always)
func currentErrno() -> Int32 { errno }

/// strerror_r needs a buffer but is the only variant that is safe with threads.
func describeErrno(_ number: Int32) -> String {
    var text = [CChar](repeating: 0, count: 256)
    guard unsafe strerror_r(number, &text, text.count - 1) == 0 else { return "error \(number)" }
    let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return String(decoding: bytes, as: UTF8.self)
}
