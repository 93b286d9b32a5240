import MCPCore
import Synchronization

/// The results of calls that identical calls receive, too: at the same time, and for a while afterwards.
///
/// Calls are identical if tool, arguments and principal are. Only successful results are kept.
final class ResultCache: Sendable {
    /// The number of results that are kept; the oldest is dropped.
    static let maxCount = 256
    /// The size of all kept results together, roughly.
    static let maxTotalBytes = 16 << 20
    /// The largest result that is kept.
    static let maxBytes = 1 << 20

    struct Key: Sendable, Hashable {
        var tool: String
        var principal: String
        var arguments: [UInt8]
    }

    private struct Entry {
        var result: CallToolResult
        var size: Int
        var expiry: MonotonicInstant
        var number: Int
    }

    /// A run that calls wait for.
    private struct Flight {
        let number: Int
        var run: Task<CallToolResult, any Error>
        /// The calls that still wait; without any, the run is cancelled.
        var callers: Int
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var flights: [Key: Flight] = [:]
        var size = 0
        var lastNumber = 0
    }

    private let clock: any TimeSource
    private let state = Mutex(State())

    init(clock: any TimeSource = SystemClock()) { self.clock = clock }

    /// The number of calls that wait for a run with this key.
    func callers(of key: Key) -> Int { state.withLock { $0.flights[key]?.callers ?? 0 } }

    /// Returns the result of an identical call, or of `run`.
    ///
    /// - Parameter joined: called when the call waits for the run of another one; what it returns is
    ///   cancelled when the wait is over.
    func result(
        _ key: Key, ttl: Duration, joined: () -> Task<Void, any Error>? = { nil },
        _ run: @escaping @Sendable () async throws -> CallToolResult
    ) async throws -> CallToolResult {
        let now = clock.now
        enum Step { case kept(CallToolResult), wait(Task<CallToolResult, any Error>, isOwn: Bool) }
        let step = state.withLock { state -> Step in
            if let entry = state.entries[key] {
                if entry.expiry > now { return .kept(entry.result) }
                Self.drop(key, &state)
            }
            if let flight = state.flights[key] {
                state.flights[key]?.callers += 1
                return .wait(flight.run, isOwn: false)
            }
            state.lastNumber += 1
            let number = state.lastNumber
            let task = Task { [self] in
                let outcome: Result<CallToolResult, any Error>
                do { outcome = .success(try await run()) } catch { outcome = .failure(error) }
                end(key, number, outcome, ttl: ttl)
                return try outcome.get()
            }
            state.flights[key] = Flight(number: number, run: task, callers: 1)
            return .wait(task, isOwn: true)
        }
        switch step {
        case .kept(let result): return result
        case .wait(let task, let isOwn):
            let company = isOwn ? nil : joined()
            defer { company?.cancel() }
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                leave(key, task)
            }
        }
    }

    private func leave(_ key: Key, _ task: Task<CallToolResult, any Error>) {
        let isLast = state.withLock { state -> Bool in
            guard let flight = state.flights[key], flight.run == task else { return false }
            if flight.callers > 1 {
                state.flights[key]?.callers -= 1
                return false
            }
            // The next call must not wait for a run that is being cancelled.
            state.flights[key] = nil
            return true
        }
        if isLast { task.cancel() }
    }

    private func end(
        _ key: Key, _ number: Int, _ outcome: Result<CallToolResult, any Error>, ttl: Duration
    ) {
        let expiry = clock.now + ttl
        state.withLock { state in
            // Otherwise nobody waits for this run any more.
            guard state.flights[key]?.number == number else { return }
            state.flights[key] = nil
            guard case .success(let result) = outcome, !result.isError,
                // The resource may be forgotten before the result is.
                !result.content.contains(where: { $0.type == .resourceLink })
            else { return }
            let size = Self.size(of: result) + key.arguments.count
            guard size <= Self.maxBytes else { return }
            Self.drop(key, &state)
            state.lastNumber += 1
            state.entries[key] = Entry(result: result, size: size, expiry: expiry, number: state.lastNumber)
            state.size += size
            while state.entries.count > Self.maxCount || state.size > Self.maxTotalBytes {
                guard let oldest = state.entries.min(by: { $0.value.number < $1.value.number }) else { break }
                Self.drop(oldest.key, &state)
            }
        }
    }

    private static func drop(_ key: Key, _ state: inout State) {
        if let entry = state.entries.removeValue(forKey: key) { state.size -= entry.size }
    }

    private static func size(of result: CallToolResult) -> Int {
        result.content.reduce(256) { $0 + ($1.text?.utf8.count ?? 0) + 128 }
            + (result.structuredContent?.serialized().utf8.count ?? 0)
    }
}
