import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Whether the process does nothing but run one target, so that its memory is that of the target.
nonisolated(unsafe) var isAlone = false

/// A property that an input violated.
struct Finding: Error, CustomStringConvertible {
    let description: String
}

func require(
    _ isRight: Bool, _ text: @autoclosure () -> String, file: StaticString = #fileID, line: Int = #line
) throws {
    if !isRight { throw Finding(description: "\(file):\(line): \(text())") }
}

/// Runs a step whose processor time has a limit, in seconds. Instrumented code is some ten times slower than
/// that of a release.
func limited<R>(_ what: String, to limit: Double, _ body: () throws -> R) throws -> R {
    func now() -> Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
    let start = now()
    let result = try body()
    let used = now() - start
    try require(used <= limit, "\(what) took \(used) s")
    return result
}

/// Runs asynchronous code to its end on behalf of this thread, which must not be one of the pool.
func blocking(
    _ what: String, seconds: Int = 20, _ body: @escaping @Sendable () async throws -> Void
) throws {
    let done = DispatchSemaphore(value: 0)
    let outcome = Outcome()
    let task = Task.detached {
        do {
            try await body()
        } catch {
            outcome.error.withLock { $0 = error }
        }
        done.signal()
    }
    guard done.wait(timeout: .now() + .seconds(seconds)) == .success else {
        task.cancel()
        throw Finding(description: "\(what) did not end within \(seconds) s")
    }
    if let error = outcome.error.withLock({ $0 }) { throw error }
}

private final class Outcome: Sendable {
    let error = Mutex<(any Error)?>(nil)
}

/// Calls a parser with a copy of the bytes that ends where its memory ends, so that AddressSanitizer sees one
/// byte too many.
func withExactCopy<R>(
    of bytes: some Collection<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) throws -> R
) rethrows -> R {
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
    defer { unsafe copy.deallocate() }
    _ = unsafe copy.initialize(from: bytes)
    return unsafe try body(UnsafeBufferPointer(copy))
}

extension [UInt8] {
    /// The lines of an input that is a script, without empty ones.
    func lines(atMost count: Int) -> [[UInt8]] {
        split(separator: 0x0A, maxSplits: count).prefix(count).map { Array($0) }
    }

    /// The parts before and after the first byte 0.
    var halves: (first: [UInt8], second: [UInt8]) {
        guard let place = firstIndex(of: 0) else { return (self, []) }
        return (Array(self[..<place]), Array(self[(place + 1)...]))
    }

    /// How many bytes a target passes on at once: 1 to 16, chosen by the input.
    var step: Int { Int((last ?? 0) & 15) + 1 }

    var text: String { String(decoding: self, as: UTF8.self) }
}
