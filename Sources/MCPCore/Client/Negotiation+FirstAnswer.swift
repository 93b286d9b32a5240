import Synchronization

/// The opening of a connection to a server behind a shared channel, most often a program.
///
/// Such a server may need a minute to start, may ignore the probe, or may be unable to go on after it. The
/// probe stays pending while `initialize` is tried as well: the first answer decides, whichever it is.
extension Negotiation {
    private enum Event: Sendable {
        case discovered(ClientCall.Reply)
        case initialized(Result<RawJSON, any Error>)
        /// The server has read the request and has been silent for long enough.
        case silent(to: Step)
    }

    private enum Step: Sendable { case discover, initialize }

    private enum Outcome: Sendable {
        case modern(ServerProfile, discovery: RawJSON)
        case legacy(RawJSON, offered: Revision)
        case failed(any Error)
        /// The server read the probe, and then ended, fell silent or refused `initialize`.
        case disturbed(any Error)
    }

    /// Opens the connection with the first answer; a program that the probe disturbed is started afresh.
    func openByFirstAnswer() async throws {
        switch await firstAnswer() {
        case .modern(let profile, let discovery): adopt(profile, discovery)
        case .legacy(let result, let offered):
            try await complete(result, offered)
            if let profile = connection.profile { record(profile, discovery: nil) }
        case .failed(let error): throw error
        case .disturbed(let error):
            guard connection.transport.canRestart, left > .zero else { throw error }
            try await openAfresh(after: error)
        }
    }

    /// Starts the program afresh and opens the connection without a probe; remembers that this worked.
    private func openAfresh(after first: any Error) async throws {
        connection.trace(
            .warning("the program is started afresh and opened with initialize, because \(first)"))
        try await connection.startAfresh()
        do {
            try await initialize(.newestLegacy)
        } catch let error as ClientError where error.kind == .unsupportedVersion {
            throw first
        }
        if let profile = connection.profile { record(profile, discovery: nil, isNecessary: true) }
    }

    /// Opens a connection that was open in 2026-07-28 again, with `initialize`.
    ///
    /// A program is started afresh for that: one that accepts the handshake on a channel that was open may
    /// still expect what 2026-07-28 expects of each request.
    func openWithHandshake() async throws {
        if connection.transport.canRestart { try await connection.startAfresh() }
        try await initialize(.newestLegacy)
        if let profile = connection.profile { record(profile, discovery: nil, isNecessary: true) }
    }

    /// Returns whether a server that lists in 2026-07-28 refuses a request because of a missing handshake.
    static func wantsHandshake(_ error: MCPError, _ options: ClientOptions) -> Bool {
        guard options.protocol == .auto, handshakeCodes.contains(error.code) else { return false }
        return error.message.lowercased().contains("initializ")
    }

    /// -32002 is the code of other protocols for a server that is not initialized.
    private static let handshakeCodes: Set<Int> = [
        MCPError.invalidRequestCode, MCPError.invalidParamsCode, MCPError.methodNotFoundCode, -32002,
    ]

    // MARK: The answers

    private func firstAnswer() async -> Outcome {
        await withTaskGroup(of: Event?.self) { group in
            defer { group.cancelAll() }
            var progress = FirstAnswer()
            var next = FirstAnswer.Action.probe
            while true {
                switch next {
                case .probe:
                    group.addTask { .discovered(await discover(.newest, atMost: left)) }
                    let patience = min(connection.options.probeTimeout, left / 4)
                    group.addTask { await silence(patience).map { .silent(to: .discover) } }
                case .initialize(let revision):
                    group.addTask { .initialized(await offered(revision)) }
                    // A program that is slow to answer is not taken for one that never will.
                    let patience = min(connection.options.probeTimeout * 3, left / 2)
                    group.addTask { await silence(patience).map { .silent(to: .initialize) } }
                case .wait: break
                case .end(let outcome): return outcome
                }
                guard let event = await group.next() else { return .failed(timedOut()) }
                if let event { next = progress.take(event, self) } else { next = .wait }
            }
        }
    }

    private func offered(_ revision: Revision) async -> Result<RawJSON, any Error> {
        do { return .success(try await offer(revision)) } catch { return .failure(error) }
    }

    /// Waits until the server has read everything and was then silent for a while; nil if cancelled.
    private func silence(_ patience: Duration) async -> Void? {
        var pause = Duration.milliseconds(20)
        do {
            while true {
                // A program that writes something has started, even if it is no message.
                let isRead = await connection.transport.hasBeenRead()
                let hasStarted = isRead || !connection.unreadableDetails().isEmpty
                note(hasStarted: hasStarted)
                if hasStarted { break }
                try await Task.pause(for: pause)
                pause = min(pause * 2, .milliseconds(200))
            }
            try await Task.pause(for: patience)
            return ()
        } catch {
            return nil
        }
    }

    /// The state of the two requests.
    private struct FirstAnswer {
        enum Action {
            case probe, wait
            case initialize(Revision)
            case end(Outcome)
        }

        private var isProbing = true
        private var offered: Revision?
        /// The error with which `initialize` was refused while the probe was still pending.
        private var refusal: (any Error)?

        mutating func take(_ event: Event, _ negotiation: Negotiation) -> Action {
            switch event {
            case .discovered(let reply): discovered(reply, negotiation)
            case .initialized(.success(let result)):
                .end(.legacy(result, offered: offered ?? .newestLegacy))
            case .initialized(.failure(let error)): refused(error)
            case .silent(.discover): offered == nil && isProbing ? offer(.newestLegacy) : .wait
            case .silent(.initialize): .end(.disturbed(negotiation.timedOut()))
            }
        }

        private mutating func offer(_ revision: Revision) -> Action {
            offered = revision
            return .initialize(revision)
        }

        private mutating func discovered(_ reply: ClientCall.Reply, _ negotiation: Negotiation) -> Action {
            isProbing = false
            do {
                switch try negotiation.verdict(reply) {
                case .modern(let profile, let discovery):
                    return .end(.modern(profile, discovery: discovery))
                case .legacy(let revision):
                    if let refusal { return .end(.disturbed(refusal)) }
                    return offered == nil ? offer(revision) : .wait
                }
            } catch {
                return .end(Self.isDisturbance(error) ? .disturbed(error) : .failed(error))
            }
        }

        private mutating func refused(_ error: any Error) -> Action {
            if let error = error as? ClientError, error.kind != .unsupportedVersion {
                return .end(Self.isDisturbance(error) ? .disturbed(error) : .failed(error))
            }
            guard isProbing else { return .end(.disturbed(error)) }
            refusal = error
            return .wait
        }

        /// Whether the server ended after it had read what was sent.
        private static func isDisturbance(_ error: any Error) -> Bool {
            guard let error = error as? ClientError else { return false }
            return error.kind == .connectionClosed && !error.isUnsent
        }
    }
}

extension ClientConnection {
    /// Opens the connection with a handshake, for all calls that a server of 2026-07-28 refused without one;
    /// returns nil on success.
    func reopenWithHandshake(after generation: Int) async -> ClientError? {
        await openOnce(after: generation) { negotiation, _ in
            try await negotiation.limited { try await negotiation.openWithHandshake() }
        }
    }

    /// Ends the program and starts it afresh; the calls that wait for it fail.
    func startAfresh() async throws(ClientError) {
        failAll(ClientError(.connectionClosed, "the server was started afresh"))
        state.withLock { $0.endWhileOpening = nil }
        try await transport.startAfresh()
    }
}
