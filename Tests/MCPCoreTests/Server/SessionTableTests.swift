import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// What sessions of the handshake revisions asked for.
@Suite struct SessionTableTests {
    final class Heard: Sendable {
        private let messages = Mutex<[String]>([])
        func add(_ message: ByteSlice) { messages.withLock { $0.append(String(message)) } }
        var all: [String] { messages.withLock { $0 } }
    }

    // LOG-07
    @Test func levelsBelongToOneSession() {
        let memory = SessionTable(bus: ChangeBus(clock: ManualClock()))
        #expect(memory.level(of: 1) == .info)
        memory.set(.alert, for: 1)
        #expect(memory.level(of: 1) == .alert)
        #expect(memory.level(of: 2) == .info)
        memory.forget(1)
        #expect(memory.level(of: 1) == .info)
    }

    // RES-12
    @Test func watchesAreBounded() {
        let memory = SessionTable(bus: ChangeBus(clock: ManualClock()))
        for number in 0 ..< SessionTable.maxURIs { #expect(memory.watch("a:\(number)", for: 1)) }
        #expect(!memory.watch("a:more", for: 1))
        // What is watched already may be watched again.
        #expect(memory.watch("a:0", for: 1))
        memory.unwatch("a:0", for: 1)
        #expect(!memory.watches("a:0", 1))
        #expect(memory.watch("a:more", for: 1))
        #expect(!memory.watches("a:1", 2))
    }

    // RES-12: what a session has withdrawn, or what it leaves behind, is not watched.
    @Test func wishes() {
        let memory = SessionTable(bus: ChangeBus(clock: ManualClock()))
        func wish(_ uri: String = "a:b") -> SessionTable.Wish { memory.wish(uri, for: 1) }
        let (withdrawn, later) = (wish(), wish("a:c"))
        memory.unwatch("a:b", for: 1)
        let again = wish()
        #expect(memory.grant(withdrawn, .own))
        #expect(!memory.watches("a:b", 1))
        #expect(memory.grant(again, .own) && memory.grant(later, .own))
        #expect(memory.watched(1) == ["a:b", "a:c"])
        let dropped = wish("a:d")
        memory.drop(dropped)
        #expect(memory.grant(dropped, .own))
        let late = wish("a:e")
        memory.forget(1)
        #expect(memory.grant(late, .own))
        #expect(memory.watched(1).isEmpty)
    }

    private static func address(_ number: Int) -> String {
        let text = "a:\(number)/"
        return text + String(repeating: "x", count: (8 << 10) - SessionTable.bytes(of: text))
    }

    @Test func addressesAreBounded() {
        let memory = SessionTable(bus: ChangeBus(clock: ManualClock()))
        let count = SessionTable.maxURIBytes / (8 << 10)
        for number in 0 ..< count { #expect(memory.watch(Self.address(number), for: 1)) }
        #expect(!memory.watch("a:more", for: 1))
        #expect(memory.watch("a:more", for: 2))
        memory.unwatch(Self.address(0), for: 1)
        #expect(memory.watch("a:more", for: 1))
    }

    /// What sessions without a stream watch is bounded; those of the longest ago make room.
    @Test func quietSessionsMakeRoom() {
        let memory = SessionTable(bus: ChangeBus(clock: ManualClock()))
        let addresses = (0 ..< SessionTable.maxURIBytes / (8 << 10)).map(Self.address)
        let count = SessionTable.maxQuietBytes / SessionTable.maxURIBytes
        memory.attach(Stream(), to: 0)
        for channel in 0 ... count {
            for address in addresses { #expect(memory.watch(address, for: UInt64(channel))) }
        }
        #expect((0 ... count).allSatisfy { memory.watches(addresses[0], UInt64($0)) })
        #expect(memory.watch("a:more", for: UInt64(count + 1)))
        #expect(!memory.watches(addresses[0], 1))
        #expect(([0] + (2 ... count)).allSatisfy { memory.watches(addresses[0], UInt64($0)) })
        // Those that end make room, too.
        memory.forget(2)
        for address in addresses.dropFirst() { #expect(memory.watch(address, for: 1)) }
        #expect(memory.watches(addresses[0], 3))
    }

    final class Stream: SessionStream {
        private struct State {
            var isLive = true
            var isForgotten = false
            var isEnded = false
        }
        private let state = Mutex(State())
        let heard = Heard()

        var isLive: Bool { state.withLock { $0.isLive } }
        var isForgotten: Bool { state.withLock { $0.isForgotten } }
        var isEnded: Bool { state.withLock { $0.isEnded } }
        func send(_ message: ByteSlice) { heard.add(message) }
        func end() { state.withLock { $0.isEnded = true } }
        func disconnect() { state.withLock { $0.isLive = false } }
        func connect() { state.withLock { $0.isLive = true } }
        func forget() { state.withLock { $0.isForgotten = true } }
    }

    // LEG-16: each message goes to one stream: the newest that is read, else the newest that was.
    @Test func oneStreamGetsAMessage() {
        let bus = ChangeBus(clock: ManualClock())
        let memory = SessionTable(bus: bus)
        let (one, two, three) = (Stream(), Stream(), Stream())
        memory.send(ByteSlice("nobody"), to: 1)
        memory.attach(one, to: 1)
        memory.attach(two, to: 1)
        #expect(memory.streamCount(1) == 2)
        memory.send(ByteSlice("a"), to: 1)
        two.disconnect()
        memory.send(ByteSlice("b"), to: 1)
        #expect(memory.streamCount(1) == 1)
        one.disconnect()
        // Kept for a client that comes back.
        memory.send(ByteSlice("c"), to: 1)
        one.connect()
        memory.attach(one, to: 1)
        memory.send(ByteSlice("d"), to: 1)
        one.disconnect()
        // A new stream takes the place of those that nobody reads.
        memory.attach(three, to: 1)
        three.disconnect()
        memory.send(ByteSlice("e"), to: 1)
        #expect(one.heard.all == ["b", "d"])
        #expect(two.heard.all == ["a", "c"])
        #expect(three.heard.all == ["e"])
        #expect(bus.hasSubscribers)
        three.forget()
        memory.send(ByteSlice("f"), to: 1)
        #expect(three.heard.all == ["e"])
        #expect(!bus.hasSubscribers)
        memory.attach(one, to: 1)
        #expect(bus.hasSubscribers)
        one.forget()
        memory.lostReader(1)
        #expect(!bus.hasSubscribers)
    }

    // LEG-16: streams that open and end at once leave no second subscriber behind, which would tell all
    // twice.
    @Test func streamsThatComeAndGoAtOnce() async {
        let bus = ChangeBus(clock: ManualClock())
        let memory = SessionTable(bus: bus)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0 ..< 8 {
                group.addTask {
                    for _ in 0 ..< 200 {
                        let stream = Stream()
                        memory.attach(stream, to: 1)
                        await Task.yield()
                        stream.disconnect()
                        stream.forget()
                        memory.lostReader(1)
                    }
                }
            }
        }
        #expect(!bus.hasSubscribers)
        let stream = Stream()
        memory.attach(stream, to: 1)
        bus.publish(.toolsList)
        bus.deliverNow()
        #expect(stream.heard.all.count == 1)
    }

    @Test func theEndOfASessionEndsItsStreams() {
        let bus = ChangeBus(clock: ManualClock())
        let memory = SessionTable(bus: bus)
        let stream = Stream()
        memory.attach(stream, to: 1)
        memory.forget(1)
        #expect(stream.isEnded)
        #expect(!bus.hasSubscribers)
        #expect(memory.streamCount(1) == 0)
    }

    @Test func sessionsMakeRoomForOthers() {
        let memory = SessionTable(bus: ChangeBus(clock: ManualClock()))
        for channelID in 0 ..< UInt64(SessionTable.maxSessions) + 1 { memory.set(.alert, for: channelID) }
        #expect(memory.level(of: 0) == .info)
        #expect(memory.level(of: UInt64(SessionTable.maxSessions)) == .alert)
    }

    // A session that is forgotten for want of room is no subscriber any more; one that is listened to stays.
    @Test func roomIsMadeByQuietSessions() {
        let bus = ChangeBus(clock: ManualClock())
        let memory = SessionTable(bus: bus)
        let (quiet, live) = (Stream(), Stream())
        memory.attach(quiet, to: 1)
        quiet.disconnect()
        memory.lostReader(1)
        memory.attach(live, to: 2)
        for channelID in 3 ... UInt64(SessionTable.maxSessions) + 2 { memory.set(.alert, for: channelID) }
        #expect(memory.streamCount(2) == 1)
        bus.publish(.toolsList)
        bus.deliverNow()
        #expect(quiet.heard.all.isEmpty)
        #expect(live.heard.all.count == 1)
        // Whoever asks again is not the one that asked the longest ago.
        memory.set(.debug, for: 4)
        for channelID in 20_000 ... 20_000 + UInt64(SessionTable.maxSessions) - 2 {
            memory.set(.alert, for: channelID)
        }
        #expect(memory.level(of: 4) == .debug)
        #expect(memory.level(of: 5) == .info)
    }

    // As many sessions as there may be cost each further one no more than a few do: the least of several runs,
    // so that a busy machine makes no difference.
    @Test func aFullMemoryIsAsFastAsAnEmptyOne() {
        func least(_ sessions: Int) -> Duration {
            let memory = SessionTable(bus: ChangeBus(clock: ManualClock()))
            for channelID in 0 ..< UInt64(sessions) { memory.set(.alert, for: channelID) }
            var next = UInt64(sessions)
            return (0 ..< 20).map { _ in
                threadTime {
                    for _ in 0 ..< 200 {
                        next += 1
                        memory.set(.alert, for: next)
                        if sessions < SessionTable.maxSessions { memory.forget(next) }
                    }
                }
            }.min() ?? .zero
        }
        let (few, full) = (least(100), least(SessionTable.maxSessions))
        #expect(full < few * 8, "\(few) with 100 sessions, \(full) with \(SessionTable.maxSessions)")
    }

    // RES-12, RES-14: more changes at once than can be named are told as every resource that is watched.
    @Test func moreChangesThanCanBeNamed() {
        let bus = ChangeBus(clock: ManualClock())
        let memory = SessionTable(bus: bus)
        let stream = Stream()
        memory.attach(stream, to: 1)
        #expect(memory.watch("a:last", for: 1))
        #expect(memory.watch("b:other", for: 1))
        for number in 0 ..< 3 * ChangeBus.maxPending { bus.publish(.resource("a:\(number)")) }
        bus.publish(.resource("a:last"))
        bus.deliverNow()
        let heard = stream.heard.all
        #expect(heard.count { $0.contains("a:last") } == 1)
        #expect(heard.count { $0.contains("b:other") } == 1)
        #expect(heard.count { $0.contains("list_changed") } == 1)
        #expect(heard.count == 3)
    }

    // What is let go while somebody is told of a change hears nothing, and nothing breaks.
    @Test func aMemoryThatIsLetGoHearsNothing() {
        let clock = ManualClock()
        let bus = ChangeBus(clock: clock)
        let stream = Stream()
        weak var gone: SessionTable?
        do {
            let memory = SessionTable(bus: bus)
            gone = memory
            memory.attach(stream, to: 1)
            bus.publish(.toolsList)
        }
        #expect(gone == nil)
        #expect(clock.scheduledCount == 1)
        clock.advance(by: .milliseconds(20))
        bus.deliverNow()
        #expect(stream.heard.all.isEmpty)
    }
}
