import Synchronization

/// The negotiation that finds the revision of a server and opens the connection (basic/versioning "Backward
/// Compatibility").
struct Negotiation {
    let connection: ClientConnection
    /// The longest time for all steps together.
    private let limit: Duration
    /// The deadline of all steps together.
    private let deadline: MonotonicInstant
    /// The time that requests had waited for credentials before.
    private let earlierCredentials: Duration
    private let progress = Progress()
    private var options: ClientOptions { connection.options }
    private var isHTTP: Bool { connection.transport.isHTTP }

    /// The era that the response to `server/discover` indicates.
    enum Verdict {
        case modern(ServerProfile, discovery: RawJSON)
        /// A server from before 2026-07-28, to which this revision is offered.
        case legacy(Revision)
    }

    /// Creates a negotiation and starts the time limit for connecting.
    init(_ connection: ClientConnection) {
        self.connection = connection
        limit = connection.options.connectLimit(forProgram: connection.transport.canRestart)
        deadline = connection.clock.now + limit
        earlierCredentials = connection.timeForCredentials
    }

    /// Opens the connection.
    ///
    /// - Throws: `ClientError`, or the `MCPError` with which the server refuses.
    func open() async throws {
        try await limited { if try await !openByVerdict() { try await probeAndOpen() } }
        // A server that ended right after the handshake.
        if let end = connection.state.withLock({ $0.endWhileOpening.take() }) {
            connection.connectionClosed(end)
        }
    }

    // MARK: The limit

    /// The requests that a server has not answered yet, for the error at the time limit.
    private final class Progress: Sendable {
        let unanswered = Mutex<[String]>([])
        /// Whether a program is known to have read nothing of what was sent to it.
        let isUnread = Atomic(false)
        /// Whether it has read something, or written something.
        let hasStarted = Atomic(false)
        /// The error with which a server refused before an older transport was tried.
        let refusal = Mutex<(any Error)?>(nil)
    }

    /// The remaining time for connecting. A login does not count.
    var left: Duration {
        max(.zero, deadline - connection.clock.now + (connection.timeForCredentials - earlierCredentials))
    }

    /// Returns the limits of a request that opens the connection.
    private func callLimit(_ limit: Duration) -> CallOptions {
        // `limited` takes the place of a deadline that would count a login.
        CallOptions(timeout: limit, deadline: options.authorizer == nil ? limit : nil)
    }

    /// Runs `work` within the time limit for connecting, which covers everything that it waits for.
    func limited(_ work: @escaping @Sendable () async throws -> Void) async throws {
        var more: (@Sendable () -> Duration)?
        if options.authorizer != nil { more = { left } }
        try await TimeLimit.run(left, late: { timedOut() }, more: more, work)
    }

    /// Returns the error at the time limit: the step that was pending, the limit, and what the server wrote.
    func timedOut() -> any Error {
        if let refusal = progress.refusal.withLock({ $0 }) { return refusal }
        if let error = connection.transport.openingFailure(after: limit) { return error }
        let errors = connection.transport.lastErrors
        return ClientError(
            .timeout, "\(pendingStep) within \(limit.inWords)",
            details: (errors ?? []).map { "stderr: \($0)" } + connection.unreadableDetails(),
            hint: (errors == nil ? "is it an MCP server?" : Self.programHint)
                + " A slow server needs a longer connection timeout")
    }

    /// What did not happen, for the error at the time limit.
    private var pendingStep: String {
        if progress.isUnread.load(ordering: .relaxed) { return "the program did not read its standard input" }
        let steps = progress.unanswered.withLock { $0 }
        let server = connection.transport.address.map { "\($0)" } ?? "the server"
        return switch steps.count {
        case 0: "\(server) did not allow the connection to be opened"
        case 1: "\(server) did not respond to \(steps[0])"
        default: "\(server) responded to neither \(steps.joined(separator: " nor "))"
        }
    }

    private static let programHint =
        "does it speak MCP on stdin and stdout? It may need a flag for that, such as --stdio for mcp-server."

