/// The link to a client over a connection on which the client is the MCP server.
struct ProviderLink: Sendable {
    /// The outcome of a call.
    enum Outcome: Sendable {
        case result(CallToolResult)
        /// The client reported a failure, or returned no usable result; the call may have been executed.
        case failed(String)
        /// The connection ended before the response; the call may have been executed.
        case disconnected
    }

    let client: MCPClient
    /// Whether the client asked to be told what is accepted of its tools.
    var wantsReports = false

    /// Tells the client what is accepted of its tools, if it asked for that.
    func report(_ report: ClientToolReport) async {
        guard wantsReports else { return }
        // A client whose connection has ended has no use for it.
        try? await client.notify(ClientToolReport.method, report.params)
    }

    /// The options for a client of a provider: nothing is cached, and each call has its own timeout.
    static var options: ClientOptions {
        var options = ClientOptions(name: "mcp-server")
        options.timeout = .seconds(10)
        options.probeTimeout = .seconds(5)
        options.cache = false
        // The channel's server checks structured results itself.
        options.checksOutput = false
        options.maxMessageBytes = ClientToolLimits.resultBytes + (1 << 20)
        return options
    }

    /// Returns the tools that the provider lists; empty if it does not support tools.
    func tools() async throws -> [Tool] {
        do {
            return try await client.listTools()
        } catch let error as MCPError where error.code == MCPError.methodNotFoundCode {
            return []
        }
    }

    /// Calls a tool. The hub ends calls that take too long.
    func call(
        _ name: String, _ arguments: RawJSON, meta: JSONObject, atMost limit: Duration,
        onProgress: (@Sendable (Progress) -> Void)?
    ) async -> Outcome {
        let limit = limit + .seconds(60)
        let options = CallOptions(timeout: limit, deadline: limit, meta: meta, onProgress: onProgress)
        do {
            let result = try await client.request(
                "tools/call", ["name": .string(name), "arguments": arguments.value], options: options)
            guard result.bytes.count <= ClientToolLimits.resultBytes else {
                return .failed("its result has \(result.bytes.count) bytes; at most 10 MB are allowed")
            }
            var answer = try CallToolResult(json: result.value)
            // The result is now that of the channel's server; the client's own server information is not
            // meant for the agent.
            answer.meta?["io.modelcontextprotocol/serverInfo"] = nil
            if answer.meta?.isEmpty == true { answer.meta = nil }
            return .result(answer)
        } catch let error as MCPError {
            return .failed(error.message)
        } catch let error as ClientError {
            return error.kind == .connectionClosed ? .disconnected : .failed(error.message)
        } catch {
            return .failed("its result is malformed: \(error)")
        }
    }
}
