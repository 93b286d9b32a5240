import Synchronization

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
    /// Whether it is asked from time to time if it is still there: behind a proxy, the end of its network
    /// does not end the connection.
    var isProbed = false
    /// The maximum duration of listing the tools, with all pages.
    var listTimeout = ClientToolLimits.listTimeout

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
        // A program behind it may take its time to start.
        options.connectTimeout = .seconds(60)
        options.probeTimeout = .seconds(10)
        options.cache = false
        // The channel's server checks structured results itself.
        options.checksOutput = false
        options.maxMessageBytes = ClientToolLimits.resultBytes + (1 << 20)
        return options
    }

    /// The tools that a provider lists, and the entries of its list that cannot be read.
    struct Listed: Sendable {
        var tools: [Tool] = []
        var refused: [ClientToolReport.Refusal] = []
    }

    /// Returns the tools that the provider lists, one more than it may have at most; empty if it does not
    /// support tools.
    func tools() async throws -> Listed {
        let omitted = Mutex<[String]>([])
        var options = CallOptions()
        options.usesCache = false
        options.onOmission = { text in
            omitted.withLock { if $0.count <= ClientToolReport.maxRefusals { $0.append(text) } }
        }
        do {
            let tools = try await Race.run(
                within: listTimeout, late: { [listTimeout] in Self.late(listTimeout) },
                ifCancelled: CancellationError()
            ) { [client, options] in
                let pages: PagedSequence<Tool> = client.pages("tools/list", "tools", options)
                return try await pages.collect(upTo: ClientToolLimits.toolsPerClient + 1)
            }
            let refused = omitted.withLock { $0 }.map {
                ClientToolReport.Refusal(name: "entry of the list", reason: $0.cleaned(maxBytes: 512))
            }
            return Listed(tools: tools, refused: refused)
        } catch let error as MCPError where error.code == MCPError.methodNotFoundCode {
            return Listed()
        }
    }

    private static func late(_ limit: Duration) -> ClientError {
        ClientError(.timeout, "the list of tools was not complete within \(limit.inSeconds)")
    }

    /// Returns whether the provider responds, with an error too.
    func responds() async -> Bool {
        do {
            _ = try await client.ping(options: CallOptions(timeout: ClientToolLimits.longestCall))
            return true
        } catch {
            return error is MCPError
        }
    }

    /// Calls a tool. The hub ends calls that take too long.
    func call(
        _ name: String, _ arguments: RawJSON, meta: JSONObject, atMost limit: Duration,
        onProgress: (@Sendable (ProgressReport) -> Void)?
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
