import MCPCore

/// A connected client and everything else that a command needs.
struct Session: Sendable {
    let client: MCPClient
    let invocation: Invocation
    let console: Console
    let environment: CommandEnvironment
    let timings: Timings
    let interaction: Interaction
    /// What was found out about programs, for the next run.
    var memory: HandshakeMemory?

    var options: Options { invocation.options }

    func operand(_ index: Int) -> String? { invocation.operand(index) }

    var printer: ResultPrinter {
        let environment = environment
        return ResultPrinter(
            console: console, options: options,
            saveFile: { bytes, path throws(Failure) in try environment.saveFile(bytes, path) })
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
        onProgress: (@Sendable (Progress) -> Void)? = nil
    ) async throws(Failure) -> RawJSON {
        var call = CallOptions()
        call.timeout = options.timeout
        call.onProgress = onProgress
        let start = ContinuousClock.now
        defer { timings.add(method, ContinuousClock.now - start, isRequest: true) }
        do {
            return try await client.request(method, params, options: call)
        } catch {
            if let question = (error as? ClientError)?.result, options.json || invocation.command.printsWire {
                printer.printWire(question)
            }
            throw FailureMapping.failure(error, method: method, subject: subject, invocation: invocation)
        }
    }

    /// The largest number of pages that a list may have before the server is considered faulty.
    static let maxPages = 1000

    /// Requests the pages of a list method until `visit` returns false.
    func pages(
        _ method: String, visit: (RawJSON) throws(Failure) -> Bool
    ) async throws(Failure) {
        var cursor: String?
        for _ in 0 ..< Self.maxPages {
            let page = try await request(method, cursor.map { ["cursor": .string($0)] } ?? [:])
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

    /// Returns the array member of a list result.
    func elements(_ page: RawJSON, _ member: String, method: String) throws(Failure) -> [RawJSON] {
        guard let elements = page[member]?.elements else {
            throw .malformed("the response to \(method) has no array \(member)")
        }
        return elements
    }
}
