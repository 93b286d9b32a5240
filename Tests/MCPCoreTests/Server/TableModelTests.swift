import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// The tables of the server and the client against naive twins, by random commands.
///
/// Each walk prints its seed and step when they disagree. A full table is one of the commands. Tables with a walk of
/// their own: `BoundedTableTests`, `PendingRequestTests`, `ServerTaskTests`, `LoopTimerTests`.
@Suite(.timeLimit(.minutes(5))) struct TableModelTests {
    static let seeds: [UInt64] = [1, 2, 3, 4, 5, 6]

    private final class Entry: Sendable {
        let number: Int
        init(_ number: Int) { self.number = number }
    }

    // MARK: Requests in flight

    @Test(arguments: seeds) func requestsInFlight(seed: UInt64) {
        typealias Table = InFlightTable<Entry>
        var random = SeededRandom(seed: seed)
        let table = Table()
        var twin: [Table.Key: Int] = [:]
        for step in 0 ..< 5_000 {
            // An integer and the string of its digits are two ids.
            let number = random.below(12)
            let id = random.below(2) == 0 ? RequestID(Int64(number)) : RequestID("\(number)")
            let key = Table.Key(channelID: UInt64(random.below(3)), id: id)
            let open = twin.keys.count { $0.channelID == key.channelID }
            switch random.below(10) {
            case 0 ..< 5:
                let refusal = table.insert(Entry(step), at: key, limit: 8)
                switch refusal {
                case .duplicate: #expect(twin[key] != nil, "seed \(seed), step \(step)")
                case .full: #expect(twin[key] == nil && open == 8, "seed \(seed), step \(step)")
                case nil:
                    #expect(twin[key] == nil && open < 8, "seed \(seed), step \(step)")
                    twin[key] = step
                }
            case 5 ..< 8:
                table.remove(key)
                twin[key] = nil
            case 8:
                let scope = twin.filter { $0.key.channelID == key.channelID }.values
                #expect(table.entries(in: key.channelID).map(\.number).sorted() == scope.sorted())
            default:
                #expect(table.entries().map(\.number).sorted() == twin.values.sorted())
            }
            guard table.count == twin.count, table.entry(at: key)?.number == twin[key],
                table.contains(key) == (twin[key] != nil)
            else {
                Issue.record("seed \(seed), step \(step): \(table.count) and not \(twin.count)")
                return
            }
        }
    }

    // MARK: Calls of a client

    @Test(arguments: seeds) func callsOfAClient(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let table = PendingCalls<Int>()
        var twin: [Int64: Int] = [:]
        var last: Int64 = 0
        for step in 0 ..< 3_000 {
            let id = Int64(random.below(Int(last) + 3))
            switch random.below(6) {
            case 0 ..< 3 where twin.count < 20:
                var given: Int64 = 0
                let opened = table.open { id in
                    given = id
                    return step
                }
                last += 1
                twin[last] = step
                #expect(opened == step && given == last, "seed \(seed), step \(step)")
            case 0 ..< 5:
                let id = random.below(2) == 0 ? random.pick(twin.keys.sorted()) ?? id : id
                table.remove(id)
                twin[id] = nil
            default:
                #expect(table.all.sorted() == twin.values.sorted())
                #expect(table.call(RequestID("\(id)")) == nil)
            }
            guard table.count == twin.count, table.call(id) == twin[id], table.lastID == last,
                table.only == (twin.count == 1 ? twin.values.first : nil)
            else {
                Issue.record("seed \(seed), step \(step): \(table.count) and not \(twin.count)")
                return
            }
        }
        #expect(table.close().sorted() == twin.values.sorted())
        #expect(table.open { _ in 1 } == nil && table.count == twin.count)
    }

    // MARK: Events that are kept

    @Test(arguments: seeds) func keptEvents(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let (maxEvents, maxBytes) = (1 + random.below(12), 1 + random.below(200))
        var log = ReplayLog(name: "s", maxEvents: maxEvents, maxBytes: maxBytes)
        var twin: [(number: Int, bytes: Int)] = []
        var dropped = 0
        for step in 1 ... 2_000 {
            let bytes = random.below(80)
            let isFull = random.below(20) == 0
            twin.append((step, bytes))
            while !twin.isEmpty,
                isFull
                    || (twin.count > 1
                        && (twin.count > maxEvents || twin.map(\.bytes).reduce(0, +) > maxBytes))
            {
                dropped += twin.removeFirst().bytes
            }
            let number = log.append(
                ByteSlice(Array(repeating: 0x61, count: bytes)), isFull: { isFull }, drop: { dropped -= $0 })
            let after = random.below(step + 3)
            let firstKept = twin.first?.number ?? step + 1
            guard number == step, log.last == step, dropped == 0, log.bytes == twin.map(\.bytes).reduce(0, +),
                log.events(after: after).map(\.number) == twin.map(\.number).filter({ $0 > after }),
                log.isComplete(after: after) == (after >= firstKept - 1 && after <= step),
                log.number(of: log.id(of: after)) == after
            else {
                Issue.record(
                    "seed \(seed), step \(step): \(log.events(after: 0).map(\.number)) and not \(twin)")
                return
            }
        }
    }

    // MARK: Sessions

    private final class Stream: SessionStream {
        private let state = Mutex((isLive: true, isForgotten: false, isEnded: false, heard: 0))

        var isLive: Bool { state.withLock { $0.isLive } }
        var isForgotten: Bool { state.withLock { $0.isForgotten } }
        var isEnded: Bool { state.withLock { $0.isEnded } }
        var heard: Int { state.withLock { $0.heard } }
        func send(_ message: ByteSlice) { state.withLock { $0.heard += 1 } }
        func end() { state.withLock { $0.isEnded = true } }
        func lose(forgotten: Bool) { state.withLock { ($0.isLive, $0.isForgotten) = (false, forgotten) } }
    }

    private struct TwinSession {
        var level: LoggingLevel?
        var uris: Set<String> = []
        var streams: [Stream] = []
    }

    @Test(arguments: seeds) func sessions(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let table = SessionTable(bus: ChangeBus(clock: ManualClock()))
        var twin: [UInt64: TwinSession] = [:]
        var expectedHeard: [ObjectIdentifier: Int] = [:]
        var all: [Stream] = []
        for step in 0 ..< 4_000 {
            let channel = UInt64(random.below(4))
            let uri = "a:\(random.below(5))"
            switch random.below(9) {
            case 0:
                let level = random.pick(LoggingLevel.allCases) ?? .info
                table.set(level, for: channel)
                twin[channel, default: TwinSession()].level = level
            case 1, 2:
                #expect(table.watch(uri, for: channel))
                twin[channel, default: TwinSession()].uris.insert(uri)
            case 3:
                table.unwatch(uri, for: channel)
                twin[channel]?.uris.remove(uri)
            case 4:
                let stream = Stream()
                all.append(stream)
                table.attach(stream, to: channel)
                twin[channel, default: TwinSession()].streams.removeAll { !$0.isLive }
                twin[channel, default: TwinSession()].streams.append(stream)
            case 5:
                guard let stream = random.pick(twin[channel]?.streams ?? []) else { continue }
                stream.lose(forgotten: random.below(2) == 0)
                table.lostReader(channel)
                twin[channel]?.streams.removeAll(where: \.isForgotten)
            case 6 where random.below(10) == 0:
                table.forget(channel)
                for stream in twin[channel]?.streams ?? [] {
                    #expect(stream.isEnded, "seed \(seed), step \(step)")
                }
                twin[channel] = nil
            default:
                table.send(ByteSlice("x"), to: channel)
                let streams = twin[channel]?.streams ?? []
                if let stream = streams.last(where: \.isLive) ?? streams.last(where: { !$0.isForgotten }) {
                    expectedHeard[ObjectIdentifier(stream), default: 0] += 1
                }
            }
            let session = twin[channel]
            guard table.level(of: channel) == session?.level ?? .info,
                table.watched(channel) == session?.uris ?? [],
                table.streamCount(channel) == session?.streams.count(where: \.isLive) ?? 0
            else {
                Issue.record(
                    "seed \(seed), step \(step): session \(channel) is not \(String(describing: session))")
                return
            }
        }
        for stream in all { #expect(stream.heard == expectedHeard[ObjectIdentifier(stream), default: 0]) }
        for channel in 0 ..< UInt64(4) { table.forget(channel) }
    }
}
