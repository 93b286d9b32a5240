import MCPCore
import Synchronization

/// Calls that run at the same time.
struct Load: Sendable {
    let client: MCPClient
    let params: JSONObject
    let timeout: Duration

    enum Outcome {
        case ok
        /// The tool reported an error, in text for a terminal.
        case toolError(String)
        /// The server refused the call, or there was no response.
        case noResult(any Error)

        /// The error in text for a terminal; nil if there is none.
        var error: String? {
            switch self {
            case .ok: nil
            case .toolError(let text): text
            case .noResult(let error):
                inlineText(MaskedText.urls(in: (error as? ClientError)?.message ?? "\(error)"))
            }
        }
    }

    /// The durations of some calls, in nanoseconds, and the number that failed.
    struct Tally: Sendable {
        var times: [Int64] = []
        var errors = 0
        var firstError: String?

        mutating func add(_ other: Tally) {
            times += other.times
            errors += other.errors
            firstError = firstError ?? other.firstError
        }
    }

    func callOnce() async -> Outcome {
        do {
            let result = try await client.request(
                "tools/call", params, options: CallOptions(timeout: timeout))
            guard result["isError"]?.bool == true else { return .ok }
            return .toolError(inlineText(result["content"]?[0]?["text"]?.string ?? "isError"))
        } catch {
            return .noResult(error)
        }
    }

    /// Makes `count` calls, `tasks` at a time; fewer when the command is stopped.
    func run(_ count: Int, tasks: Int) async -> Tally {
        let started = SharedCount()
        return await withTaskGroup(of: Tally.self) { group in
            for _ in 0 ..< min(tasks, count) {
                group.addTask(executorPreference: client.executor) {
                    var tally = Tally()
                    tally.times.reserveCapacity(count / tasks + 1)
                    while started.next() <= count, !Task.isCancelled {
                        let start = ContinuousClock.now
                        let outcome = await callOnce()
                        // A call that was abandoned says nothing about the server.
                        if outcome.error != nil, Task.isCancelled { break }
                        tally.times.append((ContinuousClock.now - start).nanosecondsClamped)
                        if let error = outcome.error {
                            tally.errors += 1
                            tally.firstError = tally.firstError ?? error
                        }
                    }
                    return tally
                }
            }
            var all = Tally()
            for await tally in group { all.add(tally) }
            return all
        }
    }

    private final class SharedCount: Sendable {
        private let count = Atomic<Int>(0)
        func next() -> Int { count.add(1, ordering: .relaxed).newValue }
    }
}

extension Duration {
    var nanosecondsClamped: Int64 {
        let (seconds, attoseconds) = components
        guard seconds < 9_000_000_000 else { return .max }
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
