import Dispatch
import Synchronization

#if os(Linux)
import CMCPSystem
#endif
#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// One thread that waits for descriptors, deadlines and work, and runs everything that belongs to it.
///
/// It runs as one long block on its own serial queue. A connection belongs to one loop for its whole life, so
/// its state needs no lock. As a `TaskExecutor` the loop also runs async handlers: `Task(executorPreference:
/// loop)` stays on its thread.
///
/// One turn: wait, call the ready handlers, fire the due timers, run the mail and the jobs, flush. Whatever
/// was answered during a turn leaves in its flush, before the loop waits again.
final class EventLoop: TaskExecutor, @unchecked Sendable {
    private let counted = Counted(.eventLoop)

    // SAFETY: `mailbox`, `thread`, `isStopping`, `isClosed` and `poller.wake` are for any thread; all other
    // state is touched on the loop's thread only, and before `start()` by whoever creates the loop. What is
    // not checked for overlapping accesses at run time is accessed for single steps only: no handler and no
    // job runs or ends in one.
    let clock: any TimeSource
    /// The time at which this turn began; reading the clock for every event would only cost.
    @safe @exclusivity(unchecked) private(set) var now: MonotonicInstant

    private let poller: Poller
    private let mailbox = Mailbox()
    private let thread = Atomic<UInt>(0)
    private let isStopping = Atomic<Bool>(false)
    private let isClosed = Atomic<Bool>(false)
    private let queue: DispatchQueue
    private let ended = DispatchGroup()

    @safe @exclusivity(unchecked) private var slots = SlotTable()
    private var timers = TimerHeap()
    @safe @exclusivity(unchecked) private var flushes = FlushList()
    @safe @exclusivity(unchecked) private var jobs: [UnownedJob] = []
    @safe @exclusivity(unchecked) private var mail: [Mailbox.Item] = []
    @safe @exclusivity(unchecked) private var spareJobs: [UnownedJob] = []
    /// Handlers that were deregistered in this turn: one of them may be the one that is being called.
    private var retired: [EventHandler] = []

    /// Jobs that make jobs may go on for so many rounds before descriptors get their turn again.
    private static let maxJobRounds = 64

    /// After the poller failed, which a sandbox can bring about; in milliseconds.
    private static let pauseAfterError = 10

    /// Creates a loop with its poller; nothing runs before `start()`.
    init(label: String = "mcp.loop", clock: any TimeSource = SystemClock()) throws(IOError) {
        poller = try Poller()
        self.clock = clock
        now = clock.now
        queue = DispatchQueue(label: label)
        clock.onAdvance { [weak self] in self?.wake() }
    }

    /// Starts the loop's thread. Once only.
    func start() {
        ended.enter()
        queue.async { self.run() }
    }

    /// Lets the loop end after its current turn. From any thread, any number of times.
    func stop() {
        isStopping.store(true, ordering: .releasing)
        wake()
    }

    /// Waits for the end of a loop that was started and stopped. Never on the loop itself.
    func waitUntilStopped() {
        precondition(!isOnLoop, "a loop cannot wait for its own end")
        ended.wait()
    }

    /// Whether the caller runs on the loop's thread.
    var isOnLoop: Bool {
        @inline(__always) get { thread.load(ordering: .relaxed) == currentThread() }
    }

    @inline(__always)
    func assertOnLoop() { assert(isOnLoop, "state of an event loop was touched from another thread") }

    // MARK: Descriptors

    /// Watches a descriptor, which the handler keeps open until it has deregistered it.
    ///
    /// - Throws: also when the loop has ended: it would keep the handler for ever.
    func register(_ fd: Int32, _ interest: Readiness, _ handler: EventHandler) throws(IOError) -> Registration
    {
        if isClosed.load(ordering: .relaxed) { throw IOError(errno: ECANCELED, function: "register") }
        let registration = slots.insert(handler, fd: fd, interest: interest)
        do {
            if try !poller.add(fd, interest, token: registration.token) { slots.setAlwaysReady(registration) }
        } catch {
            _ = slots.remove(registration)
            throw error
        }
        return registration
    }

