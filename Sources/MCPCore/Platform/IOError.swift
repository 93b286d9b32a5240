#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A failed call to the operating system.
package struct IOError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error number, for example ENOENT.
    package let errno: Int32
    /// The call that failed, with the object it was applied to where that helps: `open /etc/x`.
    package let function: String

    package init(errno: Int32, function: String) {
        self.errno = errno
        self.function = function
    }

    /// Creates an error from the thread's current error number; use it directly after the failed call.
    package init(_ function: StaticString) {
        self.init(errno: currentErrno(), function: "\(function)")
    }

    /// Whether there is nothing at a path.
    package var isMissingFile: Bool { errno == ENOENT || errno == ENOTDIR }

    /// Whether an `accept` failed because of the connection that it would have returned, and not because of
    /// the socket. Linux also reports network errors of the new connection this way (accept(2)).
    package var isOfOneConnection: Bool {
        switch errno {
        case ECONNABORTED, EPROTO, ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH, EOPNOTSUPP: true
        default: false
        }
    }

    /// The operating system's text for the error number.
    package var reason: String { describeErrno(errno) }

    package var description: String { "\(function): \(reason)" }

    /// Returns the same error with the object that the call was applied to.
    package func applied(to subject: String) -> IOError {
        IOError(errno: errno, function: "\(function) \(subject)")
    }
}

@inline(__always)
func currentErrno() -> Int32 { errno }

/// Returns the text for an error number. strerror_r needs a buffer, but it is the only thread-safe variant.
func describeErrno(_ number: Int32) -> String {
    var text = [CChar](repeating: 0, count: 256)
    guard unsafe strerror_r(number, &text, text.count - 1) == 0 else { return "error \(number)" }
    let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return String(decoding: bytes, as: UTF8.self)
}
