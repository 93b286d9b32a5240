#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Accepts connections on one socket and gives each to a loop.
///
/// Confined to its own loop. When the process runs out of descriptors, it sacrifices one it keeps in reserve
/// to answer 503 to one that is waiting; the others wait in the system's queue. After that, as after every
/// error that is not of one connection alone, it rests for 100 ms, so that it neither spins nor hangs (fault
/// 74). Clients that were gone before they were accepted are passed over, within the bound of a turn: when
/// all of a turn were, it rests as well (fault 75).
final class HTTPListener: EventHandler, @unchecked Sendable {
    private let counted = Counted(.httpListener)

    // SAFETY: touched on its loop only, after `start`, and before the loop runs by whoever starts both.
    private var socket: ListenSocket?
    private let number: Int32
    private let isTCP: Bool
    private let loop: EventLoop
    /// Nil until it begins to accept.
    private var context: ConnectionContext?
    private let policy: AccessPolicy
    private let counter: ConnectionCounter
    /// Where connections go in turn; one when every loop has its own socket.
    private let targets: [ConnectionSet]
    private var turn = 0
    private var registration: Registration?
    private var reserve: FileDescriptor?
    /// Errors that were not logged yet since the last one that was.
    private var unlogged = 0
    private var nextLog = MonotonicInstant(nanoseconds: 0)

    /// Connections taken in one turn, so that a flood does not starve those that are served.
    static let acceptsPerTurn = 64
    /// After an error that is not of one connection alone.
    static let restTime = Duration.milliseconds(100)
    /// Between two lines of the log about such errors.
    static let logInterval = Duration.seconds(1)

    init(
        _ socket: consuming ListenSocket, loop: EventLoop, policy: AccessPolicy,
        counter: ConnectionCounter, targets: [ConnectionSet]
    ) {
        number = socket.descriptor.rawValue
        isTCP = socket.isTCP
        self.socket = consume socket
        self.loop = loop
        self.policy = policy
        self.counter = counter
        self.targets = targets
    }

    /// Begins to accept for a handler. On the loop, or before it runs.
    func start(
        _ handler: RequestHandler, options: HTTPServerOptions = HTTPServerOptions(),
        resources: HTTPServerResources = HTTPServerResources(), memory: MemoryBudget? = nil
    ) throws(IOError) {
        context = ConnectionContext(
            handler: handler, policy: policy, options: options, resources: resources, memory: memory)
        takeReserve()
        registration = try loop.register(number, .readable, self)
    }

    /// Accepts no more: from now on the address is free, and whoever connects is refused.
    func stop() {
        if let registration { loop.deregister(registration) }
        registration = nil
        reserve = nil
        socket?.withdraw()
        socket = nil
    }

    override func loopStopped() { registration = nil }

    override func ready(_ events: Readiness) {
        var last: IOError?
        var hasAccepted = false
        for _ in 0 ..< Self.acceptsPerTurn {
            do {
                guard let accepted = try Syscalls.accept(number) else { return }
                take(accepted)
                hasAccepted = true
            } catch {
                guard error.isOfOneConnection else { return rest(after: error) }
                last = error
            }
        }
        if !hasAccepted, let last { rest(after: last) }
    }

    private func take(_ accepted: consuming FileDescriptor) {
        guard let context, counter.enter() else {
            refuse(accepted)
            return
        }
        // Fails for a client that is gone already.
        if isTCP { try? Syscalls.setNoDelay(accepted.rawValue) }
        let target = targets[turn % targets.count]
        turn &+= 1
        let connection = HTTPConnection(
            accepted, loop: target.loop, context: context, identifier: ConnectionNumber.next(),
            siblings: target)
        if target.loop === loop {
            target.insert(connection)
        } else {
            target.loop.execute { target.insert(connection) }
        }
    }

    /// One connection too many: a short answer, so that the client knows why. It has no body, because nobody
    /// has looked whether the request is a HEAD.
    private func refuse(_ accepted: borrowing FileDescriptor) {
        var out = ByteBuffer()
        ResponseWriter.writeHead(
            status: 503, framing: .length(0), keepAlive: false, extra: .retryAfter, to: &out)
        // A courtesy: the connection is closed in any case.
        _ = unsafe try? out.withBytes { (bytes) throws(IOError) in
            unsafe try Syscalls.send(accepted.rawValue, UnsafeRawBufferPointer(bytes))
        }
    }

    private func rest(after error: IOError) {
        log(error)
        if error.errno == EMFILE || error.errno == ENFILE {
            reserve = nil
            // Nobody waits any more, or another thread was faster to take what was free: the rest follows.
            if let victim = try? Syscalls.accept(number) { refuse(victim) }
            takeReserve()
        }
        guard let registration else { return }
        // Where it fails, accepting goes on at once, and fails again.
        try? loop.modify(registration, [])
        resumeLater()
    }

    /// Until accepting goes on: a listener whose interest could not be restored would never be heard of
    /// again.
    private func resumeLater() {
        loop.schedule(after: Self.restTime) { [weak self] in
            guard let self, let registration else { return }
            if reserve == nil { takeReserve() }
            do throws(IOError) { try loop.modify(registration, .readable) } catch { resumeLater() }
        }
    }

    /// At most one line per `logInterval`.
    private func log(_ error: IOError) {
        guard loop.now >= nextLog else { return unlogged += 1 }
        let more = unlogged > 0 ? " (and \(unlogged) times before)" : ""
        context?.resources.log?("accept failed: \(error.reason)\(more); trying again")
        unlogged = 0
        nextLog = loop.now + Self.logInterval
    }

    /// Without it, running out of descriptors leaves whoever connects without an answer until some are free.
    private func takeReserve() { reserve = try? Syscalls.open("/dev/null", O_RDONLY) }
}
