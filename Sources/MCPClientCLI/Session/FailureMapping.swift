import MCPCore

/// The wording of the library's errors for a person at a command line.
enum FailureMapping {
    static func failure(
        _ error: any Error, method: String?, subject: String?, invocation: Invocation
    ) -> Failure {
        switch error {
        case let error as MCPError: rpc(error, method: method, subject: subject, invocation: invocation)
        case let error as ClientError:
            if let cause = error.authorization {
                authorization(cause, status: error.httpStatus, invocation.options, login: invocation)
            } else {
                client(error, subject: subject ?? method, invocation)
            }
        case let error as AuthorizationError:
            authorization(error, status: nil, invocation.options, login: invocation)
        case is CancellationError: StopReason.interrupted
        default: .malformed(inlineText("\(error)"))
        }
    }

    /// Returns the failure for an access token that could not be obtained or used.
    ///
    /// - Parameter login: the command line whose server a login would be for; nil if there is none.
    static func authorization(
        _ error: AuthorizationError, status: Int?, _ options: Options, login: Invocation?
    ) -> Failure {
        if error.kind == .cancelled { return StopReason.interrupted }
        let (code, kind) = codes(error.kind)
        var failure = Failure(
            code: code, kind: kind, message: shown(error.message), details: error.details.map(shown),
            hint: hint(error, options, login), status: status)
        guard status == 401, [.malformed, .unreachable].contains(error.kind) else { return failure }
        // What cannot be used is only how a login would begin.
        failure.details.insert("the server requires an access token (HTTP 401)", at: 0)
        if error.kind == .malformed {
            (failure.code, failure.kind) = (.authentication, .authRequired)
            failure.hint = failure.hint ?? tokenHint
        }
        return failure
    }

    private static let tokenHint = "--bearer-file FILE or --bearer-env VAR sends a token"

    /// Returns the flags or the command that resolve a failure.
    private static func hint(
        _ error: AuthorizationError, _ options: Options, _ login: Invocation?
    ) -> String? {
        switch error.remedy {
        case .login(let scopes): login?.loginLine(scopes) ?? "mcp-client login TARGET"
        case .registeredClient:
            "register it by hand, then pass --client-id and, if it has a secret, --client-secret-file FILE"
        case .clientSecret: "--client-secret-file FILE, --client-secret-env VAR or --client-key FILE"
        case .issuer(let issuer): "if you trust it: --issuer \(ShellWord.quote(MaskedText.url(issuer)))"
        case .issuedToken: issuedTokenHint
        case .allowedHost(let host): "MCP_AUTH_ALLOW=\(inlineText(host)) allows it"
        case .callbackPort:
            "end the program that uses the port, or choose another one: --callback-port PORT, 0 for any"
        case .redirectURI:
            "if the page showed an error about it, register it for the client, or use the registered one: "
                + "--callback-port PORT, --callback-host HOST"
        case .store where options.auth.store != nil: "--store DIR names another directory"
        case .store: "--store DIR or MCP_AUTH_STORE=DIR names another directory"
        case nil: error.hint.map { inlineText(MaskedText.urls(in: $0)) }
        }
    }

    private static func shown(_ text: String) -> String {
        TerminalText.inline(MaskedText.urls(in: text), limit: 1000)
    }

    /// The rounds of questions in one call.
    private static let maxRounds = ClientOptions().maxRounds

    static let issuedTokenHint =
        "if its operator gave you a token: tools, call and the others send it with --bearer-file FILE "
        + "or --bearer-env VAR"

    private static func codes(_ kind: AuthorizationError.Kind) -> (ExitCode, Failure.Kind) {
        switch kind {
        case .insufficientScope: (.authentication, .insufficientScope)
        case .issuerMismatch: (.authentication, .issuerMismatch)
        case .resourceMismatch: (.authentication, .resourceMismatch)
        case .registrationFailed: (.authentication, .registrationFailed)
        case .tokenRefused: (.authentication, .tokenRefused)
        case .timedOut: (.timeout, .loginTimedOut)
        case .unreachable: (.unreachable, .cannotConnect)
        case .malformed: (.protocolError, .protocolError)
        case .store: (.unreachable, .store)
        case .usage: (.usage, .usage)
        default: (.authentication, .authRequired)
        }
    }

    /// Error codes that request something the client did not offer (MCP 2026-07-28; -32042 in 2025-11-25).
    private static let inputCodes = [MCPError.missingClientCapabilityCode, -32042]

    private static func rpc(
        _ error: MCPError, method: String?, subject: String?, invocation: Invocation
    ) -> Failure {
        let sent = [method, subject].compactMap { $0 }.map { inlineText($0) }.joined(separator: " ")
        if inputCodes.contains(error.code) {
            return InputRequired.failure(
                [.init(text: quoted(error.message))], subject: subject ?? method ?? "the server")
        }
        let isBegun = [MCPError.interruptedCode, MCPError.deadlineExceededCode].contains(error.code)
        var failure = isBegun ? begun(error, sent) : refused(error, sent)
        failure.rpc = error
        if let data = error.data, !data.isNull {
            failure.details.append("data: \(whole(data.serialized()))")
        }
        failure.hint = failure.hint ?? hint(error.code, method, invocation)
        return failure
    }