    /// Changes what a descriptor is watched for; no system call when nothing changes.
    func modify(_ registration: Registration, _ interest: Readiness) throws(IOError) {
        guard let entry = slots.entry(registration), entry.interest != interest else { return }
        if !entry.isAlwaysReady {
            try poller.modify(entry.fd, from: entry.interest, to: interest, token: registration.token)
        }
        slots.setInterest(registration, interest)
    }

    /// Forgets a descriptor; call it before closing. Events that were already reported are dropped.
    func deregister(_ registration: Registration) {
        guard let (handler, fd, interest) = slots.remove(registration) else { return }
        poller.remove(fd, interest)
        retired.append(handler)
    }

    /// How many descriptors are watched.
    var registrationCount: Int { slots.count }

    /// Calls the handler's `flush()` at the end of this turn, once, however often this is called.
    @inline(__always)
    func scheduleFlush(_ handler: EventHandler) { flushes.add(handler) }

    // MARK: Timers

    /// A timer that is not armed yet; see `LoopTimer`.
    func makeTimer(_ action: @escaping () -> Void) -> LoopTimer { LoopTimer(loop: self, action: action) }

    /// A timer that fires once after `duration`, unless it is cancelled.
    ///
    /// It counts from the call, not from the beginning of the turn: a limit never ends something early,
    /// however long the turn has lasted.
    @discardableResult
    func schedule(after duration: Duration, _ action: @escaping () -> Void) -> LoopTimer {
        let timer = makeTimer(action)
        timer.arm(at: clock.now + duration)
        return timer
    }

    /// A loop that has ended fires no timer, and must not keep one.
    func enqueue(_ timer: LoopTimer) {
        if !isClosed.load(ordering: .relaxed) { timers.insert(timer) }
    }

    func dequeue(_ timer: LoopTimer) { timers.remove(timer) }

    // MARK: Work from elsewhere

