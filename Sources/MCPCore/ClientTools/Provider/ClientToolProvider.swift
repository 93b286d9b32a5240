#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A provider that offers tools of this program in a channel of a daemon and keeps offering them: after a
/// restart of the daemon they are registered again.
///
/// It connects to the daemon, and on this connection it is an ordinary MCP server. The connection to a unix
/// socket or an `http` address carries the messages itself. To an `https` address, and with an HTTP carrier,
/// they are an event stream and requests of their own, which pass through proxies.
public actor ClientToolProvider {
    private let counted = Counted(.provider)

    /// An event of a provider.
    public enum Event: Sendable {
        /// The provider is connected; from now on the daemon requests the tools.
        case connected
        /// The daemon has registered the tools, some of them, or none; also after each change of the tools.
        case registered(ClientToolReport)
        /// There is no connection; the next attempt is made after this time.
        case disconnected(ClientError, retryAfter: Duration)
    }

    /// The origin of the tools.
    package enum Offer: Sendable {
        case registry(ClientToolRegistry, MCPServer)
        case server(MCPServer)
        case program(ProcessLaunch)
    }

    private let offer: Offer
    private let channel: String
    private let clientID: String
    private let address: ProviderAddress
    private let token: @Sendable () -> String?
    private let onEvent: (@Sendable (Event) -> Void)?
    private let onProgramStderr: (@Sendable (String) -> Void)?
    private let carrier: (any HTTPCarrier)?
    private let tls: any TLSProvider
    private let firstPause: Duration
    private let programGrace: Duration
    private let silence: Duration
    private let probePatience: Duration
    private var probe = ProbePolicy()
    /// Whether the last connection was ended because the program left the probe unanswered.
    private var isImpatient = false

    /// Creates a provider that offers the tools of an app.
    ///
    /// - Parameters:
    ///   - registry: the tools; the daemon is notified about later changes.
    ///   - channel: the channel in which they are offered.
    ///   - clientID: the name of the client that offers them; use the same one at each start, so that the
    ///     tools keep their names.
    ///   - address: the address of the daemon.
    ///   - token: the token that the daemon requires on TCP; unix sockets need none.
    ///   - carrier: the HTTP stack that reaches the daemon, such as `URLSessionCarrier`; nil for that of this
    ///     library.
    ///   - tls: the TLS of https without a carrier.
    public init(
        registry: ClientToolRegistry, channel: String, clientID: String, address: ProviderAddress,
        token: String? = nil, carrier: (any HTTPCarrier)? = nil,
        tls: any TLSProvider = OpenSSLProvider.system, onEvent: (@Sendable (Event) -> Void)? = nil
    ) {
        self.init(
            .registry(registry, Self.emptyServer()), channel: channel, clientID: clientID, address: address,
            token: { token }, carrier: carrier, tls: tls, onEvent: onEvent)
    }

    /// Creates a provider that offers the tools of a server, which run wherever its handlers run.
    ///
    /// - Parameter token: returns the token; called at each attempt, for tokens that a daemon creates anew
    ///   when it starts.
    public init(
        server: MCPServer, channel: String, clientID: String, address: ProviderAddress,
        token: @escaping @Sendable () -> String? = { nil }, carrier: (any HTTPCarrier)? = nil,
        tls: any TLSProvider = OpenSSLProvider.system, onEvent: (@Sendable (Event) -> Void)? = nil
    ) {
        self.init(
            .server(server), channel: channel, clientID: clientID, address: address, token: token,
            carrier: carrier, tls: tls, onEvent: onEvent)
    }

    /// Creates a provider that offers the tools of a program that is an MCP server over stdio. The program is
    /// started again for each connection, which is its standard input and output; 2 s after the end of the
    /// connection it receives SIGTERM, and after 2 s more SIGKILL.
    ///
    /// - Parameters:
    ///   - program: a path if it contains a slash, otherwise a name that is looked up in `PATH`. No shell is
    ///     involved.
    ///   - token: returns the token; called at each attempt.
    public init(
        program: String, arguments: [String], channel: String, clientID: String, address: ProviderAddress,
        token: @escaping @Sendable () -> String? = { nil }, onEvent: (@Sendable (Event) -> Void)? = nil
    ) {
        self.init(
            .program(ProcessLaunch(program, arguments)), channel: channel, clientID: clientID,
            address: address, token: token, onEvent: onEvent)
    }

    /// - Parameters:
    ///   - firstPause: the pause after the first failure.
    ///   - programGrace: the time that a program has to end after its input, and again after SIGTERM.
    ///   - silence: the longest time without a message over plain HTTP requests.
    ///   - probePatience: the longest time that a program may leave the probe unanswered.
    ///   - onProgramStderr: receives the lines of a program's standard error; if nil, they are in that of
    ///     this process.
    package init(
        _ offer: Offer, channel: String, clientID: String, address: ProviderAddress,
        token: @escaping @Sendable () -> String?, carrier: (any HTTPCarrier)? = nil,
        tls: any TLSProvider = OpenSSLProvider.system, firstPause: Duration = .milliseconds(250),
        programGrace: Duration = .seconds(2), silence: Duration = ClientToolLimits.longestSilence,
        probePatience: Duration = .seconds(10),
        onProgramStderr: (@Sendable (String) -> Void)? = nil,
        onEvent: (@Sendable (Event) -> Void)?
    ) {
        self.offer = offer
        self.channel = channel
        self.clientID = clientID
        self.address = address
        self.token = token
        self.carrier = carrier
        self.tls = tls
        self.firstPause = firstPause
        self.programGrace = programGrace
        self.silence = silence
        self.probePatience = probePatience
        self.onProgramStderr = onProgramStderr
        self.onEvent = onEvent
    }

    static func emptyServer() -> MCPServer {
        var options = ServerOptions()
        // The daemon counts the calls itself.
        options.limits.maxRequestsInFlight = ClientToolLimits.callsPerClient + 8
        options.limits.requestDeadline = .seconds(610)
        return MCPServer("client-tools", version: "1.0", options: options)
    }

    /// Connects, offers the tools, and reconnects when the connection is lost, with a pause that grows up to
    /// 30 s. Returns when the task is cancelled.
    ///
    /// - Throws: `ClientError` when the first response of a daemon is a refusal: 401, 403
    ///   (`.authentication`), 400 for an invalid name, 404 without client tools (`.httpStatus`). If a daemon
    ///   is not running yet or is busy (429, 503; 502 and 504 of a proxy), this function waits for it.
    public func run() async throws {
        let loop = try await prepare()
        defer { loop.stop() }
        var backoff = Backoff(maximum: .seconds(30))
        var wasConnected = false
        while !Task.isCancelled {
            let failure: ClientError
            do {
                let start = ContinuousClock.now
                let (ending, bridge) = try await attempt(on: loop) { wasConnected = true }
                // A daemon that accepts the connection and closes it immediately is not retried in a tight
                // loop, nor is a program that is of no use, or one that another with its name replaces again.
                if bridge.hasReport, bridge.problem == nil, ContinuousClock.now - start > .seconds(2) {
                    backoff.reset()
                }
                failure = self.failure(ending, bridge)
            } catch let error as ClientError {
                let isRefusal = error.kind != .cannotConnect && !Self.isTemporary(error.httpStatus)
                if isRefusal, !wasConnected { throw error }
                failure = error
            } catch {
                failure = cannotUse(error)
            }
            // Random, so that the programs of a restarted daemon do not all reconnect at the same moment.
            let pause = (backoff.next(firstPause) ?? .seconds(30)) * Double.random(in: 0.5 ... 1)
            if Task.isCancelled { return }
            onEvent?(.disconnected(failure, retryAfter: pause))
            guard (try? await Task.pause(for: pause)) != nil else { return }
        }
    }

    /// Whether a status says that the daemon is busy, or that a proxy does not reach it.
    static func isTemporary(_ status: Int?) -> Bool {
        status.map { [429, 502, 503, 504].contains($0) } ?? false
    }

    /// Connects once and offers the tools until that connection ends. Returns when the task is cancelled, and
    /// when the offered program has ended with status 0.
    ///
    /// - Throws: `ClientError` as in `run`; `.cannotConnect` when there is no daemon; `.connectionClosed`
    ///   when the daemon has closed the connection, and when a program has failed.
    public func runOnce() async throws {
        let loop = try await prepare()
        defer { loop.stop() }
        let ending: Ending
        let bridge: ProviderBridge
        do {
            (ending, bridge) = try await attempt(on: loop) {}
        } catch let error as ClientError {
            throw error
        } catch {
            throw cannotUse(error)
        }
        if Task.isCancelled { return }
        if case .program(.exited(0)) = ending { return }
        throw failure(ending, bridge)
    }

    private func failure(_ ending: Ending, _ bridge: ProviderBridge) -> ClientError {
        if case .program(let status) = ending, case .program(let launch) = offer {
            // What it wrote to its standard error was shown already.
            var error = ClientError(
                .connectionClosed,
                "the offered program \(launch.program.cleaned(maxBytes: 256)) \(status)")
            // One whose tools were listed works as a server, and may end and be started again.
            error.isEndOfProgram = !bridge.hasReport
            return error
        }
        let text =
            bridge.problem.map { "\(address) refused the tools: \($0)" }
            ?? unopened(bridge) ?? "\(address) closed the connection"
        return ClientError(.connectionClosed, text)
    }

    /// What the program did when the connection ended before the daemon had listed its tools; nil if nothing
    /// is known about that.
    private func unopened(_ bridge: ProviderBridge) -> String? {
        let opening = bridge.opening
        guard case .program(let launch) = offer, opening.wasProbed, !bridge.hasReport else { return nil }
        let program = "the offered program \(launch.program.cleaned(maxBytes: 256))"
        if let refusal = opening.refusal { return "\(program) refused initialize: \(refusal)" }
        return opening.hasAnswered ? nil : "\(address) closed the connection before \(program) had answered"
    }

    private func cannotUse(_ error: any Error) -> ClientError {
        ClientError(.cannotConnect, "cannot use the connection to \(address): \(error)")
    }

    /// Prepares the tools and starts an event loop for the connections.
    private func prepare() async throws -> EventLoop {
        SignalWatch.ignoreBrokenPipes()
        switch offer {
        case .registry(let registry, let server): await registry.attach(server)
        case .program(let launch):
            do {
                _ = try launch.resolvedProgram()
            } catch {
                throw ClientError(.cannotStart, "\(error)")
            }
        // A server without tools still declares that it may have some later.
        case .server(let server): try? server.update { $0.toolsComeAndGo = true }
        }
        let loop = try EventLoop(label: "mcp.provider")
        loop.start()
        return loop
    }

    /// The reason why a connection is no longer served.
    private enum Ending {
        /// The connection has ended.
        case link
        /// The program has ended on its own.
        case program(ProcessExit)

        var isOfProgram: Bool { if case .program = self { true } else { false } }
    }

    /// The connection to the daemon, and the socket on which the tools are served.
    private typealias Link = (bridge: ProviderBridge, socket: Int32)

    private func open() async throws -> Link {
        let dialer = ProviderDialer(
            address: address, channel: channel, clientID: clientID, token: token())
        return try await ProviderBridge.open(
            dialer, carrier: carrier, tls: tls, hidesProbe: probe.hides, silence: silence
        ) { [onEvent] report in
            onEvent?(.registered(report))
        }
    }

    /// The most starts of a program without a pause: one that ends once, and then turns out to be of
    /// 2026-07-28, needs three.
    private static let maxStarts = 3

    /// Connects, and offers the tools until the connection ends.
    ///
    /// A program that the probe of the daemon disturbed, as it does some older servers, is started again
    /// at once and does not see it; so is one of 2026-07-28 that did not see it, and then it does.
    private func attempt(
        on loop: EventLoop, whenOpen: () -> Void
    ) async throws -> (Ending, ProviderBridge) {
        var starts = 0
        while true {
            let link = try await open()
            whenOpen()
            onEvent?(.connected)
            let ending = try await serve(link, on: loop)
            starts += 1
            guard !Task.isCancelled, let outcome = outcome(ending, link.bridge),
                probe.note(outcome), starts < Self.maxStarts
            else { return (ending, link.bridge) }
        }
    }

    /// How an attempt to offer a program has ended; nil if that says nothing about the probe.
    private func outcome(_ ending: Ending, _ bridge: ProviderBridge) -> ProbePolicy.Outcome? {
        let opening = bridge.opening
        guard case .program = offer, opening.wasProbed else { return nil }
        if bridge.hasReport { return .open }
        if opening.isModern { return .modern }
        if (isImpatient || ending.isOfProgram) && !opening.hasResult { return .disturbed }
        return opening.hasAnswered ? .failed : .unanswered
    }

    /// Ends a connection whose program has read the probe and leaves it unanswered; returns whether it did.
    private func impatience(_ program: ProviderProgram, _ bridge: ProviderBridge) -> Task<Bool, Never> {
        @Sendable func isSilent() -> Bool {
            let opening = bridge.opening
            return opening.wasProbed && !opening.hasAnswered && !bridge.hasReport && program.hasReadAll
        }
        return Task { [probePatience] in
            while !bridge.opening.hasAnswered, !bridge.hasReport,
                (try? await Task.pause(for: .milliseconds(200))) != nil
            {
                guard isSilent() else { continue }
                guard (try? await Task.pause(for: probePatience)) != nil else { break }
                // The probe may have been on its way at the first look.
                guard isSilent() else { continue }
                bridge.stop()
                return true
            }
            return false
        }
    }

    /// Serves the daemon until either side ends the connection.
    private func serve(_ link: Link, on loop: EventLoop) async throws -> Ending {
        do {
            let ending = try await serve(FileDescriptor(owning: link.socket), link.bridge, on: loop)
            await link.bridge.finish()
            return ending
        } catch {
            link.bridge.stop()
            throw error
        }
    }

    private func serve(
        _ descriptor: consuming FileDescriptor, _ bridge: ProviderBridge, on loop: EventLoop
    ) async throws -> Ending {
        let server: MCPServer
        switch offer {
        case .program(let launch):
            let program = try ProviderProgram(
                launch, on: descriptor, loop: loop, grace: programGrace, onStderr: onProgramStderr)
            let patience = probe.hides || !probe.endsSilence ? nil : impatience(program, bridge)
            let status = await program.run()
            patience?.cancel()
            isImpatient = await patience?.value ?? false
            return status.map(Ending.program) ?? .link
        case .registry(_, let own), .server(let own): server = own
        }
        let other = try descriptor.duplicate()
        // The daemon is notified about the end even while a handler still holds the connection.
        defer { shutdown(other.rawValue, Int32(SHUT_RDWR)) }
        let streams = try StandardStreams.socket(descriptor)
        // Work that is still in progress when the daemon is gone has no recipient.
        let session = LineServer(server, streams: streams, loop: loop, drainTimeout: .zero)
        loop.execute { session.start() }
        await withTaskCancellationHandler {
            await session.waitUntilEnded()
        } onCancel: {
            session.stop()
        }
        return .link
    }
}