    /// Some servers say what is wrong at the end of a long text.
    private static func whole(_ text: String) -> String {
        TerminalText.inline(text, limit: TerminalText.maxLineLength)
    }

    private static func refused(_ error: MCPError, _ sent: String) -> Failure {
        Failure(
            code: .protocolError, kind: .rpcError,
            message: "the server refused: \(whole(error.message)) (\(error.code))",
            details: sent.isEmpty ? [] : ["sent: \(sent)"])
    }

    /// Returns the failure for a request that the server began but did not finish.
    ///
    /// This is not a refusal, after which a script could send the request again.
    private static func begun(_ error: MCPError, _ sent: String) -> Failure {
        let isLate = error.code == MCPError.deadlineExceededCode
        let subject = sent.isEmpty ? "the request" : sent
        return Failure(
            code: isLate ? .timeout : .unreachable, kind: isLate ? .timeout : .connectionClosed,
            message: "the server started \(subject) but did not finish it: "
                + "\(whole(error.message)) (\(error.code))",
            details: ["\(subject) may have been executed; it was not sent again"],
            hint: "find out whether it was executed before you send it again")
    }

    private static func hint(_ code: Int, _ method: String?, _ invocation: Invocation) -> String? {
        let (command, what): (String, String)
        switch (code, method) {
        case (MCPError.methodNotFoundCode, _): (command, what) = ("info", "shows what the server offers")
        case (MCPError.legacyResourceNotFoundCode, _), (MCPError.invalidParamsCode, "resources/read"):
            (command, what) = ("resources", "lists resources")
        case (MCPError.invalidParamsCode, "tools/call"):
            (command, what) = ("tools", "lists tools and their arguments")
        default: return nil
        }
        if invocation.command.name != command { return invocation.line(command, []) + " " + what }
        // The same command would fail again.
        return invocation.command.isInShell ? nil : invocation.line("doctor", []) + " shows each step"
    }

    private static func client(
        _ error: ClientError, subject: String?, _ invocation: Invocation
    ) -> Failure {
        if error.kind == .cancelled { return StopReason.interrupted }
        if error.kind == .inputRequired {
            let questions = InputRequired.questions(error.result?["inputRequests"]?.value)
            var failure = InputRequired.failure(questions, subject: subject ?? "the server")
            // All answers were given, and the server asks again.
            if error.message.hasSuffix(" after \(Self.maxRounds) rounds") {
                failure.details.append("it still asks after \(Self.maxRounds) rounds of answers, the limit")
                failure.hint = nil
            }
            return failure
        }
        let (code, kind) = codes(error)
        var failure = Failure(
            code: code, kind: kind,
            message: TerminalText.inline(invocation.masking(error.message), limit: 1000),
            hint: error.hint.map { inlineText(invocation.masking($0)) }, status: error.httpStatus)
        let stderr = error.details.compactMap { $0.dropping(prefix: "stderr: ") }
        let shown = StderrExcerpt.lines(of: stderr)
        failure.details = shown.map { "stderr: " + inlineText($0) }
        failure.details += error.details.filter { !$0.hasPrefix("stderr: ") }.map {
            inlineText(invocation.masking($0))
        }
        if error.kind == .authentication, error.httpStatus == 401 {
            failure.hint =
                if invocation.usesLogins {
                    invocation.line("login", [])
                } else if invocation.options.hasCredentials {
                    "the token that was sent is not accepted; send another one"
                } else {
                    tokenHint
                }
        }
        if error.httpStatus == 429, failure.hint == nil {
            let when = RetryAfter(of: error)?.text ?? "later"
            failure.hint = "the server limits the requests of this client; try again \(when)"
        }
        if error.kind == .httpStatus, failure.hint == nil {
            failure.hint = hint(httpStatus: error.httpStatus ?? 0, isConnecting: subject == nil)
        }
        if stderr.count > shown.count, failure.hint == nil {
            failure.hint = "-v shows everything that it wrote to stderr"
        }
        return failure
    }

    private static func hint(httpStatus status: Int, isConnecting: Bool) -> String? {
        switch status {
        // Later, it is a GET that the server does not support.
        case 501: isConnecting ? "is it an MCP server? It does not support POST requests" : nil
        case 502, 503, 504: "the server behind this address is not available now; try again later"
        case 500...: "the server failed; its own log may say why"
        default: nil
        }
    }

    private static func codes(_ error: ClientError) -> (ExitCode, Failure.Kind) {
        switch error.kind {
        case .cannotStart: (.unreachable, .cannotStart)
        case .cannotConnect, .tls: (.unreachable, .cannotConnect)
        case .connectionClosed: (.unreachable, .connectionClosed)
        // The response was lost behind the address.
        case .httpStatus where error.mayHaveBeenExecuted: (.unreachable, .connectionClosed)
        case .authentication: (.authentication, error.httpStatus == 403 ? .forbidden : .authRequired)
        case .timeout: (.timeout, .timeout)
        case .taskCancelled: (.protocolError, .taskCancelled)
        case .invalidRequest: (.usage, .usage)
        default: (.protocolError, .protocolError)
        }
    }
}
