/// Requests of callers, passed on to the server.
extension Upstream {
    /// Passes a request on and returns the result as the server sent it, with the revision of its connection.
    ///
    /// Progress, log messages and questions reach the caller in its own revision; when the caller leaves, the
    /// server is told.
    /// - Throws: the `MCPError` with which the server refuses; `UpstreamFailure` when it did not answer;
    ///   `CancellationError` when the caller left.
    func forward(
        _ method: String, _ params: JSONObject, _ context: RequestContext
    ) async throws -> ForwardedResult {
        do {
            return try await forwardHere(method, params, context)
        } catch let failure as NotSent {
            guard successor != nil else {
                count(failed: true)
                throw failure.reason
            }
        }
        return try await replacement(for: method, params).forward(method, params, context)
    }

    /// A failure before the request was sent: the server could not be reached, or is being stopped.
    private struct NotSent: Error {
        let reason: UpstreamFailure
    }

    /// Passes a request on to this server, not to one that has taken its place.
    ///
    /// - Throws: also `NotSent`.
    private func forwardHere(
        _ method: String, _ params: JSONObject, _ context: RequestContext
    ) async throws -> ForwardedResult {
        var secrets = secrets
        do {
            let exchange = try heldExchange(context)
            let principal = options.isPerPrincipal ? context.principalKey : ""
            guard let link = try exchange?.leasedLink ?? lease(for: principal) else {
                throw NotSent(reason: UpstreamFailure("\(name): the server was removed"))
            }
            // A reload meanwhile lets it have its turn.
            defer { link.connection.endLease() }
            // A call that an earlier server of this name asked for has the secrets of that one.
            secrets = link.secrets
            let caller = UpstreamSlots.Caller(
                key: context.callerKey, isPrincipal: !context.principalKey.isEmpty)
            try await link.slots.enter(caller, for: context.call)
            defer { link.slots.leave(caller) }
            count(failed: false)
            if let exchange { return try await resume(exchange, context) }
            return try await forward(method, params, context, over: link)
        } catch let error as ClientError where error.kind == .cancelled {
            throw CancellationError()
        } catch let error as ClientError {
            count(failed: true)
            throw UpstreamFailure(name, error, hiding: secrets)
        } catch let failure as UpstreamFailure {
            count(failed: true)
            throw failure
        } catch let error as MCPError {
            throw secrets.mask(error).forwarded(from: name)
        }
    }

    /// Returns the server to which a request goes that found this one stopped.
    private func replacement(for method: String, _ params: JSONObject) async throws -> Upstream {
        guard let next = successor else { throw UpstreamFailure("\(name): the server was removed") }
        if next.definitions == nil { await next.firstAttempt.wait() }
        // Its settings may leave out what those of this one did not.
        guard next.offers(method, params) else {
            throw UpstreamFailure("\(name): the server was given other settings, and no longer offers this")
        }
        return next
    }

    private func offers(_ method: String, _ params: JSONObject) -> Bool {
        let name = params["name"]?.stringValue
        switch method {
        case "tools/call": return definitions?.tools.contains { $0.name == name } == true
        case "prompts/get": return definitions?.prompts.contains { $0.name == name } == true
        case "resources/read": return params["uri"]?.stringValue.map { allows($0) } == true
        default:
            let reference = params["ref"]
            let (prompt, template) = (reference?["name"]?.stringValue, reference?["uri"]?.stringValue)
            return definitions?.prompts.contains { $0.name == prompt } == true
                || definitions?.templates.contains { $0.uriTemplate == template } == true
        }
    }

