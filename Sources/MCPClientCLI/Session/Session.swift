import MCPCore

/// A connected client and everything else that a command needs.
struct Session: Sendable {
    let client: MCPClient
    let invocation: Invocation
    let console: Console
    let environment: CommandEnvironment
    let timings: Timings
    let interaction: Interaction
    let omissions = OmissionNotes()

    var options: Options { invocation.options }

    func operand(_ index: Int) -> String? { invocation.operand(index) }

    var printer: ResultPrinter {
        let (environment, invocation) = (environment, invocation)
        return ResultPrinter(
            console: console, options: options,
            saveFile: { bytes, path throws(Failure) in try environment.saveFile(bytes, path) },
            filesRead: { invocation.filesRead(environment, servers: []) },
            terminalGraphics: TerminalGraphics(environment.variable))
    }

    /// `ops 1.4.0 · 2026-07-28`
    var identity: String {
        var parts: [String] = []
        if let info = client.serverInfo {
            parts.append(inlineText(info.name) + (info.version.isEmpty ? "" : " " + inlineText(info.version)))
        }
        parts.append(client.protocolVersion.text)
        return parts.joined(separator: " · ")
    }

    /// Sends one request and returns the result exactly as on the wire.
    func request(
        _ method: String, _ params: JSONObject = [:], about subject: String? = nil,
        onProgress: (@Sendable (ProgressReport) -> Void)? = nil
    ) async throws(Failure) -> RawJSON {
        var call = callOptions
        call.timeout = options.timeout
        call.onProgress = progress(onProgress)
        call.onTask = taskProgress(onProgress)
        call.usesCache = invocation.command.usesCache
        call.onOmission = { [omissions, console] text in
            omissions.note(text, responseTo: method, console)
        }
        omissions.note([], responseTo: method)
        call.onOmittedPlaces = { [omissions] in omissions.note($0, responseTo: method) }
        let (start, count) = (ContinuousClock.now, client.requestCount)
        defer {
            timings.add(method, ContinuousClock.now - start, requests: client.requestCount - count)
        }
        do {
            let (client, ready) = (client, call)
            return try await Retry(options.checks.retries, console).sending(
                isRepeatable: client.mayRepeat(method, params)
            ) { try await client.request(method, params, options: ready) }
        } catch {
            if let question = (error as? ClientError)?.result, options.json || invocation.command.printsWire {
                printer.printWire(question)
            }
            throw FailureMapping.failure(error, method: method, subject: subject, invocation: invocation)
        }
    }

    /// The members of `_meta` that the flags ask for.
    private var callOptions: CallOptions {
        CallOptions(meta: options.checks.trace.map { ["traceparent": .string($0.traceparent)] } ?? [:])
    }

    /// Prints the request that would be sent; returns false without `--dry-run`.
    func isOnlyShown(
        _ method: String, _ params: JSONObject, wantsProgress: Bool = false
    ) throws(Failure) -> Bool {
        guard options.checks.isDryRun else { return false }
        do throws(ClientError) {
            var call = callOptions
            if wantsProgress { call.onProgress = { _ in } }
            let message = try client.preview(method, params, options: call)
            console.json(message.bytes.array)
        } catch {
            throw FailureMapping.failure(error, method: method, subject: nil, invocation: invocation)
        }
        console.note("\(inlineText(method)) was not sent")
        return true
    }

    /// Returns what receives progress: with `--jsonl` also its events.
    private func progress(_ show: (@Sendable (ProgressReport) -> Void)?) -> (
        @Sendable (ProgressReport) -> Void
    )? {
        guard console.printsEvents else { return show }
        let console = console
        return { progress in
            var object: JSONObject = ["progress": JSONValue(progress.progress)]
            if let total = progress.total { object["total"] = JSONValue(total) }
            if let message = progress.message { object["message"] = .string(message) }
            console.event("progress", RawJSON(.object(object)))
            show?(progress)
        }
    }

    /// Returns what receives the states of a call that has become a task: as progress, with `--jsonl` as
    /// events.
    private func taskProgress(_ show: (@Sendable (ProgressReport) -> Void)?) -> @Sendable (TaskInfo) -> Void {
        let console = console
        return { task in
            if console.printsEvents {
                var object: JSONObject = [
                    "taskId": .string(task.taskID), "status": .string(task.status.rawValue),
                ]
                if let message = task.statusMessage { object["statusMessage"] = .string(message) }
                console.event("task", RawJSON(.object(object)))
            }
            let message = task.statusMessage ?? "the call runs as a task"
            if !task.status.isTerminal { show?(ProgressReport(0, message: message)) }
        }
    }

    /// The largest number of pages that a list may have before the server is considered faulty.
    static let maxPages = 1000
    /// The largest number of entries of a list, and its largest size, of all pages together.
    static let maxListEntries = 50_000
    static let maxListBytes = 32 << 20

    /// The member of a page that has the entries.
    private static let members = [
        "tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources",
        "resources/templates/list": "resourceTemplates",
    ]

    /// Requests the pages of a list method until `visit` returns false.
    func pages(
        _ method: String, visit: (RawJSON) throws(Failure) -> Bool
    ) async throws(Failure) {
        var cursor: String?
        var entries = 0
        var bytes = 0
        for _ in 0 ..< Self.maxPages {
            let page = try await request(method, cursor.map { ["cursor": .string($0)] } ?? [:])
            bytes += page.bytes.count
            entries += Self.members[method].flatMap { page[$0]?.elements?.count } ?? 0
            if entries > Self.maxListEntries || bytes > Self.maxListBytes {
                throw .malformed(
                    "the list of \(method) is too long",
                    details: ["more than \(Self.maxListEntries) entries or \(Self.maxListBytes >> 20) MiB"])
            }
            guard try visit(page) else { return }
            // An empty string is a valid cursor (PAGE-04); repeating the same cursor would never end.
            guard let next = page["nextCursor"]?.string else { return }
            if next == cursor { throw .malformed("\(method) returned the same cursor again") }
            cursor = next
        }
        throw .malformed("\(method) has more than \(Self.maxPages) pages")
    }

    /// Decodes one value of the response.
    func decode<T>(
        _ what: String, _ json: RawJSON, _ read: (JSONValue) throws(JSONError) -> T
    ) throws(Failure) -> T {
        do {
            return try read(json.value)
        } catch {
            throw .malformed("the server sent a malformed \(what)", details: [inlineText("\(error)")])
        }
    }

    /// Decodes one entry of a list; nil for a malformed one, which is noted and does not hide the others.
    func entry<T: WireType>(_ type: T.Type, _ what: String, _ json: RawJSON) -> T? {
        do {
            return try T(json: json.value)
        } catch {
            omissions.note("a malformed \(what) is left out: \(inlineText("\(error)"))", console)
            return nil
        }
    }

    /// Returns the array member of a list result.
    func elements(_ page: RawJSON, _ member: String, method: String) throws(Failure) -> [RawJSON] {
        guard let elements = page[member]?.elements else {
            throw .malformed("the response to \(method) has no array \(member)")
        }
        return elements
    }
}
