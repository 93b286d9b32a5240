import MCPCore
import Synchronization
import TestSupport
import Testing

struct AlarmTests {
    private final class Owner: Sendable {
        private let count = Mutex(0)
        func wake() { count.withLock { $0 += 1 } }
        var wakes: Int { count.withLock { $0 } }
    }

    /// The earliest moment counts, and the alarm can be set again from then on.
    @Test func itRingsAtTheEarliestMoment() async {
        let clock = ManualClock()
        let alarm = Alarm(label: "alarm", clock: clock)
        let owner = Owner()
        for seconds in [5, 7, 3] {
            alarm.set(for: clock.now + .seconds(seconds), waking: owner) { $0.wake() }
        }
        // The later moment was compared and no more.
        #expect(clock.scheduledCount == 2)
        clock.advance(by: .seconds(3))
        await waitUntil { owner.wakes == 1 }
        // The one for 5 s was replaced.
        clock.advance(by: .seconds(10))
        alarm.set(for: clock.now + .seconds(1), waking: owner) { $0.wake() }
        clock.advance(by: .seconds(1))
        await waitUntil { owner.wakes == 2 }
        #expect(owner.wakes == 2)
    }

    @Test func itKeepsNobodyAlive() {
        let clock = ManualClock()
        let alarm = Alarm(label: "alarm", clock: clock)
        weak var seen: Owner?
        do {
            let owner = Owner()
            seen = owner
            alarm.set(for: clock.now + .seconds(1), waking: owner) { $0.wake() }
            #expect(seen != nil)
        }
        #expect(seen == nil)
    }
}
