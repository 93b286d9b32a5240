import MCPCore
import Testing

struct CallbackTests {
    /// A closure that was wrapped again by each of these looks would need more stack than a thread has.
    @Test func looksCostNothing() {
        let callback = Callback<@Sendable (String) -> Int>()
        #expect(callback.current == nil)
        callback.set { $0.utf8.count }
        var last = callback.current
        for _ in 0 ..< 300_000 { last = callback.current }
        #expect(last?("four") == 4)
        #expect(callback.current?("three") == 5)
    }

    @Test func onlyTheFirstTakesIt() {
        let callback = Callback<@Sendable () -> Int>({ 1 })
        #expect(callback.take()?() == 1)
        #expect(callback.take() == nil)
        #expect(callback.current == nil)
    }
}