    /// Runs a job of the concurrency runtime on the loop.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isOnLoop, !isClosed.load(ordering: .relaxed) {
            jobs.append(job)
        } else {
            deliver(.job(job))
        }
    }

    /// Runs `body` on the loop, in the order of the calls. From any thread.
    func execute(_ body: @escaping @Sendable () -> Void) { deliver(.call(body)) }

    private func deliver(_ item: Mailbox.Item) {
        switch mailbox.send(item) {
        case .done: break
        case .wake: wake()
        case .refused: queue.async { self.runLate(item) }
        }
    }

    /// Ends the loop's wait. Nobody else would: the mailbox asks the first sender only, so a wake-up that
    /// failed is tried until it arrives.
    private func wake() {
        do { try poller.wake() } catch {
            assert(error.errno != EBADF, "the poller's descriptor was closed by somebody else")
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Self.pauseAfterError)) {
                [weak self] in
                guard let self, !isClosed.load(ordering: .relaxed) else { return }
                wake()
            }
        }
    }

    // MARK: Turns

    private func run() {
        thread.store(currentThread(), ordering: .relaxed)
        while !isStopping.load(ordering: .acquiring) { turn() }
        shutDown()
        thread.store(0, ordering: .relaxed)
        ended.leave()
    }

    private func turn() {
        let count = wait()
        now = clock.now
        for index in 0 ..< count {
            if let event = poller.event(index) { dispatch(Registration(token: event.token), event.readiness) }
        }
        for registration in slots.alwaysReady { dispatch(registration, [.readable, .writable]) }
        while let timer = timers.popDue(at: now) { TimerHeap.fire(timer) }
        runMail()
        runJobs()
        flush()
        if !retired.isEmpty { forgetRetired() }
    }

    /// The number of events. Timers, mail and jobs get their turn also when the poller cannot tell any.
    private func wait() -> Int {
        do { return try poller.wait(timeoutMilliseconds: timeout()) } catch {
            assert(error.errno != EBADF, "the poller's descriptor was closed by somebody else")
            // A poller that is broken for good must not make the loop spin.
            usleep(UInt32(Self.pauseAfterError) * 1_000)
            return 0
        }
    }

    /// How long this turn may wait, in milliseconds; -1 without end.
    private func timeout() -> Int32 {
        let hasWork =
            !jobs.isEmpty || !flushes.isEmpty || hasReadySlot || isStopping.load(ordering: .acquiring)
        if hasWork || !mailbox.prepareToSleep() { return 0 }
        let next = timers.next
        return next == .never ? -1 : clock.pollTimeout(until: next, now: clock.now)
    }

    private var hasReadySlot: Bool {
        slots.alwaysReady.contains {
            slots.entry($0)?.interest.isDisjoint(with: [.readable, .writable]) == false
        }
    }

    @inline(__always)
    private func dispatch(_ registration: Registration, _ readiness: Readiness) {
        guard let (handler, interest) = unsafe slots.handler(registration) else { return }
        // An interest may have been taken back since the poller reported; a hangup always counts.
        let events = readiness.intersection(interest.union(.hangup))
        if events.isEmpty { return }
        unsafe handler._withUnsafeGuaranteedRef { $0.ready(events) }
    }

    private func runMail() {
        mailbox.take(into: &mail)
        if mail.isEmpty { return }
        var items: [Mailbox.Item] = []
        swap(&items, &mail)
        run(items)
        items.removeAll(keepingCapacity: true)
        swap(&items, &mail)
    }

    private func run(_ items: [Mailbox.Item]) {
        for item in items {
            switch item {
            case .job(let job): unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            case .call(let body): body()
            }
        }
    }

    private func runJobs() {
        var round = 0
        while !jobs.isEmpty, round < Self.maxJobRounds {
            round += 1
            var current: [UnownedJob] = []
            swap(&current, &spareJobs)
            swap(&current, &jobs)
            for job in current { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
            current.removeAll(keepingCapacity: true)
            swap(&current, &spareJobs)
        }
    }

    private func flush() {
        if flushes.isEmpty { return }
        for handler in flushes.take() { handler.flush() }
        flushes.finish()
    }

    private func forgetRetired() {
        // Moved out first: the end of a handler may deregister another one.
        var handlers: [EventHandler] = []
        swap(&handlers, &retired)
        handlers.removeAll(keepingCapacity: true)
        if retired.isEmpty { swap(&handlers, &retired) }
    }
}

extension EventLoop {
    /// Ends everything that belongs to the loop. What is sent to it later runs on its queue, so that no task
    /// hangs.
    private func shutDown() {
        flush()
        timers.removeAll()
        for registration in slots.registrations {
            guard let (handler, fd, interest) = slots.remove(registration) else { continue }
            poller.remove(fd, interest)
            handler.loopStopped()
            retired.append(handler)
        }
        isClosed.store(true, ordering: .relaxed)
        run(mailbox.close())
        runJobs()
        letGo()
    }

    /// Flushes once more and keeps no handler: no turn follows that would let go of one. A connection that
    /// was accepted on another loop and came after the end asks for a flush, too.
    private func letGo() {
        flush()
        flushes.removeAll()
        while !retired.isEmpty { forgetRetired() }
    }

    /// Runs what came after the end, on the loop's queue and therefore still never at the same time as
    /// anything else of this loop.
    private func runLate(_ item: Mailbox.Item) {
        thread.store(currentThread(), ordering: .relaxed)
        run([item])
        letGo()
        thread.store(0, ordering: .relaxed)
    }
}

@inline(__always)
private func currentThread() -> UInt {
    #if canImport(Darwin)
    unsafe UInt(bitPattern: pthread_self())
    #else
    UInt(mcp_thread())
    #endif
}
