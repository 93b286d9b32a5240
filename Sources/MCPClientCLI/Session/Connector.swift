import MCPCore
import Synchronization

/// A connector that opens the connection described by the flags.
struct Connector {
    let environment: CommandEnvironment
    let console: Console
    let timings: Timings

    /// Connects to a server.
    ///
    /// - Parameter name: the name of the server, when there are several. If nil, questions are attributed to
    ///   the first operand of the command.
    /// - Parameter authorizer: the credentials to use in place of those that the flags describe.
    func connect(
        _ target: Target, _ invocation: Invocation, name: String? = nil,
        authorizer: (any RequestAuthorizer)? = nil
    ) async throws(Failure) -> Session {
        var options = try clientOptions(invocation)
        let logins = Logins(environment: environment, options: invocation.options)
        options.authorizer =
            if let authorizer { authorizer } else { try await logins.authorizer(for: target) }
        let interaction = try interaction(invocation, name ?? invocation.operands.first ?? "the server")
        // What a server reports before the connection is open is noise; -v shows it.
        let isOpen = ConnectionState()
        let show = options.onLog
        options.onLog = { if isOpen.isSet { show?($0) } }
        options.onElicit = { try await interaction.answer($0) }
        options.supportsElicitationURL = true
        let sent = SentLog()
        let waiting = environment.patience.flatMap {
            WaitingLine(
                for: invocation.configuredName ?? target.shortName, console: console,
                options: invocation.options, patience: $0)
        }
        if case .program = target {
            let trace = options.trace
            options.trace = { event in
                sent.note(event)
                trace?(event)
            }
            options.onServerStderr = { waiting?.hear($0) }
        }
        keepLists(invocation, &options)
        let start = ContinuousClock.now
        do {
            let (environment, ready) = (environment, options)
            let client = try await WaitingLine.showing(waiting) {
                try await Retry(invocation.options.checks.retries, console).connecting {
                    try await environment.connect(target, invocation.options, ready)
                }
            }
            isOpen.set()
            interaction.onFlood(ending: client)
            if let trace = invocation.options.checks.trace, invocation.options.checks.isNewTrace {
                console.note("trace \(trace.traceID)")
            }
            timings.add("connect", ContinuousClock.now - start, requests: client.requestCount)
            return Session(
                client: client, invocation: invocation, console: console, environment: environment,
                timings: timings, interaction: interaction)
        } catch let failure as Failure {
            throw failure
        } catch {
            var failure = FailureMapping.failure(error, method: nil, subject: nil, invocation: invocation)
            if let flag = invocation.misplacedFlag {
                failure.details.append(
                    "\(flag) stands after the tool, where it is an argument of it: put it before the tool")
            }
            failure.hint = Self.hint(failure, error, target, invocation)
            guard case .program = target else { throw failure }
            throw Self.explain(failure, sent: sent.text, after: ContinuousClock.now - start)
        }
    }

    /// Returns what to do about a server that could not be reached.
    private static func hint(
        _ failure: Failure, _ error: any Error, _ target: Target, _ invocation: Invocation
    ) -> String? {
        guard case .program = target else {
            switch failure.kind {
            case .usage where failure.hint == nil && invocation.options.trustFile != nil:
                return "--cacert names a file with certificates (PEM)"
            case .timeout: return "is it an MCP server? If it starts slowly, raise --connect-timeout"
            case .connectionClosed where failure.hint == nil && !target.isSecure:
                return "is it an MCP server? If it uses TLS, use https://"
            default: return failure.hint
            }
        }
        if let url = StderrExcerpt.url(in: (error as? ClientError)?.details ?? []) {
            return "it may serve HTTP: mcp-client \(invocation.command.name) \(url)"
        }
        if failure.kind == .timeout {
            return "does it speak MCP on stdin and stdout? It may need a flag for that, such as --stdio for "
                + "mcp-server; if it starts slowly, raise --connect-timeout"
        }
        return failure.hint ?? invocation.line("doctor", []) + " shows each step"
    }

