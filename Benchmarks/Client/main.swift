// Calls `echo` of a server COUNT times, CONCURRENCY at a time, and prints the processor time of this process per
// 100,000 calls as one line of JSON. Usage: benchmark-client URL COUNT CONCURRENCY [loop|pool]
//
// `loop` makes the calls on the client's own executor, `pool` on the runtime's.

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif
import MCPCore
import Synchronization

struct Usage {
    var user: Double
    var system: Double

    static var now: Usage {
        var usage = rusage()
        getrusage(0, &usage)  // RUSAGE_SELF, whose type differs
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return Usage(user: seconds(usage.ru_utime), system: seconds(usage.ru_stime))
    }
}

final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}

@Sendable func run(_ client: MCPClient, _ count: Int, _ concurrency: Int) async throws {
    let started = Counter()
    let arguments: JSONObject = ["text": "hello world"]
    try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0 ..< concurrency {
            group.addTask {
                while started.next() <= count {
                    let text: String = try await client.call("echo", arguments)
                    if text != "hello world" { fatalError("an unexpected answer: \(text)") }
                }
            }
        }
        try await group.waitForAll()
    }
}

let words = CommandLine.arguments
guard words.count >= 4, let count = Int(words[2]), let concurrency = Int(words[3]) else {
    fatalError("usage: benchmark-client URL COUNT CONCURRENCY [loop|pool]")
}
let client = try await MCPClient.connect(.http(words[1]), options: ClientOptions(name: "bench", version: "1.0"))
let executor = words.count > 4 && words[4] == "pool" ? nil : client.executor
let clock = ContinuousClock()
// Opens the connections and fills caches.
try await withTaskExecutorPreference(executor) { try await run(client, min(count, 4 * concurrency), concurrency) }
let before = Usage.now
let start = clock.now
try await withTaskExecutorPreference(executor) { try await run(client, count, concurrency) }
let (elapsed, after) = (start.duration(to: clock.now), Usage.now)
await client.close()
let scale = 1e5 / Double(max(count, 1))
let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
print(
    "{\"calls\":\(count),\"user\":\((after.user - before.user) * scale),"
        + "\"system\":\((after.system - before.system) * scale),\"perSecond\":\(Double(count) / seconds)}")
