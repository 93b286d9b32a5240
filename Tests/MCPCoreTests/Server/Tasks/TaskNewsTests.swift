import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// What subscribers hear of tasks.
@Suite(.timeLimit(.minutes(5))) struct TaskNewsTests {
    private final class Listener: ChangeSubscriber {
        private let log = Mutex<[Change]>([])
        var heard: [Change] { log.withLock { $0 } }
        func take(_ changes: [Change]) { log.withLock { $0 += changes } }
    }

    // TASK-19: of a task that changes often only the newest state is told, and others are not crowded out.
    @Test func newestOnly() {
        let bus = ChangeBus(clock: ManualClock())
        bus.publish(.task(id: "a", json: RawJSON(0)))
        let listener = Listener()
        let number = bus.add(listener)
        for step in 0 ..< 5_000 {
            bus.publish(.task(id: step % 2 == 0 ? "a" : "b", json: RawJSON(JSONValue(step))))
        }
        bus.publish(.toolsList)
        bus.deliverNow()
        let tasks = listener.heard.compactMap { change -> String? in
            if case .task(let id, _) = change { id } else { nil }
        }
        #expect(tasks == ["a", "b"])
        #expect(listener.heard.contains(.task(id: "a", json: RawJSON(4998))))
        #expect(listener.heard.contains(.task(id: "b", json: RawJSON(4999))))
        #expect(listener.heard.contains(.toolsList) && !listener.heard.contains(.resourcesList))
        let count = listener.heard.count
        bus.publish(.task(id: "a", json: RawJSON(1)))
        bus.deliverNow()
        #expect(listener.heard.count == count + 1)
        bus.remove(number)
        #expect(!bus.hasSubscribers)
    }
}
