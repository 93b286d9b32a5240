/// Calls of tools of other servers.
extension Dispatcher {
    /// Serves a call whose tool is not known yet, once the tools of other servers that are expected have
    /// arrived.
    func callTool(
        _ request: Request, after arrivals: Arrivals, _ writer: inout JSONWriter, _ sink: SinkMaker
    ) -> Disposition {
        let request = request.copied
        return `defer`(request, timeout: Arrivals.longestCall, &writer, sink) { [self] deferred in
            guard await everything(after: arrivals, for: deferred) else { return nil }
            let head = request.message.head
            let bytes = request.message.bytes
            let name = request.message.raw(head.name)?.string ?? ""
            guard let entry = registry.current.tool(named: bytes[head.name.range]),
                case .forwarded(let body) = entry.handler
            else { return answer { fail(request, .invalidParams("Unknown tool: \(name)"), &$0) } }
            if let error = refusal(request, on: entry) {
                return answer { fail(request, error, &$0) }
            }
            let arguments =
                head.arguments.isPresent ? RawJSON(unchecked: bytes[head.arguments.range]) : noArguments
            guard arguments.kind == .object else {
                return answer { fail(request, .invalidParams("\"arguments\" must be an object"), &$0) }
            }
            let call = ToolCall(name: entry.tool.name, arguments: arguments)
            return await answer(request, entry, call, deferred, body)
        }
    }

    /// Waits until what is expected of other servers has arrived, also what a reload expects in the meantime.
    /// Returns false when the request has ended meanwhile.
    ///
    /// - Parameter limit: the time after which the request goes on without it; nil for none.
    func everything(
        after arrivals: Arrivals, for call: DeferredCall?, within limit: Duration? = nil
    ) async -> Bool {
        let wait = { @Sendable [registry] in
            var last = arrivals
            await last.wait()
            while let next = registry.current.contents.arrivals, next !== last {
                last = next
                await last.wait()
            }
        }
        guard let call else {
            await wait()
            return true
        }
        return (try? await beforeWork(of: call.exchange) { _ = try? await Race.run(within: limit, wait) })
            != nil
    }

    /// Makes the call and returns the response to the caller.
    func answer(
        _ request: Request, _ entry: ToolEntry, _ call: ToolCall, _ deferred: DeferredCall,
        _ body: @Sendable (ToolCall, RequestContext) async throws -> ForwardedResult
    ) async -> Answer? {
        do {
            let result = try await body(call, RequestContext(request, deferred))
            return answer { write(result, of: entry, for: request, &$0) }
        } catch {
            return answer { answer(request, entry, failedWith: error, &$0) }
        }
    }

    /// Checks what every client of a result relies on: blocks with a type, texts, and whether it is an error.
    private static func checkForm(of result: RawJSON) throws(JSONError) {
        var problem: JSONError?
        result.forEachMember { key, value in
            if value.isNull { return }
            switch key.string {
            case "content":
                guard value.kind == .array else {
                    problem = JSONError(
                        .typeMismatch(expected: "an array", found: value.kind), path: "/content")
                    return
                }
                value.forEachElement { block in
                    let type = block["type"]
                    if type?.kind != .string || type?.string == "text" && block["text"]?.kind != .string {
                        problem = JSONError(
                            .invalidValue("a block has no type, or no text"), path: "/content")
                    }
                }
            case "isError":
                guard value.kind != .bool else { return }
                problem = JSONError(.typeMismatch(expected: "a boolean", found: value.kind), path: "/isError")
            default: break
            }
        }
        if let problem { throw problem }
    }

    /// Writes the result of another server: its own bytes, unless the caller's revision knows less than that
    /// of the server.
    private func write(
        _ result: ForwardedResult, of entry: ToolEntry, for request: Request, _ writer: inout JSONWriter
    ) -> Disposition {
        do throws(JSONError) {
            guard request.revision.index >= result.revision.index else {
                return write(try CallToolResult(json: result.json.value), for: request, &writer)
            }
            try Self.checkForm(of: result.json)
        } catch {
            log("the result of tool \(entry.tool.name) is malformed: \(error)")
            return fail(request, .internalError("The result of \(entry.tool.name) is malformed"), &writer)
        }
        let mark = writer.mark
        envelope.begin(&writer, id: request.idBytes, for: request.revision)
        var meta: JSONObject?
        var hasContent = false
        result.json.forEachMember { key, value in
            switch key.string {
            // Some servers write an empty list as null.
            case "content" where value.isNull, "isError" where value.isNull: break
            case "_meta": meta = foreignMeta(value)
            case "resultType", "ttlMs", "cacheScope": break
            case "content":
                hasContent = true
                writer.key("content")
                writer.raw(value)
            case let key?:
                if key == "isError", value.kind == .bool, value.value == true { request.trace?.toolFailed() }
                writer.key(key)
                writer.raw(value)
            case nil: break
            }
        }
        if !hasContent {
            writer.key("content")
            writer.beginArray()
            writer.endArray()
        }
        return close(request, from: mark, meta: meta, &writer)
    }

    /// Returns the `_meta` of another server's result without the member that this server writes itself; nil
    /// if nothing else is in it.
    private func foreignMeta(_ json: RawJSON) -> JSONObject? {
        var meta = JSONObject()
        json.forEachMember { key, value in
            // Nearly all have this one and no other, which need not become a tree.
            if key.bytes.equals("\"io.modelcontextprotocol/serverInfo\"") { return }
            if let key = key.string, key != "io.modelcontextprotocol/serverInfo" { meta[key] = value.value }
        }
        return meta.isEmpty ? nil : meta
    }
}