    /// Records whether the program has started: it has read or written something.
    func note(hasStarted: Bool) {
        if hasStarted { progress.hasStarted.store(true, ordering: .relaxed) }
        progress.isUnread.store(!progress.hasStarted.load(ordering: .relaxed), ordering: .relaxed)
    }

    /// Runs a step and records it as unanswered until it is answered.
    private func asking<R>(_ step: String, _ ask: () async throws -> R) async rethrows -> R {
        progress.unanswered.withLock { if !$0.contains(step) { $0.append(step) } }
        return try await ask()
    }

    private func answered(_ step: String) { progress.unanswered.withLock { $0.removeAll { $0 == step } } }

    // MARK: Steps

    func probeAndOpen() async throws {
        switch options.protocol {
        case .exactly(let version):
            guard let revision = Revision.named(version.text) else {
                throw ClientError(
                    .unsupportedVersion, "\(version) is not a revision that this client supports",
                    hint: "known: \(ProtocolVersion.known.map(\.text).joined(separator: ", "))")
            }
            guard revision.isModern else { return try await initialize(revision) }
            try await openModern(revision)
        case .auto where !isHTTP: try await openByFirstAnswer()
        case .auto: try await openByProbe()
        }
    }

    private func openByProbe() async throws {
        switch try verdict(await discover(.newest, atMost: left)) {
        case .modern(let profile, let discovery): adopt(profile, discovery)
        case .legacy(let revision):
            try await initialize(revision)
            if let profile = connection.profile { record(profile, discovery: nil) }
        }
    }

    /// Opens the connection to a restarted server, which most likely has the same revision as before.
    func openAgain(as revision: Revision) async throws {
        try await limited { try await openLike(revision) }
    }

    private func openLike(_ revision: Revision) async throws {
        guard options.protocol == .auto else { return try await probeAndOpen() }
        // It is known to survive the probe; when it ends now, the policy for restarts counts that.
        if revision.isModern { return try await openByProbe() }
        do {
            try await initialize(revision)
        } catch let error as ClientError where error.kind == .connectionClosed || error.kind == .timeout {
            throw error
        } catch {
            try await probeAndOpen()
        }
    }

    /// Records and adopts the profile that `discovery` contained.
    func adopt(_ profile: ServerProfile, _ discovery: RawJSON) {
        record(profile, discovery: discovery)
        connection.compareRecords(with: profile)
        adopt(profile)
    }

    /// Marks the connection as open. `isAssumed` means that nothing was sent; the first response shows
    /// whether the server is what it is assumed to be.
    func adopt(_ profile: ServerProfile, isAssumed: Bool = false) {
        let now = connection.clock.now
        connection.state.withLock { state in
            state.speech = profile.revision.isModern ? .modern(profile.revision) : .legacy(profile.revision)
            state.profile = profile
            state.generation += 1
            state.openedAt = now
            state.isAssumed = isAssumed
        }
    }

    // MARK: server/discover

    func discover(_ revision: Revision, atMost limit: Duration) async -> ClientCall.Reply {
        let reply = await discoverOnce(revision, atMost: limit)
        // A server that lists the same revision that it refuses is asked once more, and not in a loop
        // (VER-04).
        guard case .refused(let error, _) = reply,
            error.code == MCPError.unsupportedProtocolVersionCode,
            Self.supported(error).contains(revision.version.text)
        else { return reply }
        return await discoverOnce(revision, atMost: min(limit, left))
    }

    private func discoverOnce(_ revision: Revision, atMost limit: Duration) async -> ClientCall.Reply {
        let step = "server/discover"
        let reply = await asking(step) {
            await connection.exchange(
                step, [:], callLimit(limit), .modern(revision))
        }
        // A status is an answer, too.
        if case .failed(let error) = reply, error.kind != .httpStatus { return reply }
        answered(step)
        return reply
    }

