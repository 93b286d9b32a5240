import MCPCore
import Synchronization
import TestSupport

/// An authorizer with the tokens `t1`, `t2`, …: a refusal of the newest one starts a flow that all others join.
final class FakeAuthorizer: RequestAuthorizer {
    struct State {
        var generation = 0
        var identity: String?
        var requests: [AuthorizedRequest] = []
        var refusals: [AuthorizationRefusal] = []
        var flows = 0
        var flow: Task<Bool, Never>?
        var cancelled = 0
        /// The outcome of the flows.
        var failure: AuthorizationError?
        /// Additional fields.
        var others: [(name: String, value: String)] = []
        var nonce: String?
        /// For whom the next token stands.
        var nextIdentity = "issuer alice"
    }

    private let state: Mutex<State>
    /// The flows wait for it, if there is one.
    private let gate: Gate?
    private let responds: Bool

    /// - Parameters:
    ///   - generation: the token that is there from the beginning; 0 for none.
    ///   - gate: what a flow waits for.
    ///   - responds: whether a refusal is responded to at all.
    init(generation: Int = 0, gate: Gate? = nil, responds: Bool = true) {
        var state = State(generation: generation)
        if generation > 0 { state.identity = state.nextIdentity }
        self.state = Mutex(state)
        self.gate = gate
        self.responds = responds
    }

    var now: State { state.withLock { $0 } }
    var identity: String? { now.identity }

    func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

    func authorization(for request: AuthorizedRequest) async throws(AuthorizationError)
        -> RequestAuthorization
    {
        let now = state.withLock { state in
            state.requests.append(request)
            return state
        }
        if let failure = now.failure, now.generation == 0 { throw failure }
        guard now.generation > 0 else { return .none }
        var fields = [(name: "Authorization", value: "Bearer t\(now.generation)")] + now.others
        if let nonce = now.nonce { fields.append((name: "DPoP", value: "proof-\(nonce)")) }
        return RequestAuthorization(fields: fields, generation: now.generation)
    }

    func respond(to refusal: AuthorizationRefusal) async throws(AuthorizationError) -> Bool {
        let flow = state.withLock { state -> Task<Bool, Never>? in
            state.refusals.append(refusal)
            guard responds else { return nil }
            if let nonce = refusal.dpopNonce {
                state.nonce = nonce
                return Task { true }
            }
            if refusal.generation < state.generation { return Task { true } }
            if let flow = state.flow { return flow }
            state.flows += 1
            let flow = Task { await login() }
            state.flow = flow
            return flow
        }
        guard let flow else { return false }
        let isOver = Gate()
        let waiting = Task {
            _ = await flow.value
            isOver.open()
        }
        defer { waiting.cancel() }
        guard await isOver.wait() else {
            state.withLock { $0.cancelled += 1 }
            throw AuthorizationError(.cancelled, "the request was abandoned")
        }
        if let failure = now.failure { throw failure }
        return await flow.value
    }

    private func login() async -> Bool {
        if let gate { await gate.wait() }
        return state.withLock { state in
            state.flow = nil
            guard state.failure == nil else { return false }
            state.generation += 1
            state.identity = state.nextIdentity
            return true
        }
    }
}

extension HTTPPeer.Heard {
    var token: String? { header("authorization") }
}

extension HTTPPeer.Answer {
    static let challenge = "WWW-Authenticate: Bearer realm=\"x\", scope=\"a\"\r\n"
    static let unauthorized = status(401, headers: challenge)
    static let forbidden = status(
        403, headers: "WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"b\"\r\n")
}
