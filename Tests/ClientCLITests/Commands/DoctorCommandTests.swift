import MCPCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct DoctorCommandTests {
    @Test func showsEachStep() async throws {
        var knobs = TestAuthorizationServer.Knobs()
        knobs.challengeScope = "files:read"
        let setting = try LoginSetting(knobs)
        let outcome = await setting.run("doctor", setting.server.url)
        #expect(outcome.code == .ok, "\(outcome.stderr)")
        #expect(
            setting.plain(outcome.stdout) == """
                POST ORIGIN/mcp: HTTP 401
                GET ORIGIN/.well-known/oauth-protected-resource/mcp: HTTP 200
                GET ORIGIN/.well-known/oauth-authorization-server: HTTP 200
                authorization server: ORIGIN · scopes: files:read
                a person can log in: mcp-client login ORIGIN/mcp

                """)
        // Nothing was registered, opened or stored.
        #expect(setting.server.paths.count == 3)
        #expect(setting.files.isEmpty)
        await setting.end()
    }

    @Test func showsWhatIsWrong() async throws {
        var knobs = TestAuthorizationServer.Knobs()
        knobs.metadataIssuer = "https://id.example/"
        let setting = try LoginSetting(knobs)
        let outcome = await setting.run("--json", "doctor", setting.server.url)
        #expect(outcome.code == .authentication)
        let report = try JSONValue(parsing: outcome.stdout)
        #expect(report["ok"] == false)
        #expect(report["steps"]?.arrayValue?.map { $0["status"] } == [401, 200, 200])
        for text in ["expected: \(setting.server.origin)", "its metadata: https://id.example/"] {
            #expect(outcome.stderr.contains(text))
        }
        await setting.end()
    }

    @Test func aServerThatRefusesNothing() async throws {
        let server = try OpsServer.make()
        try await server.withPort { port in
            let outcome = await CommandHarness(server: server).run("doctor", "127.0.0.1:\(port)")
            #expect(outcome.code == .ok, "\(outcome.stderr)")
            #expect(outcome.stdout.hasSuffix("\nno login is needed\n"))
        }
    }

    /// A page that is not there asks for no login, and is no server either.
    @Test func anAddressThatIsNoServer() async throws {
        let server = try OpsServer.make()
        try await server.withPort { port in
            let outcome = await CommandHarness(server: server).run("doctor", "http://127.0.0.1:\(port)/other")
            #expect(outcome.code == .protocolError)
            #expect(outcome.stderr.contains("asked for no login, but answered HTTP 404"), "\(outcome.stderr)")
        }
    }

    @Test func aServerThatIsNotThere() async throws {
        let recorder = try RequestRecorder()
        let port = recorder.port
        recorder.stop()
        let outcome = await CommandHarness(server: try OpsServer.make()).run("doctor", "127.0.0.1:\(port)")
        #expect(outcome.code == .unreachable)
        #expect(outcome.stdout.hasPrefix("POST http://127.0.0.1:\(port)/mcp: cannot connect"))
    }
}
