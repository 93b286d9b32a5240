/// The way to a client over a connection on which it is the MCP server.
struct ProviderLink: Sendable {
    /// What became of a call.
    enum Outcome: Sendable {
        case result(CallToolResult)
        /// The client says that it failed, or gave no usable result: it may have been done.
        case failed(String)
        /// The connection ended before the answer: it may have been done.
        case disconnected
    }

    let client: MCPClient

    /// The options for a client of a provider: nothing is kept, and each call brings its own time-out.
    static var options: ClientOptions {
        var options = ClientOptions(name: "mcp-server")
        options.timeout = .seconds(10)
        options.probeTimeout = .seconds(5)
        options.cache = false
        // The channel's server looks at structured results itself.
        options.checksOutput = false
        options.maxMessageBytes = ClientToolLimits.resultBytes + (1 << 20)
        return options
    }

    /// The tools that the provider lists; one that has no tools has an empty list.
    func tools() async throws -> [Tool] {
        do {
            return try await client.listTools()
        } catch let error as MCPError where error.code == MCPError.methodNotFoundCode {
            return []
        }
    }

    /// Calls a tool. The hub ends what takes too long.
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
                return .failed("its result has \(result.bytes.count) bytes; 10 MB are allowed")
            }
            var answer = try CallToolResult(json: result.value)
            // The result is the channel's server's: which revision the client speaks is not the agent's.
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
