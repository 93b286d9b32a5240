/// The credentials of one request of a client that has an authorizer: how often it was refused, and the bytes
/// with the fields. Confined to the loop.
struct HTTPCredentials {
    /// The number of flows that a request may start with 401, so that 401 for a new token is final.
    static let maxLogins = 1
    /// The number of flows that a request may start with 403 (AUTH-32).
    static let maxStepUps = 2
    /// The number of times that a request is sent again because others have obtained newer credentials in the
    /// meantime.
    static let maxRenewals = 2
    /// The number of times that it is sent again with another DPoP nonce (RFC 9449, section 9).
    static let maxNonces = 1

    /// A refusal, and the error if nothing can be done about it.
    struct Refused {
        let refusal: AuthorizationRefusal
        let error: ClientError
    }

    let authorizer: any RequestAuthorizer
    let request: AuthorizedRequest
    /// The request with the fields; nil before they were obtained.
    var bytes: ByteSlice?
    /// The task that waits for the credentials; nil when nothing is awaited.
    var task: Task<Void, Never>?
    /// The number of the credentials that were sent last.
    private(set) var generation = 0
    private var logins = 0
    private var stepUps = 0
    private var renewals = 0
    private var nonces = 0
    /// Whether the last refusal only demanded a nonce.
    private var wantsNonce = false

    init(_ authorizer: any RequestAuthorizer, _ request: AuthorizedRequest) {
        self.authorizer = authorizer
        self.request = request
    }

    /// Records a refusal; returns whether the authorizer may respond to it.
    mutating func admits(_ refusal: AuthorizationRefusal, newest: Int) -> Bool {
        wantsNonce = refusal.demandsNonce && nonces < Self.maxNonces
        if wantsNonce {
            nonces += 1
            return true
        }
        if refusal.status == 403 {
            stepUps += 1
            return stepUps <= Self.maxStepUps
        }
        if refusal.generation < newest {
            renewals += 1
            return renewals <= Self.maxRenewals
        }
        logins += 1
        return logins <= Self.maxLogins
    }

    /// Adopts credentials; returns false for those that were refused already.
    mutating func adopts(_ authorization: RequestAuthorization, after refusal: AuthorizationRefusal?) -> Bool
    {
        if let refusal {
            // With a new nonce, the proof differs and not the token.
            let isRepetition = wantsNonce && authorization.generation == refusal.generation
            guard isRepetition || authorization.generation > refusal.generation else { return false }
        }
        generation = authorization.generation
        return true
    }

    /// Returns the request with the fields behind its own.
    static func signed(
        _ request: ByteSlice, _ fields: [(name: String, value: String)]
    ) throws(ClientError) -> ByteSlice {
        if fields.isEmpty { return request }
        var checked = HeaderFields()
        for (name, value) in fields {
            if HTTPClientFields.isReserved(name.lowercased()) {
                throw ClientError(.invalidRequest, "the header \(name) is set by the client itself")
            }
            do {
                try checked.append(name, value)
            } catch {
                throw ClientError(
                    .invalidRequest, "the credentials cannot be sent: \(error.description)")
            }
        }
        let end = headEnd(request)
        var buffer = ByteBuffer(capacity: request.count + 2_048)
        buffer.append(request[0 ..< end])
        for field in checked {
            buffer.append(utf8: field.name)
            buffer.append(": ")
            buffer.append(utf8: field.value)
            buffer.append("\r\n")
        }
        buffer.append(request[end ..< request.count])
        return buffer.freeze()
    }

    /// Returns the offset of the empty line that ends the head.
    static func headEnd(_ request: ByteSlice) -> Int {
        let mark: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
        var at = 0
        while at + mark.count <= request.count {
            if request[at] == 0x0D, request[at ..< at + mark.count].elementsEqual(mark) { return at + 2 }
            at += 1
        }
        return request.count
    }
}

extension AuthorizationRefusal {
    /// Whether the credentials are good, but need a nonce of the server.
    fileprivate var demandsNonce: Bool {
        status == 401 && dpopNonce != nil && challenges.contains { $0.contains("use_dpop_nonce") }
    }
}

