import TestSupport
import Testing

@testable import MCPCore

@Suite struct TimeTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z", 4), (951_782_400, "2000-02-29T00:00:00.000Z", 2),
            (1_785_231_000, "2026-07-28T09:30:00.000Z", 2), (-1, "1969-12-31T23:59:59.000Z", 3),
            (4_107_542_399, "2100-02-28T23:59:59.000Z", 0), (4_107_542_400, "2100-03-01T00:00:00.000Z", 1),
            (-2_203_891_200, "1900-03-01T00:00:00.000Z", 4),
        ] as [(Int64, String, Int)]) func civilTime(_ seconds: Int64, _ text: String, _ weekday: Int)
    {
        let time = WallTime(secondsSinceEpoch: seconds)
        #expect(time.description == text)
        #expect(time.civil.weekday == weekday)
        #expect(time.secondsSinceEpoch == seconds)
    }

    @Test func fractionsOfASecond() {
        #expect(WallTime(nanosecondsSinceEpoch: 1_999_999).description == "1970-01-01T00:00:00.001Z")
        #expect(WallTime(nanosecondsSinceEpoch: -1).description == "1969-12-31T23:59:59.999Z")
    }

    @Test(.timeLimit(.minutes(5))) func aPauseMayBeOfAnyLength() async throws {
        let started = Gate()
        let pause = Task {
            started.open()
            try await Task.pause(for: .seconds(Int64.max))
        }
        #expect(await started.wait())
        pause.cancel()
        await #expect(throws: CancellationError.self) { try await pause.value }
        try await Task.pause(for: .seconds(Int64.min))
    }

    /// What a timer would have done is released when it is cancelled, not when its time has come.
    @Test(.timeLimit(.minutes(5))) func aCancelledTimerHoldsNothing() async {
        final class Held: Sendable {
            let gone: Gate
            init(_ gone: Gate) { self.gone = gone }
            deinit { gone.open() }
        }
        let gone = Gate()
        func cancelled() {
            let held = Held(gone)
            WatchSource.after(.seconds(3_600)) { held.gone.open() }.cancel()
        }
        cancelled()
        #expect(await gone.wait())
    }

    @Test func instantsSaturate() {
        let far = MonotonicInstant(nanoseconds: .max - 5)
        #expect(far + .seconds(1) == .never)
        #expect(MonotonicInstant(nanoseconds: .min + 5) + .seconds(-1) == MonotonicInstant(nanoseconds: .min))
        #expect(MonotonicInstant.never - MonotonicInstant(nanoseconds: -5) == .nanoseconds(Int64.max))
        #expect(Duration.seconds(Int64.max).wholeNanoseconds == .max)
        #expect(Duration.seconds(Int64.min).wholeNanoseconds == .min)
        #expect((Duration.seconds(Int64.max) + .seconds(60)).wholeNanoseconds == .max)
        #expect((Duration.seconds(Int64.min) - .seconds(60)).wholeNanoseconds == .min)
        #expect(Duration.milliseconds(1_500).wholeNanoseconds == 1_500_000_000)
    }

    @Test(
        arguments: [
            (0, 0), (1, 1), (999_999, 1), (1_000_000, 1), (1_000_001, 2), (Int64.max - 1, Int32.max), (-5, 0),
        ] as [(Int64, Int32)]) func pollTimeoutsAreRoundedUp(_ nanoseconds: Int64, _ expected: Int32)
    {
        let start = MonotonicInstant(nanoseconds: 0)
        let deadline = MonotonicInstant(nanoseconds: nanoseconds)
        #expect(SystemClock().pollTimeout(until: deadline, now: start) == expected)
        #expect(SystemClock().pollTimeout(until: .never, now: start) == -1)
    }

    // Fault row 90
    @Test func wallClockJumpsDoNotMoveDeadlines() {
        let clock = ManualClock(wallTime: WallTime(secondsSinceEpoch: 1_000))
        let before = clock.now
        clock.setWallTime(WallTime(secondsSinceEpoch: 1_000_000_000))
        #expect(clock.now == before)
        clock.advance(by: .seconds(3))
        #expect(clock.now - before == .seconds(3))
        #expect(clock.wallTime == WallTime(secondsSinceEpoch: 1_000_000_003))
    }

    @Test func systemClocksRun() {
        let clock = SystemClock()
        #expect(clock.now <= clock.now)
        #expect(WallTime.now > WallTime(secondsSinceEpoch: 1_700_000_000))
    }

    @Test func randomBytesDiffer() {
        let (a, b) = (SystemRandom().bytes(32), SystemRandom().bytes(32))
        #expect(a.count == 32 && a != b)
        #expect(SystemRandom().bytes(0).isEmpty)
        #expect(SystemRandom().bytes(100_000).count == 100_000)
    }
}
