import MCPCore
import TestSupport
import Testing

/// A server behind an authorization server, and a place for logins of its own.
struct LoginSetting {
    let directory = TemporaryDirectory()
    let server: TestAuthorizationServer
    var harness: CommandHarness
    var store: String { directory.path + "/auth" }

    init(_ knobs: TestAuthorizationServer.Knobs = .init()) throws {
        server = try TestAuthorizationServer(knobs)
        harness = CommandHarness(server: try OpsServer.make())
        harness.variables = ["MCP_AUTH_STORE": directory.path + "/auth"]
        harness.browser = { try await LoginSetting.visit($0) }
    }

    /// What a browser does: it loads the page, and follows the redirects.
    static func visit(_ page: String) async throws {
        var location = page
        for _ in 0 ..< 3 {
            let rest = location.dropFirst("http://".count)
            let authority = String(rest.prefix { $0 != "/" })
            let port = try #require(authority.split(separator: ":").last.flatMap { UInt16($0) })
            let response = try await PlainHTTP.send(
                "GET", String(rest.dropFirst(authority.count)), port: port, host: authority)
            guard let next = response.headers["location"] else { return }
            location = next.hasPrefix("/") ? "http://\(authority)\(next)" : next
        }
    }

    func run(_ words: String...) async -> CommandOutcome { await harness.run(words) }
    func end() async { await server.stop() }

    /// A text without the addresses that differ from run to run.
    func plain(_ text: String) -> String { text.replacing(server.origin, with: "ORIGIN") }

    var files: [String] { (try? Files.names(in: store).names) ?? [] }
}
