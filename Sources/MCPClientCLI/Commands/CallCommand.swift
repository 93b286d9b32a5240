import MCPCore

/// `call`: types and checks the arguments according to the tool's schema, sends them, and shows the result.
struct CallCommand {
    let session: Session
    private var options: Options { session.options }

    func run(_ name: String, _ words: [String]) async throws(Failure) -> ExitCode {
        if try await ToolCommand(session: session).helped(name, words) { return .ok }
        let input = session.environment.input.rereadable
        let before = session.client.reusedCount
        let arguments = try await arguments(name, words, input)
        let params: JSONObject = ["name": .string(name), "arguments": .object(arguments)]
        if try session.isOnlyShown("tools/call", params, wantsProgress: true) { return .ok }
        try await confirm(name)
        let isTypedByKeptList = session.client.reusedCount > before
        var result: RawJSON
        do throws(Failure) { result = try await send(name, arguments) } catch {
            // The server no longer has the tool that the arguments were made for, so it did nothing.
            guard error.rpcCode == MCPError.invalidParamsCode, isTypedByKeptList else { throw error }
            session.client.dropCache()
            let renewed = try await self.arguments(name, words, input)
            guard renewed != arguments else { throw error }
            result = try await send(name, renewed)
        }
        if isTypedByKeptList, result["isError"]?.bool == true {
            result = try await renewed(result, name, words, arguments, input)
        }
        return try await show(result, name, isTypedByKeptList)
    }

    /// Returns what takes the place of the error of a tool whose arguments were made for an older schema.
    ///
    /// The tool may have run, so it is called again only if that does no harm.
    private func renewed(
        _ result: RawJSON, _ name: String, _ words: [String], _ sent: JSONObject, _ input: ArgumentInput
    ) async throws(Failure) -> RawJSON {
        session.client.dropCache()
        let arguments = try? await arguments(name, words, input)
        guard arguments != sent else { return result }
        let params: JSONObject = ["name": .string(name), "arguments": .object(sent)]
        if let arguments, session.client.mayRepeat("tools/call", params) {
            return try await send(name, arguments)
        }
        session.console.note("note: \(inlineText(name)) takes other arguments now; the next call uses them")
        return result
    }

    private func send(_ name: String, _ arguments: JSONObject) async throws(Failure) -> RawJSON {
        // With `--jsonl`, progress is among the events.
        let progress =
            session.console.printsEvents ? nil : ProgressLine(name: name, console: session.console)
        defer { progress?.finish() }
        // Progress is requested even when it is not shown: every report restarts `--timeout`.
        return try await session.request(
            "tools/call", ["name": .string(name), "arguments": .object(arguments)], about: name
        ) { progress?.show($0) }
    }

    /// Asks the person at the terminal before a tool runs that says it may destroy something. A script is not
    /// asked, because there is no one to answer.
    func confirm(_ name: String, times: Int = 1) async throws(Failure) {
        guard !options.yes, !options.noInput, let person = session.environment.person else { return }
        let tool = try await ToolLookup(session: session).tool(name)
        guard tool["annotations"]?["destructiveHint"]?.bool == true,
            tool["annotations"]?["readOnlyHint"]?.bool != true
        else { return }
        let (sink, style) = (session.console.stderr, session.console.noteStyle)
        let question = "\(style.bold(inlineText(name))) may change or delete something, possibly irreversibly"
        let reply = await person.answer { readLine in
            await sink.ask(
                question + "; call it\(times > 1 ? " \(times) times" : "")? [y]es, [N]o: ", readLine)
        }
        if PromptAnswer.isYes(reply ?? nil) { return }
        throw Failure(
            code: .inputRequired, kind: .inputRequired,
            message: "\(inlineText(name)) was not called", details: ["nothing was sent"],
            hint: "--yes calls it without a question", hasPrefix: false)
    }

    /// Returns the arguments. The schema is not needed when nothing is typed and nothing is checked.
    func arguments(
        _ name: String, _ words: [String], _ input: ArgumentInput
    ) async throws(Failure) -> JSONObject {
        try await session.withFreshLists { () throws(Failure) in
            try await checkedArguments(name, words, input)
        }
    }