extension HTTPClientExchange {
    /// Obtains the credentials, then sends the request.
    func authorize(by authorizer: any RequestAuthorizer) {
        let line = request.bytes.prefix { $0 != 0x0D }.split(separator: 0x20).map {
            String(decoding: $0, as: UTF8.self)
        }
        let (httpMethod, target) = (line.first ?? "", line.dropFirst().first)
        let described = AuthorizedRequest(
            httpMethod: httpMethod, url: pool.endpoint.url(target),
            method: request.method == httpMethod ? "" : request.method, name: request.name,
            server: pool.endpoint.url())
        credentials = HTTPCredentials(authorizer, described)
        obtainCredentials(after: nil)
    }

    /// Hands a refusal to the authorizer; returns false when it is final.
    func asksForCredentials(_ head: ResponseHead, _ bytes: ByteSlice, _ error: ClientError) -> Bool {
        guard let known = credentials, !isOver, !pool.isClosed else { return false }
        let refusal = AuthorizationRefusal(
            request: known.request, status: head.status,
            challenges: head.values(named: "www-authenticate", in: bytes).map { String($0) },
            dpopNonce: head.values(named: "dpop-nonce", in: bytes).first.map { String($0) },
            generation: known.generation)
        guard credentials?.admits(refusal, newest: pool.newestGeneration) == true else { return false }
        // The server has not carried out what it refused.
        wasSent = false
        isRepeated = false
        obtainCredentials(after: HTTPCredentials.Refused(refusal: refusal, error: error))
        return true
    }

    private func obtainCredentials(after refused: HTTPCredentials.Refused?) {
        guard let authorizer = credentials?.authorizer, let described = credentials?.request else { return }
        tellWaiting(true)
        let (bound, loop) = (LoopBound(self, loop: pool.loop), pool.loop)
        credentials?.task = Task {
            let outcome: Result<RequestAuthorization?, AuthorizationError>
            do throws(AuthorizationError) {
                if let refused, try await !authorizer.respond(to: refused.refusal) {
                    outcome = .success(nil)
                } else {
                    outcome = .success(try await authorizer.authorization(for: described))
                }
            } catch {
                outcome = .failure(error)
            }
            let identity = authorizer.identity
            loop.execute { bound.value.obtained(outcome, for: identity, after: refused) }
        }
    }

    private func obtained(
        _ outcome: Result<RequestAuthorization?, AuthorizationError>, for identity: String?,
        after refused: HTTPCredentials.Refused?
    ) {
        guard !isOver, credentials?.task != nil else { return }
        credentials?.task = nil
        tellWaiting(false)
        let authorization: RequestAuthorization
        switch outcome {
        case .failure(let error): return fail(ClientError(error, httpStatus: refused?.refusal.status))
        case .success(let found):
            guard let found, credentials?.adopts(found, after: refused?.refusal) == true else {
                return fail(refused?.error ?? ClientError(.authentication, "there are no credentials"))
            }
            authorization = found
        }
        pool.options.secrets?.note(authorization.fields)
        pool.newestGeneration = max(pool.newestGeneration, authorization.generation)
        let session = pool.session.current.id
        if pool.session.adopts(identity) {
            pool.inbox?.identityChanged()
            if let named = request.session, named == session, pool.session.current.id == nil {
                return fail(
                    ClientError(.sessionExpired, "the session belongs to other credentials than the new ones")
                )
            }
        }
        do {
            let signed = try HTTPCredentials.signed(request.bytes, authorization.fields)
            credentials?.bytes = signed
            if let trace = pool.options.trace {
                let head = signed[0 ..< HTTPCredentials.headEnd(signed)]
                trace(.httpRequest(head: pool.fields.masked(head, and: authorization.fields.map(\.name))))
            }
        } catch {
            return fail(error)
        }
        pool.run(self)
    }

    /// Stops waiting for credentials; whoever else waits for them is not affected.
    func cancelCredentials() {
        guard let task = credentials?.task else { return }
        credentials?.task = nil
        task.cancel()
        pool.keep(self, unauthorized: false)
        pool.inbox?.awaitsCredentials(request.callID, false)
    }

    private func tellWaiting(_ isWaiting: Bool) {
        pool.keep(self, unauthorized: isWaiting)
        pauseLimit(isWaiting)
        listener?.awaitsCredentials(isWaiting)
        pool.inbox?.awaitsCredentials(request.callID, isWaiting)
    }
}
