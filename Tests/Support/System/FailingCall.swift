#if DEBUG
import Synchronization

@testable package import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The system calls of one scenario, counted; one of them fails, once.
///
/// The tests of a process run side by side, so a scenario is told by the thread or the directory of its
/// calls.
package final class FailingCall: Sendable {
    private struct State {
        var calls: [String] = []
        var failed: String?
    }

    private let index: Int
    private let number: Int32
    private let isOurs: @Sendable (_ function: String, _ fd: Int32) -> Bool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - index: which of the calls fails, from 0 on; -1 fails none.
    ///   - number: the error number.
    package init(
        _ index: Int, _ number: Int32,
        where isOurs: @escaping @Sendable (_ function: String, _ fd: Int32) -> Bool
    ) {
        self.index = index
        self.number = number
        self.isOurs = isOurs
    }

    /// All calls on a descriptor of `directory` or of something beneath it.
    package convenience init(_ index: Int, _ number: Int32, beneath directory: String) {
        self.init(index, number) { _, fd in
            guard fd >= 0, let path = Self.path(of: fd) else { return false }
            return path == directory || path.hasPrefix(directory + "/")
        }
    }

    package var plan: FaultInjection.Plan {
        { [self] function, fd in
            guard isOurs(function, fd) else { return nil }
            return state.withLock { state in
                state.calls.append(function)
                guard state.calls.count - 1 == index else { return nil }
                state.failed = function
                return number
            }
        }
    }

    /// The calls so far, by their names.
    package var calls: [String] { state.withLock { $0.calls } }
    /// The call that has failed.
    package var failed: String? { state.withLock { $0.failed } }

    private static func path(of fd: Int32) -> String? {
        #if os(Linux)
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes -> Int in
            guard let base = bytes.baseAddress else { return -1 }
            return unsafe readlink(
                "/proc/self/fd/\(fd)", base.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
        #else
        var buffer = [UInt8](repeating: 0, count: Int(MAXPATHLEN) + 1)
        let status = unsafe buffer.withUnsafeMutableBytes { bytes -> Int32 in
            guard let base = bytes.baseAddress else { return -1 }
            return unsafe fcntl(fd, F_GETPATH, base)
        }
        return status == 0 ? String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self) : nil
        #endif
    }
}
#endif