    private func checkedArguments(
        _ name: String, _ words: [String], _ input: ArgumentInput
    ) async throws(Failure) -> JSONObject {
        let isWholeObject = words.count == 1 && words[0].hasPrefix("{")
        var schema: JSONValue = ["type": "object"]
        if !(options.noValidate && isWholeObject) || options.checks.isLocked {
            // What is compared with the lock file is what the server has now.
            if options.checks.isLocked { session.client.dropCache() }
            let tool = try await ToolLookup(session: session).tool(name)
            if options.checks.isLocked {
                let directory = session.environment.currentDirectory
                let locked = try LockedServer(session.invocation, in: directory)
                try locked.check(.tools, name, tool.value)
                try locked.checkOmissions(session)
            }
            schema = tool["inputSchema"]?.value ?? schema
        }
        return try ArgumentReader(invocation: session.invocation, console: session.console)
            .read(words, name: name, schema: schema, input: input)
    }

    private func show(
        _ result: RawJSON, _ name: String, _ isTypedByKeptList: Bool
    ) async throws(Failure) -> ExitCode {
        let decoded: CallToolResult
        do throws(Failure) {
            decoded = try session.decode("tool result", result) { json throws(JSONError) in
                try CallToolResult(json: json)
            }
            // What has nothing of a result is one of another kind, such as a question.
            if result["content"] == nil, decoded.structuredContent == nil, !decoded.isError {
                throw .malformed("the server sent a malformed tool result", details: ["it has no content"])
            }
        } catch {
            throw made(name, error)
        }
        if decoded.isError {
            if options.json { session.printer.printWire(result) }
            throw toolError(decoded, name)
        }
        if try !session.printer.printJSON(result) { try show(decoded, name) }
        try await checkOutput(decoded, name, isTypedByKeptList)
        return .ok
    }

    private func show(_ result: CallToolResult, _ name: String) throws(Failure) {
        var pieces = result.content.map { ContentPiece($0) }
        if pieces.isEmpty, let structured = result.structuredContent {
            pieces.append(.text(structured.serialized(pretty: true)))
        }
        do throws(Failure) { try session.printer.print(pieces) } catch {
            throw error.code == .protocolError ? made(name, error) : error
        }
    }

    /// Fails if a result, which has been printed, does not match the output schema of a listed tool
    /// (TOOL-15). What an earlier command has kept refuses no result: the list may have changed.
    private func checkOutput(
        _ result: CallToolResult, _ name: String, _ isTypedByKeptList: Bool
    ) async throws(Failure) {
        if options.noValidate { return }
        var check = session.client.outputCheck(of: result, of: name)
        if case .differs = check, isTypedByKeptList {
            // The server may be silent from now on, and the command may be stopped.
            try session.console.stdout.save()
            session.client.dropCache()
            do throws(Failure) { _ = try await ToolLookup(session: session).tool(name) } catch {
                return session.console.note(
                    "note: the result of \(inlineText(name)) does not match the output schema in the cache, "
                        + "which could not be renewed: \(error.message)")
            }
            check = session.client.outputCheck(of: result, of: name)
        }
        let mismatch: [String]
        switch check {
        case .matches: return
        case .stopped(let reason):
            return session.console.note(
                "note: the result of \(inlineText(name)) could not be compared with its output schema: "
                    + inlineText(reason))
        case .differs(let places): mismatch = places
        }
        var failure = Failure.malformed(
            "the result of \(inlineText(name)) does not match its output schema",
            details: mismatch.prefix(6).map { inlineText($0) })
        (failure.rest, failure.isRestWhole) = (options.outputFile, true)
        throw made(name, failure)
    }

    /// Returns the failure of a result that cannot be used.
    private func made(_ name: String, _ failure: Failure) -> Failure {
        // Nothing runs where a recording is read.
        if case .recording? = session.invocation.target { return failure }
        var failure = failure
        failure.details.append("the call was made: \(inlineText(name)) has run")
        return failure
    }

    private func toolError(_ result: CallToolResult, _ name: String) -> Failure {
        var text = result.text
        if text.isEmpty { text = result.structuredContent?.serialized() ?? "(no explanation)" }
        // The rest of a long line is left out only for a person.
        let isRead = session.console.stderr.isTerminal
        let shown = TerminalText.block(
            text.trimmingWhitespace(), maxLine: isRead ? TerminalText.maxLineLength : .max)
        return Failure(
            code: .toolError, kind: .toolError, message: "\(inlineText(name)) failed: \(shown)",
            hint: hint(text), hasPrefix: false)
    }

    /// Returns what to do about a tool whose server cannot ask questions in the newest revision yet, as
    /// FastMCP 4 cannot; its text is all that says so.
    private func hint(_ text: String) -> String? {
        guard session.client.protocolVersion.text == "2026-07-28",
            text.contains("server-initiated requests"), options.protocolVersion == nil
        else { return nil }
        return "its server asks questions only in an older revision: --protocol 2025-11-25"
    }
}
