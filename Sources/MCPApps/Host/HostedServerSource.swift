import MCPCore

/// The tools of a host's server: calls are watched, and a connection that is down is waited for.
struct HostedServerSource: ToolSource {
    let id: ToolSourceID
    let displayName: String
    var kind: ToolSourceKind { .server }
    let connection: ServerConnection
    /// Runs when the call may run: the user agreed where that was needed.
    /// - Returns: additional members of the request's `_meta`.
    let onBegin: @Sendable (ToolInvocation) async -> JSONObject
    /// Receives the server's response, before it is turned into a text.
    let onEnd: @Sendable (ToolInvocation, Result<ServerAnswer, any Error>) async -> Void

    func tools() async throws -> [Tool] { await connection.tools }

    func instructions() async -> String? { await connection.instructions }

    func call(_ invocation: ToolInvocation) async throws -> CallToolResult {
        // A view does not choose who runs what the user is asked about.
        let meta = invocation.addressed(await onBegin(invocation))
        do {
            let client = try await connection.connected()
            let (result, json): (CallToolResult, JSONValue)
            do {
                let options = CallOptions(meta: meta) { progress in
                    invocation.progress(progress.progress, total: progress.total, message: progress.message)
                }
                (result, json) = try await client.callToolVerbatim(
                    invocation.name, invocation.argumentsJSON?.objectValue ?? [:], options: options)
            } catch {
                await connection.failed(error, of: client)
                throw error
            }
            await onEnd(invocation, .success(ServerAnswer(result, json)))
            return result
        } catch {
            await onEnd(invocation, .failure(error))
            throw error
        }
    }
}

/// A server's response to a call.
struct ServerAnswer: Sendable {
    let result: CallToolResult
    /// The response as the server wrote it; nil when the host knows all of it.
    let verbatim: JSONObject?

    init(_ result: CallToolResult, _ json: JSONValue) {
        self.result = result
        var object = json.objectValue ?? [:]
        // The envelope of 2026-07-28, which is not part of the result.
        object["resultType"] = nil
        verbatim = JSONValue.object(object) == result.json ? nil : object
    }
}