    /// Opens the connection with one modern revision. The server is probed first, so that a legacy server
    /// does not run a call without a handshake (DUAL-13).
    private func openModern(_ revision: Revision) async throws {
        switch await discover(revision, atMost: left) {
        case .failed(let error): throw error.kind == .timeout ? timedOut() : error
        case .refused(let error, _):
            throw unsupported(
                revision.version.text, Self.supported(error), details: ["its response: \(error)"])
        case .result(let result):
            let versions = ServerProfile.supportedVersions(in: result) ?? []
            guard versions.contains(revision.version.text) else {
                throw unsupported(revision.version.text, versions)
            }
            adopt(try ServerProfile(discovered: result, revision, versions: versions), result)
        }
    }

    /// Returns what the response to the probe indicates (DUAL-10 to DUAL-18).
    func verdict(_ reply: ClientCall.Reply) throws -> Verdict {
        switch reply {
        case .result(let result):
            // A result that is not a DiscoverResult comes from a server that returns a result for any
            // request.
            guard let versions = ServerProfile.supportedVersions(in: result) else {
                return .legacy(.newestLegacy)
            }
            let revision = try common(versions)
            guard revision.isModern else { return .legacy(revision) }
            let profile = try ServerProfile(discovered: result, revision, versions: versions)
            return .modern(profile, discovery: result)
        case .refused(let error, let status):
            return try judge(error, status)
        case .failed(let error):
            // Servers from before 2026-07-28 do not respond to the probe, or respond with errors of their
            // own.
            if error.isMalformedAnswer { return .legacy(.newestLegacy) }
            // 401, 403 and network failures reveal nothing about the era (DUAL-18).
            if error.kind == .httpStatus, [400, 404, 405].contains(error.httpStatus) {
                return .legacy(.newestLegacy)
            }
            throw error.kind == .timeout ? timedOut() : error
        }
    }

    private func judge(_ error: MCPError, _ status: Int?) throws -> Verdict {
        switch error.code {
        case MCPError.unsupportedProtocolVersionCode:
            let revision = try common(Self.supported(error))
            // Refused twice, although it is listed.
            if revision.isModern { throw error }
            return .legacy(revision)
        case MCPError.headerMismatchCode where isHTTP, MCPError.missingClientCapabilityCode where isHTTP:
            throw error
        default:
            return .legacy(.newestLegacy)
        }
    }

    /// Returns the newest revision that both support.
    private func common(_ versions: [String]) throws -> Revision {
        guard let revision = Revision.all.reversed().first(where: { versions.contains($0.version.text) })
        else {
            throw unsupported("any revision of this client", versions)
        }
        return revision
    }

    private static func supported(_ error: MCPError) -> [String] {
        error.data?["supported"]?.arrayValue?.compactMap(\.stringValue) ?? []
    }

    private func unsupported(_ wanted: String, _ versions: [String], details: [String] = []) -> ClientError {
        let offer = versions.prefix(8).joined(separator: ", ")
        return ClientError(
            .unsupportedVersion, "the server does not support \(wanted)",
            details: (versions.isEmpty ? [] : ["it supports \(offer)"]) + details,
            hint: options.protocol == .auto
                ? nil : "omit the protocol version to negotiate automatically")
    }

    // MARK: initialize

    /// Opens a legacy connection: `initialize`, then `notifications/initialized` (LIFE-01 to LIFE-05).
    func initialize(_ offered: Revision) async throws {
        try await complete(try await offer(offered), offered)
    }

    /// Completes the handshake that the result of `initialize` began.
    func complete(_ result: RawJSON, _ offered: Revision) async throws {
        guard let version = result["protocolVersion"]?.string else {
            throw ClientError(.protocolViolation, "the response to initialize contains no protocolVersion")
        }
        let isWanted = options.protocol == .auto || version == offered.version.text
        guard let revision = Revision.named(version), !revision.isModern, isWanted else {
            throw unsupported(offered.version.text, [version])
        }
        let profile = try ServerProfile(initialized: result, revision)
        let bytes = connection.notification("notifications/initialized")
        let step = "notifications/initialized"
        connection.trace(.sent(method: step, bytes: bytes))
        try await asking(step) {
            try await connection.transport.post(connection.outbound(bytes, step, .legacy(revision)))
        }
        adopt(profile)
        if connection.wantsServerStream { connection.transport.openServerStream() }
    }

