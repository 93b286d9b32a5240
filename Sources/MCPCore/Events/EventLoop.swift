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

/// A thread that waits for descriptors, deadlines and work, and runs everything that belongs to it.
///
/// The loop runs as one long block on its own serial queue. A connection belongs to one loop for its whole
/// lifetime, so its state needs no lock. As a `TaskExecutor`, the loop also runs async handlers:
/// `Task(executorPreference: loop)` stays on its thread.
///
/// In one turn, the loop waits, calls the ready handlers, fires the due timers, runs the mail and the jobs,
/// and flushes. Every response written during a turn is sent in its flush, before the loop waits again.
final class EventLoop: TaskExecutor, @unchecked Sendable {
    private let counted = Counted(.eventLoop)

    // SAFETY: `mailbox`, `thread`, `isStopping`, `isClosed` and `poller.wake` may be used from any thread;
    // all other state is accessed only on the loop's thread and, before `start()`, by the creator of the
    // loop. State that is not checked for overlapping accesses at run time is accessed only in single steps,
    // during which no handler and no job runs or ends.
    let clock: any TimeSource
    /// The time at which this turn began; reading the clock for every event would be wasteful.
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
    /// A block that handlers read into, one after another: one that waits has none. Empty while a handler
    /// needs it.
    @safe @exclusivity(unchecked) var block = ByteBuffer()
    /// The number of turns so far.
    @safe @exclusivity(unchecked) private(set) var turns = 0

    /// The handlers that were deregistered in this turn; one of them may be executing at the moment.
    private var retired: [EventHandler] = []

    /// The number of rounds that jobs which create jobs may run before descriptors are served again.
    private static let maxJobRounds = 64

    /// The pause after a failure of the poller, which a sandbox can cause, in milliseconds.
    private static let pauseAfterError = 10

    /// Creates a loop with its poller; nothing runs until `start()` is called.
    init(label: String = "mcp.loop", clock: any TimeSource = SystemClock()) throws(IOError) {
        poller = try Poller()
        self.clock = clock
        now = clock.now
        queue = DispatchQueue(label: label)
        clock.onAdvance { [weak self] in self?.wake() }
    }

    /// Starts the loop's thread. Call it only once.
    func start() {
        ended.enter()
        queue.async { self.run() }
    }

    /// Makes the loop end after its current turn. Callable from any thread, any number of times.
    func stop() {
        isStopping.store(true, ordering: .releasing)
        wake()
    }

    /// Waits for the end of a loop that was started and stopped. Never call it on the loop itself.
    func waitUntilStopped() {
        precondition(!isOnLoop, "a loop cannot wait for its own end")
        ended.wait()
    }

    /// Whether the caller is running on the loop's thread.
    var isOnLoop: Bool {
        @inline(__always) get { thread.load(ordering: .relaxed) == currentThread() }
    }

    @inline(__always)
    func checkIsOnLoop() {
        precondition(isOnLoop, "the state of an event loop was accessed from another thread")
    }

    /// Whether the state of the loop may be used here: on its thread, or while it does not run.
    private var isConfined: Bool {
        let owner = thread.load(ordering: .relaxed)
        return owner == 0 || owner == currentThread()
    }

    @inline(__always)
    private func assertConfined() {
        assert(isConfined, "the state of an event loop was used on another thread")
    }

    // MARK: Descriptors

