import Synchronization

/// The messages between a daemon and the tools of this program: from the connection to the daemon, of any
/// kind, to one end of a socket pair, and back. The other end is the connection that the tools are served on.
///
/// The daemon's reports about the tools are taken out on the way.
final class ProviderBridge: Sendable {
    private let counted = Counted(.providerBridge)

    /// The time that messages of the tools may take to reach the daemon after the end of the tools.
    private static let drainTimeout = Duration.seconds(2)
    /// The pauses after which a message is sent again that a proxy or a busy daemon did not take.
    private static let pauses: [Duration] = [.milliseconds(250), .milliseconds(500), .seconds(1)]

    private let near: SocketClientTransport
    private let far: any ClientTransport
    private let waiting: BoundedQueue<ByteSlice>
    private let nearEnd: BridgeEnd
    private let farEnd: BridgeEnd
    private let sender = Mutex<Task<Void, Never>?>(nil)
    private let watch = Mutex<Task<Void, Never>?>(nil)
    private let reported: ReportBox

    /// The reason why the daemon refused all tools, if it gave one.
    var problem: String? { reported.last.withLock { $0?.problem } }

    /// Whether the daemon has said what it thinks of the tools.
    var hasReport: Bool { reported.last.withLock { $0 != nil } }
    /// What has been said until the tools have answered.
    var opening: ProviderOpening { reported.opening.withLock { $0 } }

    private final class ReportBox: Sendable {
        let last = Mutex<ClientToolReport?>(nil)
        /// The time of the daemon's last message.
        let heard = Mutex(ContinuousClock.now)
        let opening = Mutex(ProviderOpening())
    }

    /// - Parameter near: this program's end of the socket pair.
    private init(
        near: SocketClientTransport, far: any ClientTransport, hidesProbe: Bool,
        onReport: @escaping @Sendable (ClientToolReport) -> Void
    ) {
        self.near = near
        self.far = far
        let waiting = BoundedQueue<ByteSlice>(limit: ClientOptions().maxMessageBytes) { $0.count + 64 }
        self.waiting = waiting
        let reported = ReportBox()
        self.reported = reported
        nearEnd = BridgeEnd(
            onMessage: { message in
                reported.opening.withLock { $0.read(fromTools: message) }
                if !waiting.add(message.copy()) { far.shutDown() }
            }, onEnd: { waiting.finish() })
        farEnd = BridgeEnd(
            onMessage: { message in
                reported.heard.withLock { $0 = .now }
                if let report = ClientToolReport(message: message) {
                    reported.last.withLock { $0 = report }
                    onReport(report)
                } else if let id = reported.opening.withLock({ $0.read(fromDaemon: message) }), hidesProbe {
                    // As a server before 2026-07-28 answers.
                    let refusal: JSONValue = [
                        "jsonrpc": "2.0", "id": id, "error": ["code": -32601, "message": "Method not found"],
                    ]
                    if !waiting.add(RawJSON(refusal).bytes) { far.shutDown() }
                } else {
                    near.send(Self.outbound(message.copy()), id: 0)
                }
            },
            onEnd: {
                waiting.finish()
                near.shutDown()
            })
    }

    private static func outbound(_ bytes: ByteSlice) -> OutboundMessage {
        OutboundMessage(bytes: bytes, method: "", connectTimeout: .seconds(10), mustBeTaken: true)
    }

    /// Connects to the daemon.
    ///
    /// - Parameters:
    ///   - carrier: the HTTP stack to use; nil for that of this library.
    ///   - tls: the TLS of https.
    ///   - hidesProbe: whether the tools do not see the probe of 2026-07-28, which some older servers do not
    ///     survive; the daemon then opens the connection with the handshake.
    ///   - silence: the time without a message after which the daemon counts as gone. Only for plain HTTP
    ///     requests, where the system does not notice that the other end is gone.
    /// - Returns: the bridge, and the socket to serve the tools on.
    /// - Throws: `ClientError` as `ProviderDialer.dial` does.
    static func open(
        _ dialer: ProviderDialer, carrier: (any HTTPCarrier)?, tls: any TLSProvider,
        hidesProbe: Bool = false, silence: Duration,
        onReport: @escaping @Sendable (ClientToolReport) -> Void
    ) async throws -> (bridge: ProviderBridge, socket: Int32) {
        let name = "\(dialer.address)"
        let http = try dialer.http(carrier: carrier, tls: tls)
        let far: any ClientTransport
        if let http {
            far = http
        } else {
            let socket = UpgradedSocket(
                descriptor: FileDescriptor(owning: try await dialer.dial()), rest: ByteSlice())
            far = try SocketClientTransport(socket, name: name, options: ClientOptions())
        }
        let (one, other) = try Syscalls.socketPair()
        let end = FileDescriptor(owning: one)
        let near = try SocketClientTransport(
            UpgradedSocket(descriptor: FileDescriptor(owning: other), rest: ByteSlice()), name: "the tools",
            options: ClientOptions())
        let bridge = ProviderBridge(near: near, far: far, hidesProbe: hidesProbe, onReport: onReport)
        bridge.start()
        do {
            try await http?.openChannel(within: ProviderDialer.timeout, isRequired: true)
        } catch {
            bridge.stop()
            throw dialer.failure(error)
        }
        if http != nil { bridge.endAfterSilence(of: silence) }
        return (bridge, end.release())
    }