    /// Sends `initialize`, falling back to HTTP+SSE for a server that supports nothing newer (DUAL-17).
    func offer(_ offered: Revision) async throws -> RawJSON {
        let limit = left
        let reply = await asking("initialize") {
            await connection.exchange(
                "initialize", connection.encoder.initialize(offered), callLimit(limit), .opening(offered))
        }
        switch reply {
        case .result(let json):
            progress.unanswered.withLock { $0 = [] }
            return json
        case .failed(let error):
            let explained = explain(error)
            if error.kind == .httpStatus, try await fallsBack(error.httpStatus, nil, explained) {
                return try await offer(offered)
            }
            throw explained
        case .refused(let error, let status):
            if try await fallsBack(status, error, error) { return try await offer(offered) }
            let versions = Self.supported(error)
            if versions.isEmpty, error.code != MCPError.unsupportedProtocolVersionCode { throw error }
            throw unsupported(offered.version.text, versions, details: ["its response: \(error)"])
        }
    }

    private func fallsBack(
        _ status: Int?, _ error: MCPError?, _ refusal: any Error
    ) async throws(ClientError) -> Bool {
        guard let status, [400, 404, 405].contains(status), error.map({ Self.isModern($0, status) }) != true
        else { return false }
        // Silence on the old transport is less informative than the refusal on the new one.
        progress.refusal.withLock { $0 = refusal }
        let isOld = try await connection.transport.fallBack(within: left)
        if isOld { progress.refusal.withLock { $0 = nil } }
        return isOld
    }

    /// Returns whether only a server of 2026-07-28 sends this error (DUAL-15, DUAL-17).
    private static func isModern(_ error: MCPError, _ status: Int) -> Bool {
        switch error.code {
        case MCPError.headerMismatchCode, MCPError.missingClientCapabilityCode,
            MCPError.unsupportedProtocolVersionCode:
            true
        case MCPError.methodNotFoundCode: status == 404
        default: false
        }
    }

    private func explain(_ error: ClientError) -> any Error {
        if error.kind == .timeout { return timedOut() }
        guard error.kind == .httpStatus, [404, 405].contains(error.httpStatus) else { return error }
        var error = error
        error.hint =
            "is the path correct? Most servers serve MCP at /mcp, those of 2024-11-05 at /sse"
        return error
    }
}

extension ClientConnection {
    /// Opens a new legacy session for all calls that found the old one gone; returns nil on success.
    func reopen(after generation: Int) async -> ClientError? {
        await openOnce(after: generation) { negotiation, revision in
            try await negotiation.limited { try await negotiation.initialize(revision) }
        }
    }

    /// Determines the server's revision again, for all calls that found a different one than assumed; returns
    /// nil on success.
    func probe(after generation: Int) async -> ClientError? {
        await openOnce(after: generation) { negotiation, _ in
            try await negotiation.limited { try await negotiation.openAnew() }
        }
    }

    func openOnce(
        after generation: Int, _ open: @escaping @Sendable (Negotiation, Revision) async throws -> Void
    ) async -> ClientError? {
        let task = state.withLock { state -> Task<ClientError?, Never>? in
            if let running = state.reopening { return running }
            guard state.generation == generation, let revision = state.profile?.revision else { return nil }
            let task = Task { await self.opening { try await open(Negotiation(self), revision) } }
            state.reopening = task
            return task
        }
        return await task?.value
    }

    private func opening(_ open: () async throws -> Void) async -> ClientError? {
        defer { state.withLock { $0.reopening = nil } }
        do {
            try await open()
            state.withLock { $0.onReconnect }?()
            return nil
        } catch let error as ClientError {
            return error
        } catch {
            return ClientError(
                .sessionExpired, "the session could not be reopened", details: ["\(error)"])
        }
    }
}
