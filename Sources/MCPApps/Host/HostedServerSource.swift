import MCPCore

/// The tools of a host's server: calls are watched, and a connection that is down is waited for.
struct HostedServerSource: ToolSource {
    let id: ToolSourceID
    let displayName: String
    var kind: ToolSourceKind { .server }
    let connection: ServerConnection
    /// Runs when the call may run: the user agreed where that was needed.
    let onBegin: @Sendable (ToolInvocation) async -> Void
    /// Receives the server's response, before it is turned into a text.
    let onEnd: @Sendable (ToolInvocation, Result<CallToolResult, any Error>) async -> Void

    func tools() async throws -> [Tool] { await connection.tools }

    func call(_ invocation: ToolInvocation) async throws -> CallToolResult {
        await onBegin(invocation)
        do {
            let client = try await connection.connected()
            let result: CallToolResult
            do {
                let options = CallOptions { progress in
                    invocation.progress(progress.progress, total: progress.total, message: progress.message)
                }
                result = try await client.callTool(
                    invocation.name, invocation.argumentsJSON?.objectValue ?? [:], options: options)
            } catch {
                await connection.failed(error, of: client)
                throw error
            }
            await onEnd(invocation, .success(result))
            return result
        } catch {
            await onEnd(invocation, .failure(error))
            throw error
        }
    }
}
