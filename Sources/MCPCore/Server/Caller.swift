import Synchronization

/// The authenticated caller of one request.
final class Caller: Sendable {
    /// The data that all requests with the same token share.
    final class Identity: Sendable {
        let principal: Principal
        /// The key of the principal, which is computed once.
        let key: String
        /// The scopes of the token, and those that they imply (AUTH-35).
        let grantedScopes: Set<String>
        /// Whether it has the scopes that each request requires; not asked of callers without a token.
        let hasRequiredScopes: Bool
        let isAnonymous: Bool
        let rights: AccessRights
        let onAccess: (@Sendable (AccessEvent) -> Void)?
        /// Whether `onAccess` is called for access that is allowed, too.
        let reportsAllowedAccess: Bool
        /// Nil without a limit on the rate of its requests.
        let meter: RateMeter?
        /// The responses that the principal waits for.
        let waiting: WaitingResponses
        /// The tools that it may call, by their numbers, as far as they are remembered.
        private let callable = Mutex<[UInt64]>([])
        private static let callableSlots = 64

        init(
            _ principal: Principal, grantedScopes: Set<String>, hasRequiredScopes: Bool = true,
            rules: AccessRules? = nil, meter: RateMeter? = nil, waiting: WaitingResponses? = nil,
            onAccess: (@Sendable (AccessEvent) -> Void)? = nil,
            reportsAllowedAccess: Bool = true
        ) {
            self.principal = principal
            key = principal.key
            self.grantedScopes = grantedScopes
            self.hasRequiredScopes = hasRequiredScopes
            isAnonymous = principal.kind == .anonymous
            rights = AccessRights(of: principal, granted: grantedScopes, rules: rules)
            self.onAccess = onAccess
            self.reportsAllowedAccess = reportsAllowedAccess
            self.meter = meter
            self.waiting = waiting ?? WaitingResponses()
        }

        /// Whether access that is allowed is reported to somebody.
        var isReported: Bool { reportsAllowedAccess && onAccess != nil }

        /// Returns whether the caller may call a tool. Each tool is decided about once.
        func mayCall(_ entry: ToolEntry) -> Bool {
            if rights.allowsAllNames, entry.scopes.isEmpty { return true }
            return callable.withLock { callable in
                let slot = Int(truncatingIfNeeded: entry.number) & (Self.callableSlots - 1)
                if callable.isEmpty { callable = Array(repeating: 0, count: Self.callableSlots) }
                if callable[slot] == entry.number { return true }
                guard rights.decision(on: entry.tool.name, scopes: entry.scopes) == .allowed else {
                    return false
                }
                callable[slot] = entry.number
                return true
            }
        }
    }

    let identity: Identity
    /// The generation of the verifier when the caller was admitted: a later one may refuse it.
    let generation: UInt64

    private struct State {
        /// The scopes that the operation requires, once it was refused because the caller lacks some of them.
        var required: [String] = []
        /// The meter of the address of a caller without a token.
        var meter: RateMeter?
        /// The connections of the address of a caller without a token.
        var waiting: WaitingResponses?
    }
    private let state = Mutex(State())

    init(_ identity: Identity, generation: UInt64 = 0) {
        self.identity = identity
        self.generation = generation
    }

    /// Records that the operation was refused because the caller does not have all of these scopes.
    func lacks(_ scopes: [String]) { state.withLock { $0.required = scopes } }

    /// The scopes of a refused operation; empty when none was refused.
    var requiredScopes: [String] { state.withLock { $0.required } }

    /// The connections on which the caller waits for a response.
    var waiting: WaitingResponses {
        identity.isAnonymous ? state.withLock { $0.waiting } ?? identity.waiting : identity.waiting
    }

    /// Counts further connections of an anonymous caller here.
    func waits(among waiting: WaitingResponses) { state.withLock { $0.waiting = waiting } }

    /// Counts further messages of an anonymous caller with this meter.
    func isCounted(by meter: RateMeter) { state.withLock { $0.meter = meter } }

    /// Counts one more message of the caller; returns nil if it is within its rate. The request that brings
    /// one or more messages has been counted once.
    func countMessage(at now: MonotonicInstant) -> RateMeter.Excess? {
        (identity.meter ?? state.withLock { $0.meter })?.take(at: now)
    }
}

extension Dispatcher.Request {
    /// The principal that sessions, tasks and states of this request belong to; empty without authorization.
    var principalKey: String { caller?.identity.key ?? "" }
}

extension RequestContext {
    /// The authenticated principal of the request.
    ///
    /// Nil where the server does not authorize its callers: without `ServerAuthorization`, over stdio, and
    /// for clients in the same process.
    public var principal: Principal? { caller?.identity.principal }

    /// Identifies the caller among others, for what they share: its principal, or without authorization its
    /// connection or session.
    package var callerKey: String {
        caller?.identity.key ?? call.map { "\($0.exchange.key.channelID)" } ?? ""
    }

    /// Returns whether the caller may read this resource.
    package func mayUse(_ uri: String) -> Bool { caller?.identity.rights.shows(uri: uri) ?? true }

    /// Whether no rules about names hold for the caller.
    package var mayUseAll: Bool { caller?.identity.rights.showsAllNames ?? true }

    /// Requires that the caller's token grants all of these scopes, directly or by implication.
    ///
    /// Name all scopes of the operation in one call, because the challenge that the client receives names
    /// them (AUTH-34). Without authorization, nothing is required: over stdio, the user who started the
    /// server has all rights.
    ///
    /// - Throws: `MCPError` with the code `insufficientScopeCode`. Let it propagate: over HTTP, the response
    ///   is then 403 with a challenge if it has not begun, otherwise a JSON-RPC error.
    public func require(scopes: [String]) throws(MCPError) {
        guard let caller, !scopes.allSatisfy(caller.identity.grantedScopes.contains) else { return }
        throw .insufficientScope(scopes)
    }
}

extension MCPError {
    static var crowded: MCPError {
        MCPError(code: overloadedCode, message: WaitingResponses.excess)
    }

    static func insufficientScope(_ scopes: [String]) -> MCPError {
        var error = MCPError(
            code: MCPError.insufficientScopeCode,
            message: "This needs the scopes \(scopes.joined(separator: " "))",
            data: ["requiredScopes": .array(scopes.map { .string($0) })])
        error.requiredScopes = scopes
        return error
    }
}
