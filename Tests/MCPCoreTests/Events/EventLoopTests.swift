import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A handler made of closures, for tests.
private final class Probe: EventHandler {
    var onReady: (Readiness) -> Void = { _ in }
    var onFlush: () -> Void = {}
    var onStop: () -> Void = {}

    override func ready(_ events: Readiness) { onReady(events) }
    override func flush() { onFlush() }
    override func loopStopped() { onStop() }
}

@Suite(.timeLimit(.minutes(5))) struct EventLoopTests {
    /// Runs `body` on a loop of its own with a clock that stands still, and stops the loop afterwards.
    private func withLoop(
        clock: any TimeSource = SystemClock(), _ body: (EventLoop) async throws -> Void
    ) async throws {
        let loop = try EventLoop(clock: clock)
        loop.start()
        do { try await body(loop) } catch {
            loop.stop()
            throw error
        }
        loop.stop()
        loop.waitUntilStopped()
    }

    /// Runs `body` on the loop and waits for its result.
    private func on<T: Sendable>(_ loop: EventLoop, _ body: @escaping @Sendable () throws -> T) async throws
        -> T
    {
        try await withCheckedThrowingContinuation { continuation in
            loop.execute { continuation.resume(with: Result { try body() }) }
        }
    }

    @Test func workRunsOnTheLoopInOrder() async throws {
        try await withLoop { loop in
            #expect(!loop.isOnLoop)
            let seen = Mutex<[Int]>([])
            let done = Promise<Bool>()
            for number in 0 ..< 1_000 { loop.execute { seen.withLock { $0.append(number) } } }
            loop.execute { done.fulfil(loop.isOnLoop) }
            #expect(done.wait() == true)
            #expect(seen.withLock { $0 } == Array(0 ..< 1_000))
        }
    }

    @Test func readinessReachesTheHandler() async throws {
        try await withLoop { loop in
            let (a, b) = try Syscalls.socketPair()
            let got = Promise<[UInt8]?>()
            try await on(loop) {
                let probe = Probe()
                probe.onReady = { events in
                    if events.contains(.readable) { got.fulfil((try? readOnce(a)) ?? nil) }
                }
                _ = try loop.register(a, .readable, probe)
            }
            try writeText(b, "ping")
            #expect(got.wait() == Array("ping".utf8))
            loop.stop()
            loop.waitUntilStopped()
            Syscalls.close(a)
            Syscalls.close(b)
        }
    }

    @Test func interestCanBeChangedAndUnreadBytesAreReportedAgain() async throws {
        try await withLoop { loop in
            let (a, b) = try Syscalls.socketPair()
            let reads = Counter()
            let writes = Counter()
            let readTwice = Promise<Bool>()
            let wrote = Promise<Bool>()
            let registration = try await on(loop) {
                let probe = Probe()
                probe.onReady = { events in
                    if events.contains(.writable) {
                        if writes.increment() == 1 { wrote.fulfil(true) }
                    }
                    // Level-triggered: nothing is read, so it comes again.
                    if events.contains(.readable), reads.increment() == 2 { readTwice.fulfil(true) }
                }
                return try loop.register(a, [], probe)
            }
            try writeText(b, "x")
            try await on(loop) { try loop.modify(registration, .writable) }
            #expect(wrote.wait() == true)
            #expect(reads.value == 0)
            try await on(loop) { try loop.modify(registration, .readable) }
            #expect(readTwice.wait() == true)
            try await on(loop) { loop.deregister(registration) }
            let seen = reads.value
            try await on(loop) {}
            #expect(reads.value == seen)
            let count = try await on(loop) { loop.registrationCount }
            #expect(count == 0)
            Syscalls.close(a)
            Syscalls.close(b)
        }
    }

    @Test func disconnectIsSeenWhileReadingIsOff() async throws {
        try await withLoop { loop in
            let (a, b) = try Syscalls.socketPair()
            let closed = Promise<Readiness>()
            try await on(loop) {
                let probe = Probe()
                let registration = Mutex<Registration?>(nil)
                probe.onReady = { events in
                    closed.fulfil(events)
                    if let known = registration.withLock({ $0 }) { loop.deregister(known) }
                }
                let new = try loop.register(a, .readClosed, probe)
                registration.withLock { $0 = new }
            }
            Syscalls.close(b)
            let events = try #require(closed.wait())
            #expect(!events.isDisjoint(with: [.readClosed, .hangup]))
            try await on(loop) {}
            Syscalls.close(a)
        }
    }

    // Two descriptors become ready in the same turn; the first handler closes the second one and opens
    // another that gets the same number and the same slot. The event that was already reported belongs to
    // neither.
    @Test func staleEventsFindNobody() async throws {
        try await withLoop { loop in
            let wrong = Counter()
            let (a, b) = try Syscalls.socketPair()
            let (c, d) = try Syscalls.socketPair()
            let done = Promise<Bool>()
            try writeText(b, "x")
            try writeText(d, "x")
            try await on(loop) {
                let first = Probe()
                let second = Probe()
                var other: (Registration, Int32)?
                var own: (Registration, Int32)?
                func hit(_ victim: (Registration, Int32)?, _ me: (Registration, Int32)?) {
                    guard let victim, let me else { return }
                    loop.deregister(victim.0)
                    loop.deregister(me.0)
                    let replacement = Probe()
                    replacement.onReady = { _ in wrong.increment() }
                    let (quiet, end) = (try? Syscalls.socketPair()) ?? (-1, -1)
                    guard let registration = try? loop.register(quiet, .readable, replacement) else { return }
                    loop.execute {
                        loop.deregister(registration)
                        Syscalls.close(quiet)
                        Syscalls.close(end)
                        done.fulfil(true)
                    }
                }
                first.onReady = { _ in hit(other, own) }
                second.onReady = { _ in hit(own, other) }
                own = (try loop.register(a, .readable, first), a)
                other = (try loop.register(c, .readable, second), c)
            }
            #expect(done.wait() == true)
            #expect(wrong.value == 0)
            for fd in [a, b, c, d] { Syscalls.close(fd) }
        }
    }

    @Test func handlerMayDeregisterItselfWhileItRuns() async throws {
        final class OneShot: EventHandler {
            var registration: Registration?
            let loop: EventLoop
            let ended: Promise<String>
            let name = String(repeating: "still here ", count: 3)
            init(_ loop: EventLoop, _ ended: Promise<String>) {
                self.loop = loop
                self.ended = ended
            }
            override func ready(_ events: Readiness) {
                if let registration { loop.deregister(registration) }
                ended.fulfil(name)
            }
        }
        try await withLoop { loop in
            let (a, b) = try Syscalls.socketPair()
            let ended = Promise<String>()
            try await on(loop) {
                let handler = OneShot(loop, ended)
                handler.registration = try loop.register(a, .readable, handler)
            }
            try writeText(b, "x")
            #expect(ended.wait()?.hasPrefix("still here") == true)
            try await on(loop) {}
            Syscalls.close(a)
            Syscalls.close(b)
        }
    }

    @Test func filesAndDevNullAreAlwaysReady() async throws {
        try await withLoop { loop in
            let null = try Syscalls.open("/dev/null", O_RDONLY).release()
            let calls = Counter()
            let ready = Promise<Bool>()
            let registration = try await on(loop) {
                let probe = Probe()
                probe.onReady = { events in
                    if events == .readable, calls.increment() == 3 { ready.fulfil(true) }
                }
                return try loop.register(null, .readable, probe)
            }
            #expect(ready.wait() == true)
            try await on(loop) { try loop.modify(registration, []) }
            let seen = calls.value
            try await on(loop) {}
            #expect(calls.value == seen)
            try await on(loop) { loop.deregister(registration) }
            Syscalls.close(null)
        }
    }

    @Test func failedRegistrationIsForgotten() async throws {
        try await withLoop { loop in
            let count = try await on(loop) {
                #expect(throws: IOError.self) { try loop.register(-1, .readable, Probe()) }
                return loop.registrationCount
            }
            #expect(count == 0)
        }
    }

    @Test func flushComesOnceAtTheEndOfTheTurn() async throws {
        try await withLoop { loop in
            let order = Mutex<[String]>([])
            let done = Promise<Bool>()
            loop.execute {
                let probe = Probe()
                probe.onFlush = {
                    order.withLock { $0.append("flush") }
                    done.fulfil(true)
                }
                for step in ["a", "b"] {
                    order.withLock { $0.append(step) }
                    loop.scheduleFlush(probe)
                }
            }
            #expect(done.wait() == true)
            #expect(order.withLock { $0 } == ["a", "b", "flush"])
        }
    }

    @Test func flushMayAskForAnotherTurn() async throws {
        try await withLoop { loop in
            let flushes = Counter()
            let done = Promise<Bool>()
            loop.execute {
                let probe = Probe()
                probe.onFlush = { [unowned probe] in
                    if flushes.increment() == 3 { done.fulfil(true) } else { loop.scheduleFlush(probe) }
                }
                loop.scheduleFlush(probe)
            }
            #expect(done.wait() == true)
        }
    }

    @Test func asyncWorkStaysOnTheLoop() async throws {
        actor Elsewhere {
            func isOn(_ loop: EventLoop) -> Bool { loop.isOnLoop }
        }
        try await withLoop { loop in
            let elsewhere = Elsewhere()
            let task = Task(executorPreference: loop) { () -> [Bool] in
                var places = [loop.isOnLoop]
                await Task.yield()
                places.append(loop.isOnLoop)
                places.append(await elsewhere.isOn(loop))
                await withTaskGroup(of: Bool.self) { group in
                    for _ in 0 ..< 10 { group.addTask { loop.isOnLoop } }
                    for await place in group { places.append(place) }
                }
                places.append(loop.isOnLoop)
                return places
            }
            let places = await task.value
            #expect(places.count == 14 && places.allSatisfy { $0 })
            let onMain = Task(executorPreference: loop) { @MainActor in loop.isOnLoop }
            #expect(await onMain.value == false)
        }
    }

    @Test func busyTasksDoNotKeepDescriptorsWaiting() async throws {
        try await withLoop { loop in
            let isOver = Atomic<Bool>(false)
            let (a, b) = try Syscalls.socketPair()
            let busy = Task(executorPreference: loop) {
                while !isOver.load(ordering: .relaxed) { await Task.yield() }
            }
            let got = Promise<Bool>()
            let registration = try await on(loop) {
                let probe = Probe()
                probe.onReady = { _ in
                    _ = try? readOnce(a)
                    got.fulfil(true)
                }
                return try loop.register(a, .readable, probe)
            }
            try writeText(b, "x")
            #expect(got.wait() == true)
            isOver.store(true, ordering: .relaxed)
            await busy.value
            try await on(loop) { loop.deregister(registration) }
            Syscalls.close(a)
            Syscalls.close(b)
        }
    }

    @Test func stopReleasesHandlersAndTellsThem() async throws {
        let stopped = Counter()
        weak var released: Probe?
        let (a, b) = try Syscalls.socketPair()
        let loop = try EventLoop()
        do {
            let probe = Probe()
            probe.onStop = { stopped.increment() }
            released = probe
            _ = try loop.register(a, .readable, probe)
        }
        loop.start()
        #expect(released != nil)
        loop.stop()
        loop.stop()
        loop.waitUntilStopped()
        #expect(stopped.value == 1 && released == nil)
        Syscalls.close(a)
        Syscalls.close(b)
    }

    @Test func workAfterTheEndStillRuns() async throws {
        let loop = try EventLoop()
        loop.start()
        loop.stop()
        loop.waitUntilStopped()
        let late = Promise<Bool>()
        loop.execute { late.fulfil(loop.isOnLoop) }
        #expect(late.wait() == true)
        let task = Task(executorPreference: loop) {
            await Task.yield()
            return 5
        }
        #expect(await task.value == 5)
    }

    /// As a connection does that another loop accepted and handed over: its start fails, and it asks for a
    /// flush.
    @Test(arguments: [false, true]) func nothingIsKeptThatAsksForAFlushAfterTheEnd(_ asksAgain: Bool)
        async throws
    {
        weak var released: EventLoop?
        let flushes = Counter()
        do {
            let loop = try EventLoop()
            released = loop
            loop.start()
            loop.stop()
            loop.waitUntilStopped()
            loop.execute {
                let probe = Probe()
                probe.onFlush = { [unowned probe] in
                    flushes.increment()
                    // The loop belongs to the handler, as it does to a connection.
                    if loop.isOnLoop, asksAgain { loop.scheduleFlush(probe) }
                }
                loop.scheduleFlush(probe)
            }
        }
        while released != nil, !Task.isCancelled { await Task.yield() }
        #expect(released == nil && flushes.value == 1)
    }

    @Test func loopsCloseTheirDescriptors() throws {
        let before = try Syscalls.open("/dev/null", O_RDONLY).rawValue
        for _ in 0 ..< 1_000 {
            let group = try EventLoopGroup(count: 2)
            group.stop()
            group.waitUntilStopped()
        }
        let after = try Syscalls.open("/dev/null", O_RDONLY).rawValue
        // 1,000 groups have 4,000 descriptors; other tests run at the same time.
        #expect(after < before + 2_000)
    }

    @Test func groupsHandOutTheirLoopsInTurn() throws {
        let group = try EventLoopGroup(count: 3)
        let first = (0 ..< 6).map { _ in ObjectIdentifier(group.next()) }
        #expect(Set(first).count == 3 && Array(first[0 ..< 3]) == Array(first[3 ..< 6]))
        group.stop()
        group.waitUntilStopped()
        #expect(EventLoopGroup.availableCores >= 1)
    }

    #if DEBUG && os(Linux)
    // What `make sanitize KIND=confinement` relies on.
    @Test func theStateOfALoopIsUsedOnItsThread() async {
        await #expect(processExitsWith: .failure) {
            let loop = try EventLoop()
            loop.start()
            let isRunning = Promise<Bool>()
            loop.execute { isRunning.fulfil(true) }
            #expect(isRunning.wait() == true)
            loop.schedule(after: .seconds(60)) {}
        }
        await #expect(processExitsWith: .success) {
            let loop = try EventLoop()
            loop.schedule(after: .seconds(60)) {}
            loop.start()
            loop.execute { [loop] in loop.schedule(after: .seconds(60)) {} }
            loop.stop()
            loop.waitUntilStopped()
        }
    }
    #endif

    @Test func boundValuesAreReadOnTheLoop() async throws {
        final class NotSendable { var count = 1 }
        try await withLoop { loop in
            let bound = LoopBound(NotSendable(), loop: loop)
            let count = try await on(loop) { bound.value.count }
            #expect(count == 1)
        }
    }
}
