#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A listener that accepts connections on one socket and assigns each to a loop.
///
/// Confined to its own loop. When the process runs out of descriptors, it sacrifices one that it keeps in
/// reserve to respond with 503 to one waiting client; the others wait in the system's queue. After that, as
/// after every error that does not concern a single connection, it rests for 100 ms, so that it neither spins
/// nor hangs (fault 74). Clients that disconnected before they were accepted are skipped, up to the number
/// accepted per turn. If all clients of a turn had disconnected, the listener rests as well (fault 75).
final class HTTPListener: EventHandler, @unchecked Sendable {
    private let counted = Counted(.httpListener)

    // SAFETY: after `start` accessed only on its loop; before the loop runs, only by the code that starts
    // both.
    private var socket: ListenSocket?
    private let number: Int32
    private let isTCP: Bool
    private let loop: EventLoop
    /// The context of its connections, or nil until it begins to accept.
    private var context: ConnectionContext?
    private let policy: AccessPolicy
    private let counter: ConnectionCounter
    /// The sets that connections are assigned to in turn; just one if every loop has its own socket.
    private let targets: [ConnectionSet]
    private var turn = 0
    private var registration: Registration?
    private var reserve: FileDescriptor?
    private var errors = LogThrottle(logInterval)
    private var refusals = LogThrottle(.seconds(10))

    /// The maximum number of connections accepted in one turn, so that a flood does not starve those being
    /// served.
    static let acceptsPerTurn = 64
    /// The pause after an error that does not concern a single connection.
    static let restTime = Duration.milliseconds(100)
    /// The minimum interval between two log lines about such errors.
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

    /// Begins to accept connections for a handler. Call it on the loop, or before the loop runs.
    func start(
        _ handler: RequestHandler, options: HTTPServerOptions = HTTPServerOptions(),
        resources: HTTPServerResources = HTTPServerResources(), memory: MemoryBudget? = nil
    ) throws(IOError) {
        context = ConnectionContext(
            handler: handler, policy: policy, options: options, resources: resources, memory: memory,
            counter: counter, users: isTCP ? options.users : .any)
        takeReserve()
        registration = try loop.register(number, .readable, self)
    }

    /// Stops accepting: from now on the address is free, and clients that connect are refused. Those that are
    /// connected already and only wait for us are accepted, because closing the socket would disconnect them.
    func stop() {
        if let registration { loop.deregister(registration) }
        registration = nil
        reserve = nil
        socket?.withdraw()
        if socket?.isInherited == false, context != nil { acceptWaiting() }
        socket = nil
    }

    private func acceptWaiting() {
        for _ in 0 ..< ListenSocket.backlog {
            do {
                guard let accepted = try Syscalls.accept(number) else { return }
                take(accepted)
            } catch {
                guard error.isOfOneConnection else { return }
            }
        }
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
        guard let context, counter.enter() || makeRoom() && counter.enter() else {
            noteRefusal(of: accepted)
            refuse(accepted)
            return
        }
        // Fails for a client that has already disconnected.
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

    /// Closes connections that wait for a request. Returns whether there were any on this loop.
    private func makeRoom() -> Bool {
        var isMade = false
        for set in targets {
            if set.loop === loop { isMade = set.reclaim() } else { set.loop.execute { _ = set.reclaim() } }
        }
        return isMade
    }

    private func noteRefusal(of accepted: borrowing FileDescriptor) {
        guard let resources = context?.resources else { return }
        if let count = refusals.count(at: loop.now) {
            resources.log?("all \(counter.limit) connections are in use: \(count) refused with 503")
        }
        guard resources.onRefusal != nil else { return }
        let response = EarlyResponse(status: 503, text: "Too many connections")
        context?.report(response, peer: Syscalls.peerText(accepted.rawValue))
    }

    /// Refuses a connection beyond the limit with a short response, so that the client knows why.
    ///
    /// It has no body, because the request may be a HEAD request, which has not been checked.
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
            // Fails if no client is waiting any more, or if another thread took the free descriptor first;
            // the pause follows either way.
            if let victim = try? Syscalls.accept(number) { refuse(victim) }
            takeReserve()
        }
        guard let registration else { return }
        // If this fails, accepting continues at once and fails again.
        try? loop.modify(registration, [])
        resumeLater()
    }

    /// Retries until accepting can continue: a listener whose interest was not restored would never receive
    /// another event.
    private func resumeLater() {
        loop.schedule(after: Self.restTime) { [weak self] in
            guard let self, let registration else { return }
            if reserve == nil { takeReserve() }
            do throws(IOError) { try loop.modify(registration, .readable) } catch { resumeLater() }
        }
    }

    /// Logs an error, at most one line per `logInterval`.
    private func log(_ error: IOError) {
        guard let count = errors.count(at: loop.now) else { return }
        let more = count > 1 ? " (and \(count - 1) more times since the last report)" : ""
        context?.resources.log?("accept failed: \(error.reason)\(more); retrying")
    }

    /// Opens the reserve descriptor. Without it, clients that connect when descriptors have run out receive
    /// no response until some are free.
    private func takeReserve() { reserve = try? Syscalls.open("/dev/null", O_RDONLY) }
}
