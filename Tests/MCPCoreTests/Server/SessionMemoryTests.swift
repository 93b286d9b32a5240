import Synchronization
import Testing

@testable import MCPCore

/// What sessions of the handshake revisions asked for.
@Suite struct SessionMemoryTests {
    private final class Heard: Sendable {
        private let messages = Mutex<[String]>([])
        func add(_ message: ByteSlice) { messages.withLock { $0.append(String(message)) } }
        var all: [String] { messages.withLock { $0 } }
    }

    // LOG-07
    @Test func levelsBelongToOneSession() {
        let memory = SessionMemory(bus: ChangeBus())
        #expect(memory.level(of: 1) == .info)
        memory.set(.alert, for: 1)
        #expect(memory.level(of: 1) == .alert)
        #expect(memory.level(of: 2) == .info)
        memory.forget(1)
        #expect(memory.level(of: 1) == .info)
    }

    // RES-12
    @Test func watchesAreBounded() {
        let memory = SessionMemory(bus: ChangeBus())
        for number in 0 ..< SessionMemory.maximumURIs { #expect(memory.watch("a:\(number)", for: 1)) }
        #expect(!memory.watch("a:more", for: 1))
        // What is watched already may be watched again.
        #expect(memory.watch("a:0", for: 1))
        memory.unwatch("a:0", for: 1)
        #expect(!memory.watches("a:0", 1))
        #expect(memory.watch("a:more", for: 1))
        #expect(!memory.watches("a:1", 2))
    }

    // LEG-16: each message goes to one stream, the newest.
    @Test func oneStreamGetsAMessage() {
        let bus = ChangeBus()
        let memory = SessionMemory(bus: bus)
        let (first, second) = (Heard(), Heard())
        let one = memory.attach(1) { first.add($0) }
        let two = memory.attach(1) { second.add($0) }
        memory.send(ByteSlice("a"), to: 1)
        memory.detach(two, from: 1)
        memory.send(ByteSlice("b"), to: 1)
        #expect(first.all == ["b"])
        #expect(second.all == ["a"])
        #expect(bus.hasSubscribers)
        memory.detach(one, from: 1)
        #expect(!bus.hasSubscribers)
        memory.send(ByteSlice("c"), to: 1)
        #expect(first.all == ["b"])
    }

    @Test func theEndOfASessionEndsItsStreams() {
        let bus = ChangeBus()
        let memory = SessionMemory(bus: bus)
        let ended = Heard()
        _ = memory.attach(1, end: { ended.add(ByteSlice("end")) }) { _ in }
        memory.forget(1)
        #expect(ended.all == ["end"])
        #expect(!bus.hasSubscribers)
        #expect(memory.streamCount(1) == 0)
    }

    @Test func sessionsMakeRoomForOthers() {
        let memory = SessionMemory(bus: ChangeBus())
        for scope in 0 ..< UInt64(SessionMemory.maximumSessions) + 1 { memory.set(.alert, for: scope) }
        #expect(memory.level(of: 0) == .info)
        #expect(memory.level(of: UInt64(SessionMemory.maximumSessions)) == .alert)
    }
}
