import Dispatch
import Synchronization

/// The connections of one loop, so that they can be drained.
final class ConnectionSet: @unchecked Sendable {
    // SAFETY: `connections` is accessed only on the loop; the count is atomic. `inbox` is only ever swapped.
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
    private var isClosed = false

    func insert(_ connection: HTTPConnection) {
        connections[connection.identifier] = connection
        connection.start()
        // Accepted on another loop before that loop was notified of the end.
        if isDraining { connection.stopServing() }
        if isClosed { connection.close() }
    }

    func remove(_ connection: HTTPConnection) {
        if connections.removeValue(forKey: connection.identifier) != nil { counter.leave() }
    }

    // MARK: Memory

    /// The block that connections read into, one after another. A waiting connection has no such block, and
    /// the memory that it does have lies close together. Empty while one of the connections needs the block
    /// for longer.
    @safe @exclusivity(unchecked) var inbox = ByteBuffer()

    /// The bytes that idle or closed connections have freed since memory was last returned to the system.
    private var freedBytes = 0
    private var isTrimming = false
    private static let trimBytes = 1024 * 1024

    /// Records that an idle connection has freed its buffers, or that one with large buffers was closed.
    /// Memory is returned to the system for many connections at once.
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

    private var shortages = LogThrottle(.seconds(10))

    /// Logs that the memory shared by connections is used up, but not every time.
    func noteShortage() {
        guard shortages.count(at: loop.now) != nil else { return }
        log?("out of memory for messages: refusing large bodies and disconnecting clients that do not read")
    }

    // MARK: Room

    /// The time without a request after which a connection is closed to make room for a new one.
    static let waitingTime = Duration.seconds(1)
    /// The maximum number of connections that make room at a time.
    private static let maxReclaimed = 32
    /// The pause after a search in which no connection was found.
    private static let reclaimPause = Duration.milliseconds(100)
    private var nextReclaim = MonotonicInstant(nanoseconds: 0)

    /// Closes the connections that have waited longest for a request. Returns whether there were any.
    func reclaim() -> Bool {
        let now = loop.now
        guard now >= nextReclaim else { return false }
        let waiting = connections.values.compactMap { connection in
            connection.waitsSince.map { (since: $0, connection: connection) }
        }
        let longest = waiting.filter { $0.since + Self.waitingTime <= now }.sorted { $0.since < $1.since }
            .prefix(Self.maxReclaimed)
        for one in longest { one.connection.makeRoom() }
        if longest.isEmpty { nextReclaim = now + Self.reclaimPause }
        return !longest.isEmpty
    }

    // MARK: Stopping

    /// The time that clients that have connected have to send their first request.
    static let firstRequest = Duration.milliseconds(100)

    /// Closes idle connections; the others close after their response.
    func drain() {
        isDraining = true
        for connection in connections.values { connection.stopServing() }
        loop.schedule(after: Self.firstRequest) { [weak self] in
            guard let self else { return }
            for connection in connections.values { connection.stopWaiting() }
        }
    }

    func closeAll() {
        isClosed = true
        for connection in connections.values { connection.close() }
    }
}

/// A counter of the connections of all loops.
final class ConnectionCounter: Sendable {
    private let count = Atomic<Int>(0)
    private let waiter = Callback<@Sendable () -> Void>()
    let limit: Int

    init(limit: Int) { self.limit = limit }

    var current: Int { count.load(ordering: .relaxed) }

    /// Whether more than half of the connections that may be open are.
    var isCrowded: Bool { current > limit / 2 }

    /// Returns whether a principal may occupy one more connection: while many are open, a quarter of them.
    func hasRoom(for waiting: WaitingResponses?) -> Bool {
        guard let waiting, isCrowded else { return true }
        return waiting.count < max(1, limit / 4)
    }

    /// Counts a new connection. Returns false if the limit is reached.
    func enter() -> Bool {
        if count.add(1, ordering: .acquiringAndReleasing).newValue <= limit { return true }
        leave()
        return false
    }

    func leave() {
        let rest = count.subtract(1, ordering: .acquiringAndReleasing).newValue
        if rest == 0 { waiter.current?() }
    }

    /// Calls `body` when no connection is left, now or later.
    func whenEmpty(_ body: @escaping @Sendable () -> Void) {
        waiter.set(body)
        if current == 0 { body() }
    }
}

/// The source of connection numbers: unique in the process, so that ids of different connections never
/// collide.
enum ConnectionNumber {
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}