    /// Keeps what the server says between runs; not where that is compared with a lock file, which is about
    /// what it says now.
    private func keepLists(_ invocation: Invocation, _ options: inout ClientOptions) {
        guard !invocation.options.noCache, !invocation.options.checks.isLocked,
            let cache = DiskCache(environment.variable)
        else { return }
        options.records = cache
        options.profiles = ServerProfileCache()
        options.usesRecords = invocation.command.usesCache
    }

    /// Adds to a failure after how long the program ended instead of responding, and what had been sent to
    /// it.
    private static func explain(_ failure: Failure, sent: String?, after time: Duration) -> Failure {
        guard failure.kind == .connectionClosed else { return failure }
        var failure = failure
        failure.message += " before answering (after \(TimeSpan.text(time)))"
        if let sent { failure.details.append("sent:   \(sent)") }
        return failure
    }

    func clientOptions(_ invocation: Invocation) throws(Failure) -> ClientOptions {
        let flags = invocation.options
        var options = ClientOptions()
        options.name = ClientIdentity.name
        options.version = ClientIdentity.version
        options.timeout = flags.timeout
        if let limit = flags.connectTimeout { options.connectTimeout = limit }
        if let version = flags.protocolVersion { options.protocol = .exactly(ProtocolVersion(version)) }
        options.headers = flags.headers.map { ($0.name, $0.value) }
        if let token = try environment.bearer(flags) {
            options.headers.append(("Authorization", "Bearer \(token)"))
        }
        // What `raw` prints is the answer itself.
        options.followsTasks = !invocation.command.printsWire
        if invocation.command.printsWire { options.extensions[ClientOptions.tasksExtension] = [:] }
        options.logLevel = flags.logLevel
        let console = console
        let leastLevel = flags.logLevel
        options.onLog = { message in
            // Not every server has a filter.
            if let leastLevel, message.level < leastLevel { return }
            if console.printsEvents { return console.event("log", RawJSON(message.json)) }
            console.note(LogLine.text(message, style: console.noteStyle))
        }
        if !invocation.command.reportsOutages {
            options.onOutage = { error in
                let reason = (error as? ClientError)?.message ?? "\(error)"
                console.note("changes cannot be received: \(inlineText(reason)); trying again")
            }
        }
        options.onLostAnswer = { error in
            let reason = (error as? ClientError)?.message ?? "\(error)"
            console.note("the answer was not delivered: \(inlineText(MaskedText.urls(in: reason)))")
        }
        if flags.verbosity > 0 {
            let printer = TracePrinter(
                sink: console.stderr, showsWire: flags.verbosity > 1, style: console.noteStyle)
            options.trace = { printer.show($0) }
        }
        return options
    }

    private static let answersForm = "{\"field\": \"value\"}"

    /// Returns the source of answers to questions: first the answers on the command line, then the person at
    /// the terminal.
    private func interaction(
        _ invocation: Invocation, _ subject: String
    ) throws(Failure) -> Interaction {
        let flags = invocation.options
        var answers = JSONObject()
        var isConsenting = false
        if let file = flags.answersFile {
            let bytes = try environment.file(
                file, advice: "--answers names a file with a JSON object: \(Self.answersForm)")
            let text = String(decoding: bytes, as: UTF8.self)
            guard let object = (try? JSONValue(parsing: text))?.objectValue else {
                throw .usage(
                    "\(inlineText(file)) does not contain a JSON object", hint: Self.answersForm)
            }
            answers = object
            isConsenting = object.isEmpty
        }
        let texts = Dictionary(grouping: flags.answers, by: \.name).mapValues { $0.map(\.value) }
        for (name, values) in texts {
            answers[name] = values.count == 1 ? .string(values[0]) : .array(values.map(JSONValue.string))
        }
        let person = flags.noInput ? nil : environment.person
        let console = console
        return Interaction(
            answers: answers, repeated: Set(texts.filter { $0.value.count > 1 }.keys),
            isConsenting: isConsenting,
            answerless: invocation.command.knows(.interaction(.answer)) ? nil : invocation.command.name,
            prompter: person.map {
                Prompter(
                    asker: inlineText(subject), sink: console.stderr, style: console.noteStyle, person: $0,
                    width: console.noteWidth)
            }, subject: subject, note: { console.note($0) })
    }
}

/// Whether a connection is open.
private final class ConnectionState: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}