    /// Watches a descriptor, which the handler must keep open until it has deregistered it.
    ///
    /// - Throws: An error of the poller, or `ECANCELED` if the loop has ended, since it would keep the
    ///   handler forever.
    func register(_ fd: Int32, _ interest: Readiness, _ handler: EventHandler) throws(IOError) -> Registration
    {
        assertConfined()
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

    /// Changes what a descriptor is watched for; makes no system call if nothing changes.
    func modify(_ registration: Registration, _ interest: Readiness) throws(IOError) {
        assertConfined()
        guard let entry = slots.entry(registration), entry.interest != interest else { return }
        if !entry.isAlwaysReady {
            try poller.modify(entry.fd, from: entry.interest, to: interest, token: registration.token)
        }
        slots.setInterest(registration, interest)
    }

    /// Stops watching a descriptor; call it before closing. Events that were already reported are dropped.
    func deregister(_ registration: Registration) {
        assertConfined()
        guard let (handler, fd, interest) = slots.remove(registration) else { return }
        poller.remove(fd, interest)
        retired.append(handler)
    }

    /// The number of watched descriptors.
    var registrationCount: Int { slots.count }

    /// Calls the handler's `flush()` once at the end of this turn, however often this is called.
    @inline(__always)
    func scheduleFlush(_ handler: EventHandler) {
        assertConfined()
        flushes.add(handler)
    }

    // MARK: Timers

    /// Returns a timer that is not armed yet; see `LoopTimer`.
    func makeTimer(_ action: @escaping () -> Void) -> LoopTimer { LoopTimer(loop: self, action: action) }

    /// Returns a timer that fires once after `duration`, unless it is cancelled.
    ///
    /// The duration counts from the call, not from the beginning of the turn, so that a time limit never
    /// expires early, however long the turn has lasted.
    @discardableResult
    func schedule(after duration: Duration, _ action: @escaping () -> Void) -> LoopTimer {
        let timer = makeTimer(action)
        timer.arm(at: clock.now + duration)
        return timer
    }

    /// Queues a timer, unless the loop has ended: it then fires no timers and must not keep any.
    func enqueue(_ timer: LoopTimer) {
        assertConfined()
        if !isClosed.load(ordering: .relaxed) { timers.insert(timer) }
    }

    func dequeue(_ timer: LoopTimer) {
        assertConfined()
        timers.remove(timer)
    }

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

    /// Runs `body` on the loop, in the order of the calls. Callable from any thread.
    func execute(_ body: @escaping @Sendable () -> Void) { deliver(.call(body)) }

    /// Runs `body` on the loop, which must be running, and waits for it. Callable from any thread for which
    /// no work of the loop waits.
    func perform(_ body: @escaping @Sendable () -> Void) {
        if isOnLoop { return body() }
        let done = DispatchSemaphore(value: 0)
        execute {
            body()
            done.signal()
        }
        done.wait()
    }

    /// Whether the caller may do at once what it would otherwise send to `execute`, in the same order: it
    /// runs on the loop, and nothing that was sent before still waits.
    var mayRunNow: Bool { isOnLoop && mailbox.isEmpty }

    private func deliver(_ item: Mailbox.Item) {
        switch mailbox.send(item) {
        case .done: break
        case .wake: wake()
        case .refused: queue.async { self.runLate(item) }
        }
    }

    /// Ends the loop's wait, retrying a failed wake-up until it succeeds.
    ///
    /// The mailbox requests a wake-up only from the first sender, so no other caller would do it.
    private func wake() {
        do { try poller.wake() } catch {
            assert(error.errno != EBADF, "the poller's descriptor was closed elsewhere")
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
        turns &+= 1
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

    /// Waits for events and returns their number. Timers, mail and jobs are served even if the poller fails.
    private func wait() -> Int {
        do { return try poller.wait(timeoutMilliseconds: timeout()) } catch {
            assert(error.errno != EBADF, "the poller's descriptor was closed elsewhere")
            // A permanently broken poller must not make the loop spin.
            usleep(UInt32(Self.pauseAfterError) * 1_000)
            return 0
        }
    }

    /// Returns how long this turn may wait, in milliseconds; -1 means indefinitely.
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
        // An interest may have been withdrawn since the poller reported; a hangup always counts.
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
        // Moved out first, because destroying a handler may deregister another one.
        var handlers: [EventHandler] = []
        swap(&handlers, &retired)
        handlers.removeAll(keepingCapacity: true)
        if retired.isEmpty { swap(&handlers, &retired) }
    }
}

extension EventLoop {
    /// Ends everything that belongs to the loop. Work that is sent later runs on its queue, so that no task
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

    /// Flushes once more and releases all handlers, because no further turn would release them.
    ///
    /// A connection that was accepted on another loop and arrives after the end requests a flush, too.
    private func letGo() {
        flush()
        flushes.removeAll()
        while !retired.isEmpty { forgetRetired() }
    }

    /// Runs work that arrived after the end on the loop's queue, and so never concurrently with other work of
    /// this loop.
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
