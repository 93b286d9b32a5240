import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

/// The manual page mcp-server(1).
@Suite struct ServerManualTests {
    /// Set for commands, and not read.
    private static let given: Set<String> = ["MCP_CALLER", "MCP_TOOL", "TRACEPARENT"]

    /// Each variable that the daemon looks up by its name is in the page.
    @Test func theManualNamesEveryVariable() throws {
        var names: Set<String> = ["RUNTIME_DIRECTORY", "XDG_STATE_HOME", ProvidersSocket.variable]
        for file in try RepositoryFile.swiftFiles(below: "Sources/MCPServerDaemon") {
            var rest = try RepositoryFile.text("Sources/MCPServerDaemon/\(file)")[...]
            while let start = rest.firstRange(of: "environment[\"") {
                rest = rest[start.upperBound...]
                names.insert(String(rest.prefix { $0 != "\"" }))
            }
        }
        #expect(names.isSuperset(of: ["XDG_RUNTIME_DIR", "LISTEN_FDS", "MCP_AUTH_ALLOW"]))
        let lines = ServerManual.text.split(separator: "\n")
        let start = try #require(lines.firstIndex(of: ".SH \"ENVIRONMENT\""))
        let end = try #require(lines[(start + 1)...].firstIndex { $0.hasPrefix(".SH") })
        let section = lines[start ..< end].joined(separator: "\n")
        for name in names.subtracting(Self.given) { #expect(section.contains(name), "\(name)") }
    }
}
