import MCPCore
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What went wrong in a helper, as a test failure shows it.
struct FaultTestError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The end of a bounded wait.
struct Deadline {
    private let end: ContinuousClock.Instant

    init(_ limit: Duration) { end = .now + limit }

    var isOver: Bool { ContinuousClock.now >= end }

    /// What is left, rounded up, for `poll`.
    private var milliseconds: Int32 {
        let left = ContinuousClock.now.duration(to: end)
        return left <= .zero ? 0 : Int32(clamping: left.milliseconds + 1)
    }

    /// Waits until one of the descriptors is ready and returns what each is ready for, in poll's bits.
    func wait(for descriptors: [(descriptor: Int32, events: Int32)]) throws -> [Int32] {
        var entries = descriptors.map {
            pollfd(fd: $0.descriptor, events: Int16(truncatingIfNeeded: $0.events), revents: 0)
        }
        while true {
            let count = try Syscalls.poll(&entries, timeoutMilliseconds: milliseconds)
            if count > 0 { return entries.map { Int32($0.revents) } }
            if isOver { throw FaultTestError("nothing happened within the time") }
        }
    }
}
