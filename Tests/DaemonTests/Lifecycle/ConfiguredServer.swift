import MCPCore
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A directory of its own for one test, removed with everything in it.
final class TemporaryDirectory {
    let path: String

    init() throws {
        let base = "/tmp/mcp-daemon-test.\(UInt64.random(in: .min ... .max))"
        try #require(unsafe mkdir(base, 0o700) == 0)
        path = base
    }

    deinit { Self.remove(path) }

    func makeDirectory(_ name: String) throws { try #require(unsafe mkdir("\(path)/\(name)", 0o700) == 0) }

    func write(_ name: String, _ bytes: [UInt8], mode: UInt32 = 0o600) throws {
        try Files.replace("\(path)/\(name)", with: bytes)
        try #require(unsafe chmod("\(path)/\(name)", mode_t(mode)) == 0)
    }

    func write(_ name: String, _ text: String) throws { try write(name, Array(text.utf8)) }

    func link(_ name: String, to target: String) throws {
        try #require(unsafe symlink(target, "\(path)/\(name)") == 0)
    }

    func move(_ name: String, to other: String) throws {
        try #require(unsafe rename("\(path)/\(name)", "\(path)/\(other)") == 0)
    }

    func makeFIFO(_ name: String) throws { try #require(unsafe mkfifo("\(path)/\(name)", 0o600) == 0) }

    private static func remove(_ path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            unsafe unlink(path)
            return
        }
        for name in (try? Files.names(in: path).names) ?? [] { remove("\(path)/\(name)") }
        unsafe rmdir(path)
    }
}

/// The server of a configuration, spoken to in process.
struct ConfiguredServer {
    let server: MCPServer
    let contents: ServedContents

    init(
        _ text: String, in directory: String, runtime: CommandRuntime = CommandRuntime(),
        observer: Observer? = nil
    ) throws {
        let outcome = ConfigurationLoader(environment: ["PATH": "/usr/bin:/bin", "HOME": "/root"]).load(
            SourceText(name: "mcp.jsonc", text: text), directory: directory, Diagnostics())
        try #require(outcome.diagnostics.errorCount == 0, "\(outcome.diagnostics.report)")
        let built = try ServerBuilder(
            configuration: outcome.configuration, log: .disabled, runtime: runtime, observer: observer
        ).build()
        server = built.server
        contents = built.contents
    }

    /// The answer to one request of 2026-07-28.
    func request(_ method: String, _ parameters: JSONObject = [:]) async throws -> JSONValue {
        let answer = try #require(await send(method, parameters))
        return try JSONValue(parsing: answer)
    }

    /// The same, nil when the request was cancelled.
    func send(_ method: String, _ parameters: JSONObject) async -> [UInt8]? {
        var parameters = parameters
        parameters["_meta"] = [
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": [:],
            "io.modelcontextprotocol/clientInfo": ["name": "test", "version": "1"],
        ]
        let message: JSONValue = [
            "jsonrpc": "2.0", "id": 1, "method": .string(method), "params": .object(parameters),
        ]
        return await server.handle(Array(message.serialized().utf8))
    }

    /// The result of a tool.
    func call(_ tool: String, _ arguments: JSONObject = [:]) async throws -> CallToolResult {
        let answer = try await request(
            "tools/call", ["name": .string(tool), "arguments": .object(arguments)])
        return try CallToolResult(json: try #require(answer["result"], "\(answer)"))
    }
}
