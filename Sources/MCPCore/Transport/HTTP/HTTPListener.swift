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
/// to accept and close what is waiting, and rests for 100 ms, so that it neither spins nor hangs (fault 74).
final class HTTPListener: EventHandler, @unchecked Sendable {
    // SAFETY: touched on its loop only, after `start`.
    private var socket: ListenSocket?
    private let number: Int32
    private let isTCP: Bool
    private let loop: EventLoop
    private let endpoint: StreamableEndpoint
    private let census: ConnectionCensus
    /// Where connections go in turn; one when every loop has its own socket.
    private let targets: [ConnectionSet]
    private var turn = 0
    private var registration: Registration?
    private var reserve: FileDescriptor?

    /// Connections taken in one turn, so that a flood does not starve those that are served.
    private static let acceptsPerTurn = 64

    init(
        _ socket: consuming ListenSocket, loop: EventLoop, endpoint: StreamableEndpoint,
        census: ConnectionCensus, targets: [ConnectionSet]
    ) {
        number = socket.descriptor.rawValue
        isTCP = socket.isTCP
        self.socket = consume socket
        self.loop = loop
        self.endpoint = endpoint
        self.census = census
        self.targets = targets
    }

    /// Begins to accept. On the loop.
    func start() throws(IOError) {
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
        for _ in 0 ..< Self.acceptsPerTurn {
            do {
                guard let accepted = try Syscalls.accept(number) else { return }
                take(accepted)
            } catch {
                return rest(after: error)
            }
        }
    }

    private func take(_ accepted: consuming FileDescriptor) {
        guard census.enter() else {
            refuse(accepted)
            return
        }
        // Fails for a client that is gone already.
        if isTCP { try? Syscalls.setNoDelay(accepted.rawValue) }
        let target = targets[turn % targets.count]
        turn &+= 1
        let connection = HTTPConnection(
            accepted, loop: target.loop, endpoint: endpoint, identifier: ConnectionNumber.next(),
            siblings: target)
        if target.loop === loop {
            target.insert(connection)
        } else {
            target.loop.execute { target.insert(connection) }
        }
    }

    /// One connection too many: a short answer, so that the client knows why.
    private func refuse(_ accepted: borrowing FileDescriptor) {
        var out = ByteBuffer()
        let extra = try? HeaderFields(["Retry-After": "1"])
        ResponseWriter.writeText(
            status: 503, "Too many connections; try again later", keepAlive: false, extra: extra, to: &out)
        // A courtesy: the connection is closed in any case.
        _ = unsafe try? out.withBytes { (bytes) throws(IOError) in
            unsafe try Syscalls.send(accepted.rawValue, UnsafeRawBufferPointer(bytes))
        }
    }

    private func rest(after error: IOError) {
        endpoint.dispatcher.log("accept failed: \(error.reason)")
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
        loop.schedule(after: .milliseconds(100)) { [weak self] in
            guard let self, let registration else { return }
            if reserve == nil { takeReserve() }
            do throws(IOError) { try loop.modify(registration, .readable) } catch { resumeLater() }
        }
    }

    /// Without it, running out of descriptors leaves whoever connects without an answer until some are free.
    private func takeReserve() { reserve = try? Syscalls.open("/dev/null", O_RDONLY) }
}
