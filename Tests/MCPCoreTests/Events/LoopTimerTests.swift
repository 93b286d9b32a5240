import Synchronization
import TestSupport
import Testing

@testable import MCPCore

@Suite(.timeLimit(.minutes(5))) struct LoopTimerTests {
    /// A loop with a clock moved by hand; `settle` waits until the loop has seen the clock.
    private final class Bench: Sendable {
        let clock = ManualClock()
        let loop: EventLoop
        private let fired = Fired()

        /// What an armed timer may keep: the loop of a bench that is kept never stops.
        private final class Fired: Sendable {
            private let names = Mutex<[String]>([])

            func add(_ name: String) { names.withLock { $0.append(name) } }

            func take() -> [String] {
                names.withLock { names in
                    defer { names = [] }
                    return names
                }
            }
        }

        init() throws(IOError) {
            loop = try EventLoop(clock: clock)
            loop.start()
        }

        func on(_ body: @escaping @Sendable () -> Void) {
            let done = Promise<Bool>()
            loop.execute {
                body()
                done.fulfil(true)
            }
            #expect(done.wait() == true)
        }

        func advance(_ duration: Duration) -> [String] {
            clock.advance(by: duration)
            // Two turns: the first one may have read the clock before it was moved.
            on {}
            on {}
            return fired.take()
        }

        func note(_ name: String) -> () -> Void { { [fired] in fired.add(name) } }

        deinit {
            loop.stop()
            loop.waitUntilStopped()
        }
    }

    @Test func timersFireInTheOrderOfTheirDeadlines() throws {
        let bench = try Bench()
        bench.on {
            for (name, seconds) in [("c", 3), ("a", 1), ("b", 2)] {
                bench.loop.schedule(after: .seconds(seconds), bench.note(name))
            }
        }
        #expect(bench.advance(.milliseconds(999)) == [])
        #expect(bench.advance(.milliseconds(1)) == ["a"])
        #expect(bench.advance(.seconds(10)) == ["b", "c"])
        #expect(bench.advance(.seconds(10)) == [])
    }

    /// A machine that stalls between the beginning of a turn and the call must not shorten a limit.
    @Test func aTimerCountsFromTheCallAndNotFromTheTurn() throws {
        let bench = try Bench()
        bench.on {
            bench.clock.advance(by: .seconds(1))
            bench.loop.schedule(after: .seconds(1), bench.note("t"))
        }
        #expect(bench.advance(.milliseconds(999)) == [])
        #expect(bench.advance(.milliseconds(1)) == ["t"])
    }

    @Test func movedDeadlinesFireOnceAtTheirLastPlace() throws {
        let bench = try Bench()
        let timer = Mutex<LoopBound<LoopTimer>?>(nil)
        bench.on {
            let new = bench.loop.makeTimer(bench.note("x"))
            new.arm(after: .seconds(1))
            timer.withLock { $0 = LoopBound(new, loop: bench.loop) }
        }
        let arm = { @Sendable (duration: Duration) in
            bench.on { timer.withLock { $0 }?.value.arm(after: duration) }
        }
        #expect(bench.advance(.milliseconds(900)) == [])
        arm(.seconds(1))
        #expect(bench.advance(.milliseconds(900)) == [])
        arm(.milliseconds(50))
        #expect(bench.advance(.milliseconds(50)) == ["x"])
        #expect(bench.advance(.seconds(100)) == [])
        arm(.seconds(1))
        bench.on { timer.withLock { $0 }?.value.arm(at: .never) }
        #expect(bench.advance(.seconds(2)) == [])
        arm(.seconds(1))
        #expect(bench.advance(.seconds(2)) == ["x"])
        arm(.seconds(1))
        bench.on { timer.withLock { $0 }?.value.cancel() }
        arm(.seconds(1))
        #expect(bench.advance(.seconds(5)) == [])
        timer.withLock { $0 = nil }
    }

    // Fault rows 89 and 91
    @Test func timersFireOnceAfterALongGap() throws {
        let bench = try Bench()
        bench.on { for _ in 0 ..< 100 { bench.loop.schedule(after: .seconds(1), bench.note("t")) } }
        #expect(bench.advance(.seconds(86_400)).count == 100)
        #expect(bench.advance(.seconds(86_400)) == [])
    }

    @Test func actionsMayArmAgain() throws {
        let bench = try Bench()
        bench.on {
            weak var itself: LoopTimer?
            let note = bench.note("tick")
            let timer = bench.loop.makeTimer {
                note()
                itself?.arm(after: .seconds(1))
            }
            itself = timer
            timer.arm(after: .seconds(1))
        }
        #expect(bench.advance(.seconds(1)) == ["tick"])
        #expect(bench.advance(.seconds(1)) == ["tick"])
    }

    @Test func realTimersFire() async throws {
        let loop = try EventLoop()
        loop.start()
        let start = SystemClock().now
        let fired = Promise<MonotonicInstant>()
        loop.execute { loop.schedule(after: .milliseconds(30)) { fired.fulfil(SystemClock().now) } }
        let end = try #require(fired.wait())
        #expect(end - start >= .milliseconds(30))
        loop.stop()
        loop.waitUntilStopped()
    }

    @Test func thousandsOfTimersFireInOrderUnderRandomUse() throws {
        let bench = try Bench()
        var seed: UInt64 = 42
        func random(_ bound: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % bound
        }
        // Per timer the steps that are done to it: nil disarms, -1 cancels, others arm at so many
        // milliseconds.
        let plans = (0 ..< 2_000).map { _ in
            (0 ..< random(6)).map { _ -> Int? in
                random(10) == 0 ? nil : random(20) == 0 ? -1 : 1 + random(1_000)
            }
        }
        let expected = plans.enumerated().compactMap { number, steps -> (Int, Int)? in
            guard !steps.contains(-1), case .some(.some(let last)) = steps.last else { return nil }
            return (last, number)
        }
        let fired = Mutex<[(Int, Int)]>([])
        bench.on {
            var timers: [LoopTimer] = []
            for number in plans.indices {
                let timer = bench.loop.makeTimer { [unowned loop = bench.loop] in
                    let milliseconds = Int(loop.now.nanoseconds / 1_000_000)
                    fired.withLock { $0.append((milliseconds, number)) }
                }
                timers.append(timer)
            }
            for round in 0 ..< 6 {
                for (number, steps) in plans.enumerated() where round < steps.count {
                    switch steps[round] {
                    case nil: timers[number].arm(at: .never)
                    case -1: timers[number].cancel()
                    case let milliseconds?: timers[number].arm(after: .milliseconds(milliseconds))
                    }
                }
            }
        }
        for _ in 0 ..< 110 { _ = bench.advance(.milliseconds(10)) }
        let result = fired.withLock { $0 }
        #expect(Set(result.map(\.1)) == Set(expected.map(\.1)) && result.count == expected.count)
        let deadlines = Dictionary(uniqueKeysWithValues: expected.map { ($0.1, $0.0) })
        for (time, number) in result { #expect(time == ((deadlines[number] ?? 0) + 9) / 10 * 10) }
    }
}
