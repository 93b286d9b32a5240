import MCPCore
import TestSupport
import Testing

@testable import MCPClientCLI

/// What listens at the address is not an MCP server: the message says what it is, and what to do next.
@Suite(.timeLimit(.minutes(5))) struct WrongPeerTests {
    /// A peer: what it says, and how `doctor` and another command report it.
    struct Row: Sendable {
        let pieces: [String]
        var then = HTTPPeer.Then.close
        let doctor: String
        let tools: String
        let code: CommandCode
    }

    /// The command that failed would fail again.
    @Test func theHintNamesAnotherCommand() async throws {
        let peer = try HTTPPeer { heard in
            if heard.rpcMethod == "server/discover" { return .result(heard, "{}") }
            let error = #"{"code":-32601,"message":"Method not found"}"#
            return .json(#"{"jsonrpc":"2.0","id":\#(heard.id),"error":\#(error)}"#)
        }
        defer { peer.stop() }
        var harness = CommandHarness(server: MCPServer("unused", version: "1"))
        harness.connectsToTargets = true
        for (command, hint) in [("info", "doctor"), ("tools", "info")] {
            let outcome = await harness.run(command, peer.endpoint)
            #expect(outcome.code == .protocolError)
            #expect(outcome.stderr.contains("\nhint: mcp-client \(hint) "), "\(outcome.stderr)")
        }
    }

    static let rows = [
        Row(
            pieces: ["SSH-2.0-OpenSSH_9.2p1\r\n"],
            doctor: """
                ok    tcp       connected
                fail  http      the response from PEER cannot be read: the status line is not HTTP/1.1 CODE TEXT
                                it sent: SSH-2.0-OpenSSH_9.2p1
                                hint: is it an HTTP server, and is the port right?

                """,
            tools: """
                error: the response from PEER cannot be read: the status line is not HTTP/1.1 CODE TEXT
                  it sent: SSH-2.0-OpenSSH_9.2p1
                hint: is it an HTTP server, and is the port right?

                """, code: .protocolError),
        // The alert with which TLS refuses a request without it (RFC 8446, section 6).
        Row(
            pieces: ["\u{15}\u{03}\u{03}\u{00}\u{02}\u{02}\u{46}"],
            doctor: """
                fail  tcp       cannot connect to PEER: the server uses TLS
                                hint: use https://

                """,
            tools: """
                error: cannot connect to PEER: the server uses TLS
                hint: use https://

                """, code: .unreachable),
        Row(
            pieces: [], then: .hang,
            doctor: """
                ok    tcp       connected
                fail  discover  PEER did not respond to server/discover within 1 s
                                hint: is it an MCP server? If it starts slowly, raise --connect-timeout

                """,
            tools: """
                error: PEER did not respond to server/discover within 1 s
                hint: is it an MCP server? If it starts slowly, raise --connect-timeout

                """, code: .timeout),
        Row(
            pieces: [],
            doctor: """
                ok    tcp       connected
                fail  discover  the connection to PEER ended before the response to server/discover
                                the server closed the connection
                                hint: is it an MCP server? If it uses TLS, use https://

                """,
            tools: """
                error: the connection to PEER ended before the response to server/discover
                  the server closed the connection
                hint: is it an MCP server? If it uses TLS, use https://

                """, code: .unreachable),
        // As `python3 -m http.server` answers.
        Row(
            pieces: [page(501, "<!DOCTYPE HTML>\n<html lang=\"en\">", "Error response")], then: .keep,
            doctor: """
                ok    tcp       connected
                fail  discover  the server refused server/discover with HTTP 501
                                body: an HTML page with the title "Error response"
                                hint: is it an MCP server? It does not support POST requests

                """,
            tools: """
                error: the server refused server/discover with HTTP 501
                  body: an HTML page with the title "Error response"
                hint: is it an MCP server? It does not support POST requests

                """, code: .protocolError),
        // As nginx answers at a port for https.
        Row(
            pieces: [page(400, "<html>\r\n", "400 The plain HTTP request was sent to HTTPS port")],
            then: .keep,
            doctor: """
                ok    tcp       connected
                fail  discover  the server refused initialize with HTTP 400
                                body: an HTML page with the title "400 The plain HTTP request was sent to HTTPS port"
                                hint: use https://
                warn  origin    a foreign Origin is not refused (HTTP 400)
                                a page in a browser may reach this server: it should answer 403

                """,
            tools: """
                error: the server refused initialize with HTTP 400
                  body: an HTML page with the title "400 The plain HTTP request was sent to HTTPS port"
                hint: use https://

                """, code: .protocolError),
    ]

    private static func page(_ status: Int, _ start: String, _ title: String) -> String {
        let body = "\(start)<head><title>\(title)</title></head><body><h1>x</h1></body></html>"
        return "HTTP/1.1 \(status) X\r\nContent-Type: text/html\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            + body
    }

    @Test(arguments: rows.indices) func aPeerThatIsNoServer(_ index: Int) async throws {
        let row = Self.rows[index]
        let peer = try HTTPPeer { _ in HTTPPeer.Answer(pieces: row.pieces, then: row.then) }
        defer { peer.stop() }
        var harness = CommandHarness(server: MCPServer("unused", version: "1"))
        harness.connectsToTargets = true
        let doctor = await harness.run("--connect-timeout", "1s", "doctor", peer.endpoint)
        #expect(doctor.code == .checkFailed)
        let report = DoctorCommandTests.plain(doctor.stdout).replacing(peer.endpoint, with: "PEER")
        #expect(report == row.doctor, "\(report)")
        let tools = await harness.run("--connect-timeout", "1s", "tools", peer.endpoint)
        let text = tools.stderr.replacing(peer.endpoint, with: "PEER")
        #expect(tools.code == row.code && tools.stdout.isEmpty)
        #expect(text == row.tools, "\(text)")
    }

    /// It requires a token, and does not say how to get one.
    @Test(arguments: [
        ("javascript:1", "the server names metadata at javascript:1, which is not an https URL"),
        ("ORIGIN/metadata", "there are no metadata of the server at ORIGIN/metadata"),
    ])
    func aChallengeThatCannotBeUsed(metadata: String, message: String) async throws {
        let peer = try HTTPPeer { heard in
            if heard.method == "GET" { return .status(405) }
            let origin = "http://" + (heard.header("host") ?? "")
            let address = metadata.replacing("ORIGIN", with: origin)
            return .status(401, headers: "WWW-Authenticate: Bearer resource_metadata=\"\(address)\"\r\n")
        }
        defer { peer.stop() }
        let folder = TemporaryDirectory()
        var harness = CommandHarness(server: MCPServer("unused", version: "1"))
        harness.connectsToTargets = true
        harness.variables = ["MCP_AUTH_STORE": folder.path + "/auth"]
        let outcome = await harness.run("tools", "http://\(peer.endpoint)/mcp")
        #expect(outcome.code == .authentication, "\(outcome.stderr)")
        let text = outcome.stderr.replacing("http://" + peer.endpoint, with: "ORIGIN")
        #expect(
            text.hasPrefix(
                """
                error: \(message)
                  the server requires an access token (HTTP 401)

                """), "\(text)")
        #expect(text.hasSuffix("\nhint: --bearer-file FILE or --bearer-env VAR sends a token\n"), "\(text)")
    }

    @Test func aProgramThatRepeatsWhatItReads() async throws {
        let outcome = try await ProgramRunner.client("doctor", "--", "cat")
        #expect(outcome.code == 8)
        #expect(
            outcome.stdout.contains("fail  discover  the program echoes requests; it is not an MCP server")
                && outcome.stdout.hasSuffix("hint: name a program that speaks MCP on stdin and stdout\n"),
            "\(outcome.stdout)")
    }
}