    private func forward(
        _ method: String, _ params: JSONObject, _ context: RequestContext, over link: Link
    ) async throws -> ForwardedResult {
        let connection = link.connection
        for attempt in 0 ... 1 {
            let client: MCPClient
            do {
                client = try await connection.acquire(for: context)
            } catch let failure as UpstreamFailure {
                throw NotSent(reason: failure)
            }
            defer { connection.release() }
            do {
                let result = try await exchange(method, params, context, client, link)
                connection.wasAnswered()
                return forwarded(result, from: client, over: link)
            } catch let error as ClientError where error.isUnsent && attempt == 0 {
                // The connection ended before the request; the next one is tried once.
                if let end = client.connection.endOfConnection { connection.ended(client, end) }
            } catch {
                connection.note(error, of: client)
                throw error
            }
        }
        let reason = UpstreamFailure("\(name): the connection ended twice before the request was sent")
        throw NotSent(reason: reason)
    }

    func forwarded(_ result: RawJSON, from client: MCPClient, over link: Link) -> ForwardedResult {
        let revision = client.connection.profile?.revision ?? .newestLegacy
        return ForwardedResult(json: link.secrets.mask(failed: result), revision: revision)
    }

    private func exchange(
        _ method: String, _ params: JSONObject, _ context: RequestContext, _ client: MCPClient,
        _ link: Link
    ) async throws -> RawJSON {
        var call = CallOptions(timeout: options.timeout, meta: context.forwardedMeta)
        if context.wantsProgress {
            call.onProgress = {
                link.connection.wasAnswered()
                context.report($0)
            }
        }
        if let level = context.logLevel {
            call.logLevel = level
            call.onLog = { context.report($0) }
        }
        guard client.protocolVersion.isModern else {
            guard options.isPerPrincipal else { return try await client.requestOnce(method, params, call) }
            return try await hold(call, context, client, link) {
                try await client.requestOnce(method, params, $0)
            }
        }
        call.capabilities = context.clientCapabilities.forwarded
        return try await rounds(method, params, call, context, client, link)
    }
}

extension UpstreamLink {
    /// Draws the consequences of an error with which a call has ended.
    func note(_ error: any Error, of client: MCPClient) {
        if error is MCPError { return wasAnswered() }
        guard let error = error as? ClientError else { return }
        switch error.kind {
        case .cannotConnect: drop(client, error)
        case .timeout: wasSilent(client, error)
        default: break
        }
    }
}

extension RequestContext {
    /// The key of the caller's principal; empty without authorization.
    var principalKey: String { caller?.identity.key ?? "" }

    /// The lowest level of log messages that the caller receives; nil for none.
    fileprivate var logLevel: LoggingLevel? { call?.logLevel }

    /// The members of the request's `_meta` that are not about its connection, such as `traceparent`.
    fileprivate var forwardedMeta: JSONObject {
        guard let meta else { return [:] }
        var kept: JSONObject = [:]
        meta.forEachMember { key, value in
            // Most are of the protocol, and need not become strings.
            if key.bytes.hasPrefix("\"io.modelcontextprotocol/") { return }
            guard let key = key.string, key != "progressToken", !key.hasPrefix("io.modelcontextprotocol/")
            else { return }
            kept[key] = value.value
        }
        return kept
    }
}

extension ClientCapabilities {
    /// The capabilities of the caller that hold for the server behind this one as well.
    fileprivate var forwarded: ClientCapabilities {
        ClientCapabilities(
            roots: hasRoots, sampling: hasSampling, samplingTools: hasSamplingTools,
            elicitation: hasElicitation, elicitationURL: hasElicitationURL, extensions: extensions
        ).adding([ClientOptions.tasksExtension: [:]])
    }
}

extension MCPError {
    /// Returns the error as callers may see it: codes about the connection between this server and the other
    /// one would mislead them.
    fileprivate func forwarded(from server: String) -> MCPError {
        let own: Set<Int> = [
            Self.parseErrorCode, Self.invalidRequestCode, Self.methodNotFoundCode, Self.headerMismatchCode,
            Self.unsupportedProtocolVersionCode, Self.insufficientScopeCode, 401,
        ]
        guard own.contains(code), requiredScopes == nil else { return self }
        return .internalError("\(server) refused the request: \(message) (\(code))")
    }
}