    private func start() {
        near.start(nearEnd)
        far.start(farEnd)
        let (far, messages) = (far, waiting.stream(whenDropped: {}))
        sender.withLock {
            $0 = Task {
                for await message in messages {
                    do throws(ClientError) {
                        try await Self.post(message, to: far)
                    } catch {
                        guard await Self.report(error, to: far, insteadOf: message) else { break }
                    }
                }
                far.shutDown()
            }
        }
    }

    /// Sends a message, also again: without its result a call would wait in vain, and a daemon that has
    /// received it already ignores it.
    private static func post(_ message: ByteSlice, to far: any ClientTransport) async throws(ClientError) {
        for pause in pauses {
            do throws(ClientError) {
                return try await far.post(outbound(message))
            } catch {
                guard ClientToolProvider.isTemporary(error.httpStatus),
                    (try? await Task.pause(for: pause)) != nil
                else { throw error }
            }
        }
        try await far.post(outbound(message))
    }

    /// Ends the connection when no message has arrived for this time; the daemon sends one at least every
    /// 20 s.
    private func endAfterSilence(of limit: Duration) {
        let (far, reported) = (far, reported)
        watch.withLock {
            $0 = Task {
                while !Task.isCancelled {
                    let left = limit - (.now - reported.heard.withLock { $0 })
                    if left <= .zero { return far.shutDown() }
                    guard (try? await Task.pause(for: left)) != nil else { return }
                }
            }
        }
    }

    /// Lets the call fail whose result the daemon has refused. Returns false when the daemon cannot be
    /// reached.
    private static func report(
        _ error: ClientError, to far: any ClientTransport, insteadOf message: ByteSlice
    ) async -> Bool {
        guard let json = try? JSONValue(parsing: message), let id = json["id"], json["method"] == nil else {
            return error.httpStatus != nil
        }
        let text = "the daemon refused the result of \(message.count) bytes: \(error.message)"
        let answer: JSONValue = [
            "jsonrpc": "2.0", "id": id, "error": ["code": -32603, "message": .string(text)],
        ]
        do {
            try await post(RawJSON(answer).bytes, to: far)
            return true
        } catch {
            return false
        }
    }

    /// Ends both connections after the tools have ended, once their last messages are sent.
    func finish() async {
        let task = sender.withLock { $0 }
        _ = try? await Race.run(within: Self.drainTimeout) { await task?.value }
        stop()
    }

    /// Ends both connections.
    func stop() {
        waiting.finish()
        sender.withLock { $0.take() }?.cancel()
        watch.withLock { $0.take() }?.cancel()
        near.shutDown()
        far.shutDown()
    }
}

/// The receiver of one connection of a bridge.
private final class BridgeEnd: ClientInbox {
    private let onMessage: @Sendable (ByteSlice) -> Void
    private let onEnd: @Sendable () -> Void

    init(onMessage: @escaping @Sendable (ByteSlice) -> Void, onEnd: @escaping @Sendable () -> Void) {
        self.onMessage = onMessage
        self.onEnd = onEnd
    }

    func receive(_ bytes: ByteSlice, exchange: Int64?, status: Int?) { onMessage(bytes) }
    func isWaiting(_ id: Int64) -> Bool { false }
    func fail(_ id: Int64, _ error: ClientError) {}
    /// A message could not be read, so that some call would wait for its result in vain.
    func failAll(_ error: ClientError) { onEnd() }
    func serverStreamRefused(_ error: ClientError) {}
    func messagesMayBeLost() {}
    func serverStreamBegan() {}
    func serverStreamFailed(_ error: ClientError, attempts: Int) {}
    func sessionLost() {}
    func awaitsCredentials(_ id: Int64?, _ isWaiting: Bool) {}
    func identityChanged() {}
    func connectionClosed(_ error: ClientError) { onEnd() }
}
