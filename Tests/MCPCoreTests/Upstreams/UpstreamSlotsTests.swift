import TestSupport
import Testing

@testable import MCPCore

/// The places at a server that callers share.
@Suite(.timeLimit(.minutes(5))) struct UpstreamSlotsTests {
    private static let eve = UpstreamSlots.Caller(key: "eve", isPrincipal: true)
    private static let alice = UpstreamSlots.Caller(key: "alice", isPrincipal: true)

    private static func enters(_ slots: UpstreamSlots, _ caller: UpstreamSlots.Caller) async -> Bool {
        do { try await slots.enter(caller) } catch { return false }
        return true
    }

    /// One caller leaves a quarter of the line to others, and goes after them.
    static func oneCallerDoesNotFillTheLine() async throws {
        let slots = UpstreamSlots(1, areShared: true)
        try await slots.enter(eve)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0 ... UpstreamLimits.waitingOfOne { group.addTask { await enters(slots, eve) } }
            // One more than its part of the line.
            #expect(await group.next() == false)
            #expect(slots.waiting == UpstreamLimits.waitingOfOne)
            let other = Task { await enters(slots, alice) }
            #expect(await comesTrue { slots.waiting == UpstreamLimits.waitingOfOne + 1 })
            // In her first round are one call of eve and hers.
            slots.leave(eve)
            #expect(await group.next() == true)
            slots.leave(eve)
            #expect(await other.value)
            #expect(slots.waiting == UpstreamLimits.waitingOfOne - 1)
            slots.leave(alice)
            #expect(await group.next() == true)
            group.cancelAll()
        }
        slots.leave(eve)
        #expect(await enters(slots, alice))
    }

    /// One principal leaves a quarter of the places to others.
    static func onePrincipalDoesNotTakeAllPlaces() async throws {
        for (count, share) in [(1, 1), (3, 3), (4, 3), (64, 48)] {
            #expect(UpstreamSlots(count, areShared: true).share(of: eve) == share)
            #expect(UpstreamSlots(count, areShared: true).share(of: .init(key: "7")) == count)
            #expect(UpstreamSlots(count).share(of: eve) == count)
        }
        let slots = UpstreamSlots(4, areShared: true)
        for _ in 0 ..< 3 { try await slots.enter(eve) }
        let further = Task { await enters(slots, eve) }
        #expect(await comesTrue { slots.waiting == 1 })
        try await slots.enter(alice)
        slots.leave(alice)
        #expect(slots.waiting == 1)
        slots.leave(eve)
        #expect(await further.value)
    }

    @Test func shares() async throws {
        try await Self.oneCallerDoesNotFillTheLine()
        try await Self.onePrincipalDoesNotTakeAllPlaces()
    }

    /// Newcomers do not overtake those who wait for ever.
    @Test func everybodyHasATurn() async throws {
        let slots = UpstreamSlots(1, areShared: true)
        try await slots.enter(Self.eve)
        let second = Task { await Self.enters(slots, Self.eve) }
        #expect(await comesTrue { slots.waiting == 1 })
        let third = Task { await Self.enters(slots, Self.eve) }
        #expect(await comesTrue { slots.waiting == 2 })
        slots.leave(Self.eve)
        #expect(await second.value)
        let newcomer = Task { await Self.enters(slots, Self.alice) }
        #expect(await comesTrue { slots.waiting == 2 })
        slots.leave(Self.eve)
        #expect(await third.value)
        slots.leave(Self.eve)
        #expect(await newcomer.value)
        slots.leave(Self.alice)
        #expect(slots.waiting == 0)
    }
}
