import Dispatch
import Synchronization

/// The connections of one loop, so that they can be drained.
final class ConnectionSet: @unchecked Sendable {
    // SAFETY: `connections` is touched on the loop only; the count is atomic. `inbox` is only ever swapped.
    let loop: EventLoop
    private var connections: [UInt64: HTTPConnection] = [:]
    private let counter: ConnectionCounter
    private let log: (@Sendable (String) -> Void)?

    init(loop: EventLoop, counter: ConnectionCounter, log: (@Sendable (String) -> Void)? = nil) {
        self.loop = loop
        self.counter = counter
        self.log = log
    }

    private var isDraining = false

    func insert(_ connection: HTTPConnection) {
        connections[connection.identifier] = connection
        connection.start()
        // Accepted on another loop, before that one heard of the end.
        if isDraining { connection.stopServing() }
    }

    func remove(_ connection: HTTPConnection) {
        if connections.removeValue(forKey: connection.identifier) != nil { counter.leave() }
    }

    // MARK: Memory

    /// The block that connections read into, one after the other: a connection that waits has none, and what
    /// it does have lies close together. Empty while one of them needs it for longer.
    @safe @exclusivity(unchecked) var inbox = ByteBuffer()

    /// What connections that rest or are closed have freed since the system got memory back, in bytes.
    private var freedBytes = 0
    private var isTrimming = false
    private static let trimBytes = 1024 * 1024

    /// A connection that rests has freed its buffers, or one with large buffers is closed. The system gets
    /// the memory of many at once.
    func gaveBack(_ bytes: Int) {
        freedBytes += bytes
        guard freedBytes >= Self.trimBytes, !isTrimming else { return }
        isTrimming = true
        loop.schedule(after: .seconds(1)) { [weak self] in
            guard let self else { return }
            isTrimming = false
            freedBytes = 0
            DispatchQueue.global(qos: .utility).async { Heap.giveBack() }
        }
    }

    private var nextNote = MonotonicInstant(nanoseconds: 0)

    /// The memory that connections share is used up; the operator hears of it, but not every time.
    func noteShortage() {
        guard loop.now >= nextNote, let log else { return }
        nextNote = loop.now + .seconds(10)
        log("the memory for messages is used up: large bodies are refused, clients that do not read cut off")
    }

    // MARK: The end

    /// Closes what is idle; the others close after their answer.
    func drain() {
        isDraining = true
        for connection in connections.values { connection.stopServing() }
    }

    func closeAll() {
        for connection in connections.values { connection.close() }
    }
}

/// Counts the connections of all loops and numbers them.
final class ConnectionCounter: Sendable {
    private let count = Atomic<Int>(0)
    private let waiter = Mutex<(@Sendable () -> Void)?>(nil)
    let limit: Int

    init(limit: Int) { self.limit = limit }

    var current: Int { count.load(ordering: .relaxed) }

    /// False when there are as many as may be.
    func enter() -> Bool {
        if count.add(1, ordering: .acquiringAndReleasing).newValue <= limit { return true }
        leave()
        return false
    }

    func leave() {
        let rest = count.subtract(1, ordering: .acquiringAndReleasing).newValue
        if rest == 0 { waiter.withLock { $0 }?() }
    }

    /// Calls `body` when no connection is left, now or later.
    func whenEmpty(_ body: @escaping @Sendable () -> Void) {
        waiter.withLock { $0 = body }
        if current == 0 { body() }
    }
}

/// Numbers for connections: unique in the process, so that ids of different connections never meet.
enum ConnectionNumber {
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}
