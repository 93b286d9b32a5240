import Dispatch
import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

@Suite(.timeLimit(.minutes(5))) struct OffloadTests {
    /// Counts when it is released.
    private final class Held: Sendable {
        private let released: Counter
        let value = 1
        init(_ released: Counter) { self.released = released }
        deinit { released.increment() }
    }

    /// A queue whose thread works until `end` is signalled.
    private func makeBusyQueue() async -> (queues: OffloadQueues, end: DispatchSemaphore) {
        let queues = OffloadQueues("test", 1)
        let (begun, end) = (Gate(), DispatchSemaphore(value: 0))
        _ = Task {
            try await Offload.run(on: queues) {
                begun.open()
                end.wait()
            }
        }
        #expect(await begun.wait())
        return (queues, end)
    }

    /// Work whose caller is gone does not wait for its turn, nor does what it holds; and what has run is
    /// released while other work waits.
    @Test func whatIsGivenUpIsReleasedAtOnce() async throws {
        let (queues, end) = await makeBusyQueue()
        let released = Counter()
        let works = (0 ..< 3).map { _ in
            let held = Held(released)
            return Task { try await Offload.run(on: queues) { held.value } }
        }
        #expect(await comesTrue { queues.waiting == 3 })
        works[1].cancel()
        await #expect(throws: CancellationError.self) { try await works[1].value }
        #expect(await comesTrue { released.value == 1 })
        #expect(queues.waiting == 2)
        end.signal()
        #expect(try await works[0].value + works[2].value == 2)
        #expect(await comesTrue { released.value == 3 })
        // Of a caller that is gone already, nothing is added.
        let last = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await Offload.run(on: queues) { 1 }
        }
        last.cancel()
        await #expect(throws: CancellationError.self) { try await last.value }
    }

    @Test func theLineHasALimit() async throws {
        let (queues, end) = await makeBusyQueue()
        let works = (0 ..< OffloadQueues.maxWaiting).map { number in
            Task { try await Offload.run(on: queues) { number } }
        }
        #expect(await comesTrue { queues.waiting == OffloadQueues.maxWaiting })
        let refusal = await #expect(throws: MCPError.self) { try await Offload.run(on: queues) { 1 } }
        #expect(refusal?.code == MCPError.overloadedCode)
        end.signal()
        for (number, work) in works.enumerated() { #expect(try await work.value == number) }
        #expect(try await Offload.run(on: queues) { 1 } == 1)
    }
}
