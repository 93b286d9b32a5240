import TestSupport
import Testing

@testable import MCPCore

/// The cache of a client's responses against a naive twin, by random commands (CACHE-05, CACHE-10, CACHE-12).
@Suite(.timeLimit(.minutes(5))) struct ResultCacheModelTests {
    private struct TwinEntry {
        let text: String
        let expires: MonotonicInstant
        let size: Int
    }

    private struct Open {
        let ticket: ResultCache.Ticket
        let key: ResultCache.Key
        let changes: Int
    }

    private static let uris = ["mem://a", "mem://a/b", "mem://ab", "mem://a/b/c", "mem://z"]

    private static func key(_ random: inout SeededRandom) throws -> ResultCache.Key {
        let method = random.pick(ResultCache.methods.sorted()) ?? ""
        if method == "resources/read" {
            let uri = random.pick(uris) ?? ""
            return try #require(ResultCache.Key(method, ["uri": .string(uri)]))
        }
        let cursor = random.below(3)
        return try #require(ResultCache.Key(method, cursor == 0 ? [:] : ["cursor": .string("\(cursor)")]))
    }

    /// Whether a change makes a response stale, in the words of the specification.
    private static func isStale(_ key: ResultCache.Key, after change: ServerChange) -> Bool {
        switch change {
        case .toolsListChanged: key.method == "tools/list"
        case .promptsListChanged: key.method == "prompts/list"
        case .resourcesListChanged: ["resources/list", "resources/templates/list"].contains(key.method)
        case .resourceUpdated(let uri):
            key.uri.map { $0 == uri || (uri + "/").hasPrefix($0 + "/") || ($0 + "/").hasPrefix(uri + "/") }
                ?? false
        case .resubscribed: true
        case .task: false
        }
    }

    @Test(arguments: [11, 12, 13, 14, 15, 16]) func anyCommands(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let clock = ManualClock()
        let cache = ResultCache(clock: clock)
        var twin: [ResultCache.Key: TwinEntry] = [:]
        var open: [Open] = []
        var changes = 0
        for step in 0 ..< 4_000 {
            let key = try Self.key(&random)
            switch random.below(10) {
            case 0 ..< 3:
                open.append(Open(ticket: cache.ticket(for: key), key: key, changes: changes))
            case 3 ..< 6:
                guard !open.isEmpty else { continue }
                let request = open.remove(at: random.below(open.count))
                let ttl = random.pick([-1, 0, 1, 50, 400, 90_000_000]) ?? 0
                let text = #"{"n":\#(step),"ttlMs":\#(ttl)}"#
                cache.keep(try RawJSON(validating: text), request.ticket)
                twin[request.key] = nil
                let lifetime = min(Duration.milliseconds(ttl), .seconds(86_400))
                if ttl > 0, request.changes == changes {
                    twin[request.key] = TwinEntry(
                        text: text, expires: clock.now + lifetime,
                        size: text.utf8.count + request.key.params.utf8.count)
                }
            case 6:
                let change =
                    random.pick([
                        ServerChange.toolsListChanged, .promptsListChanged, .resourcesListChanged,
                        .resourceUpdated(random.pick(Self.uris) ?? ""), .resubscribed,
                    ]) ?? .resubscribed
                if case .resubscribed = change, random.below(10) != 0 { continue }
                cache.drop(change)
                changes += 1
                twin = twin.filter { !Self.isStale($0.key, after: change) }
            case 7:
                clock.advance(by: .milliseconds(random.below(60)))
            default:
                break
            }
            let expected = twin[key].flatMap { clock.now < $0.expires ? $0.text : nil }
            let found = cache.result(for: key).map { String($0.result.bytes) }
            // What has expired is dropped when it is asked for.
            if expected == nil { twin[key] = nil }
            guard found == expected, cache.count == twin.count,
                cache.bytes == twin.values.map(\.size).reduce(0, +)
            else {
                Issue.record(
                    "seed \(seed), step \(step), \(key): \(found ?? "nothing"), not \(expected ?? "nothing")")
                return
            }
        }
    }
}
