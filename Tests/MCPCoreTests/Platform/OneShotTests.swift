import Testing

@testable import MCPCore

struct OneShotTests {
    @Test func theFirstResultCounts() async {
        let result = OneShot<Int?>()
        #expect(!result.isFinished)
        #expect(result.finish(nil))
        #expect(!result.finish(2))
        #expect(result.isFinished)
        #expect(await result.value(ifCancelled: 3) == nil)
    }

    @Test func allWaitersGetIt() async {
        let result = OneShot<Int>()
        await withTaskGroup(of: Int.self) { group in
            for _ in 0 ..< 100 { group.addTask { await result.value(ifCancelled: -1) } }
            group.addTask {
                result.finish(7)
                return 7
            }
            for await value in group { #expect(value == 7) }
        }
    }

    /// Cancelled before it waits, or while it does: it goes on, and the others wait.
    @Test func cancelledWaitersGoOn() async throws {
        let result = OneShot<Result<Int, any Error>>()
        let other = Task { try await result.get() }
        for _ in 0 ..< 200 {
            let waiter = Task { try await result.get() }
            await Task.yield()
            waiter.cancel()
            await #expect(throws: CancellationError.self) { try await waiter.value }
        }
        result.finish(.success(1))
        #expect(try await other.value == 1)
    }

    @Test func events() async {
        let event = OneTimeEvent()
        let waiter = Task { await event.wait() }
        #expect(event.happen())
        #expect(!event.happen())
        await waiter.value
        await event.wait()
    }
}
