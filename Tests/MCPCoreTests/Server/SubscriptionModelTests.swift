import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// What subscribers hear of changes, and a full table of sessions, against plain models, by random commands.
@Suite(.timeLimit(.minutes(5))) struct SubscriptionModelTests {
    static let seeds: [UInt64] = [1, 2, 3, 4, 5, 6]

    private final class Stream: SessionStream {
        private let state = Mutex((isLive: true, isForgotten: false, heard: [String]()))

        var isLive: Bool { state.withLock { $0.isLive } }
        var isForgotten: Bool { state.withLock { $0.isForgotten } }
        var heard: [String] { state.withLock { $0.heard } }

        func send(_ message: ByteSlice) {
            let json = (try? RawJSON(validating: message)) ?? RawJSON.null
            let uri = json["params"]?["uri"]?.string.map { " \($0)" } ?? ""
            state.withLock { $0.heard.append((json["method"]?.string ?? "") + uri) }
        }

        func end() {}
        func lose(forgotten: Bool) { state.withLock { ($0.isLive, $0.isForgotten) = (false, forgotten) } }
    }

    private struct Twin {
        var uris: Set<String> = []
        var streams: [Stream] = []

        /// The stream that gets the next message.
        var reader: Stream? { streams.last(where: \.isLive) ?? streams.last { !$0.isForgotten } }
    }

    private static let changes: [(change: Change, text: String)] = [
        (.toolsList, "notifications/tools/list_changed"),
        (.promptsList, "notifications/prompts/list_changed"),
        (.resourcesList, "notifications/resources/list_changed"),
    ]

    private static func resource(_ number: Int) -> (change: Change, text: String) {
        (.resource("a:\(number)"), "notifications/resources/updated a:\(number)")
    }

    /// Each change is reported once to each session that asked for it, in order, on one stream.
    @Test(arguments: seeds) func changes(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let bus = ChangeBus(clock: ManualClock())
        var table: SessionTable? = SessionTable(bus: bus)
        var twin: [UInt64: Twin] = [:]
        var pending: [(change: Change, text: String)] = []
        var expected: [ObjectIdentifier: [String]] = [:]
        var all: [Stream] = []
        for step in 0 ..< 3_000 {
            let channel = UInt64(random.below(5))
            let uri = "a:\(random.below(6))"
            let table = try #require(table)
            switch random.below(12) {
            case 0, 1:
                let stream = Stream()
                all.append(stream)
                table.attach(stream, to: channel)
                twin[channel, default: Twin()].streams.removeAll { !$0.isLive }
                twin[channel, default: Twin()].streams.append(stream)
            case 2:
                guard let stream = random.pick(twin[channel]?.streams ?? []) else { continue }
                stream.lose(forgotten: random.below(2) == 0)
                table.lostReader(channel)
                twin[channel]?.streams.removeAll(where: \.isForgotten)
            case 3, 4:
                #expect(table.watch(uri, for: channel))
                twin[channel, default: Twin()].uris.insert(uri)
            case 5:
                table.unwatch(uri, for: channel)
                twin[channel]?.uris.remove(uri)
            case 6 where random.below(6) == 0:
                table.forget(channel)
                twin[channel] = nil
            case 7, 8, 9:
                let one = random.pick(Self.changes + (0 ..< 6).map(Self.resource)) ?? Self.changes[0]
                bus.publish(one.change)
                let isHeard = twin.values.contains { !$0.streams.isEmpty }
                #expect(bus.hasSubscribers == isHeard, "seed \(seed), step \(step)")
                if isHeard, !pending.contains(where: { $0.change == one.change }) { pending.append(one) }
            default:
                bus.deliverNow()
                for session in twin.values {
                    guard let reader = session.reader else { continue }
                    for (change, text) in pending {
                        if case .resource(let uri) = change, !session.uris.contains(uri) { continue }
                        expected[ObjectIdentifier(reader), default: []].append(text)
                    }
                }
                pending = []
                for stream in all where stream.heard != expected[ObjectIdentifier(stream)] ?? [] {
                    Issue.record("seed \(seed), step \(step): \(stream.heard.suffix(5))")
                    return
                }
            }
        }
        // A server that goes while a change is on its way.
        bus.publish(.toolsList)
        all = []
        twin = [:]
        table = nil
        bus.deliverNow()
    }

    /// A full table keeps the sessions that are heard, and of the others those that asked last.
    @Test(arguments: seeds.prefix(3)) func aFullTableOfSessions(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let bus = ChangeBus(clock: ManualClock())
        let table = SessionTable(bus: bus)
        // By channel: when a session without a reader was last changed, and the streams of the others.
        var (quiet, heard): ([UInt64: Int], [UInt64: Stream]) = ([:], [:])
        var (clock, next) = (0, UInt64(0))
        func change(_ channel: UInt64) {
            clock += 1
            if heard[channel] == nil { quiet[channel] = clock }
            guard quiet.count > SessionTable.maxSessions, let oldest = quiet.min(by: { $0.value < $1.value })
            else { return }
            quiet[oldest.key] = nil
        }
        func fresh() -> UInt64 {
            next += 1
            return next
        }
        for _ in 0 ..< SessionTable.maxSessions {
            let channel = fresh()
            table.set(.alert, for: channel)
            change(channel)
        }
        for step in 0 ..< 600 {
            let channel = random.below(2) == 0 ? fresh() : 1 + UInt64(random.below(Int(next)))
            switch random.below(6) {
            case 0 where heard[channel] == nil:
                table.set(.alert, for: channel)
                change(channel)
                let stream = Stream()
                table.attach(stream, to: channel)
                quiet[channel] = nil
                heard[channel] = stream
            case 1:
                guard let (channel, stream) = heard.randomElement(using: &random) else { continue }
                stream.lose(forgotten: random.below(2) == 0)
                table.lostReader(channel)
                heard[channel] = nil
                change(channel)
            case 2:
                table.forget(channel)
                (quiet[channel], heard[channel]) = (nil, nil)
            default:
                table.set(.alert, for: channel)
                change(channel)
            }
            for channel in [channel, 1 + UInt64(random.below(Int(next))), 1 + UInt64(step)] {
                let isKept = quiet[channel] != nil || heard[channel] != nil
                guard (table.level(of: channel) == .alert) == isKept else {
                    Issue.record("seed \(seed), step \(step): session \(channel) is kept: \(!isKept)")
                    return
                }
            }
        }
        for channel in 0 ... next { table.forget(channel) }
        #expect(!bus.hasSubscribers, "seed \(seed)")
    }

    /// Ended sessions stay ended, however many there are; when no more are remembered, the end is refused.
    @Test(.ownThreads, arguments: seeds) func endedSessions(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let keys = StateKeys(Array(repeating: 7, count: 32))
        let sessions = LegacySessions(keys: keys, lifetime: 100, maxEnded: 20)
        var (now, open): (Int64, [String: Int64]) = (1_000, [:])
        // In the order in which they ended.
        var ended: [(id: String, forgotten: Int64)] = []
        let negotiated = NegotiatedSession(revision: Revision.all[0], abilities: [])
        for step in 0 ..< 1_500 {
            switch random.below(8) {
            case 0 ..< 3:
                let bytes = (0 ..< 16).map { _ in UInt8(random.below(256)) }
                open[sessions.make(negotiated, principal: "", now: now, uptime: now, random: bytes)] =
                    now + 100
            case 3: now += Int64(random.below(30))
            default:
                guard let id = random.pick(open.keys.sorted()),
                    let session = try? sessions.open(ByteSlice(id), principal: "", now: now, uptime: now)
                else { continue }
                ended = Array(ended.drop { $0.forgotten <= now })
                let wait = sessions.end(session, uptime: now)
                #expect((wait == nil) == (ended.count < 20), "seed \(seed), step \(step)")
                guard wait == nil, open.removeValue(forKey: id) != nil else { continue }
                ended.append((id, now + 100 + 300))
            }
            for (id, expires) in open {
                let isOpen = (try? sessions.open(ByteSlice(id), principal: "", now: now, uptime: now)) != nil
                #expect(isOpen == (now < expires), "seed \(seed), step \(step)")
            }
            for (id, _) in ended {
                #expect(
                    throws: LegacySessions.Refusal.self,
                    "seed \(seed), step \(step): an ended session is served"
                ) {
                    try sessions.open(ByteSlice(id), principal: "", now: now, uptime: now)
                }
            }
            open = open.filter { now < $0.value }
        }
    }
}
