/// Calls of tools of other servers.
extension Dispatcher {
    /// Serves a call whose tool is not known yet, once the tools of other servers that are expected have
    /// arrived.
    func callTool(
        _ request: Request, after arrivals: Arrivals, _ writer: inout JSONWriter, _ sink: SinkMaker
    ) -> Disposition {
        let request = request.copied
        return `defer`(request, timeout: Arrivals.longestCall, &writer, sink) { [self] deferred in
            await arrivals.wait()
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

    /// Writes the result of another server: its own bytes, unless the caller's revision knows less than that
    /// of the server.
    private func write(
        _ result: ForwardedResult, of entry: ToolEntry, for request: Request, _ writer: inout JSONWriter
    ) -> Disposition {
        guard request.revision.index >= result.revision.index else {
            do throws(JSONError) {
                return write(try CallToolResult(json: result.json.value), for: request, &writer)
            } catch {
                log("the result of tool \(entry.tool.name) is malformed: \(error)")
                return fail(
                    request, .internalError("The result of \(entry.tool.name) is malformed"), &writer)
            }
        }
        let mark = writer.mark
        envelope.begin(&writer, id: request.idBytes, for: request.revision)
        var meta: JSONObject?
        var hasContent = false
        result.json.forEachMember { key, value in
            switch key.string {
            case "_meta": meta = value.value.objectValue
            case "resultType", "ttlMs", "cacheScope": break
            case "content":
                guard value.kind == .array else { return }
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
        meta?["io.modelcontextprotocol/serverInfo"] = nil
        return close(request, from: mark, meta: meta?.isEmpty == true ? nil : meta, &writer)
    }
}
