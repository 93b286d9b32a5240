import MCPCore
import TestSupport
import Testing

/// Servers that a probe disturbs, that are slow, and that claim a revision which they do not serve.
@Suite(.enabled(if: isWanted("python3"), "python3 is not installed"))
struct ProgramOpeningTests {
    private let folder = TemporaryDirectory()
    private var log: String { folder.path + "/log" }

    private func target(_ fault: String) -> ClientTarget {
        let words = PythonServer.words(fault, log: log)
        return .command(words[0], Array(words.dropFirst()))
    }

    private var steps: [String] {
        let bytes = (try? Files.read(log, maxBytes: 1 << 20)) ?? []
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func options(_ cache: ServerProfileCache? = nil) -> ClientOptions {
        var options = ClientOptions()
        options.probeTimeout = .milliseconds(300)
        options.profiles = cache
        return options
    }

    private func text(_ client: MCPClient) async throws -> String? {
        try await client.callTool("t").content.first?.text
    }

    /// It is started once more and opened with `initialize`; the next connection does not probe it.
    @Test(arguments: ["dies", "wedges", "dies-later", "refuses"])
    func aServerThatDoesNotSurviveTheProbe(_ fault: String) async throws {
        let cache = ServerProfileCache.handshakes()
        for probes in [1, 0] {
            try? Files.replace(log, with: [])
            let client = try await MCPClient.connect(target(fault), options: options(cache))
            #expect(client.protocolVersion == .v2024_11_05)
            #expect(try await text(client) == "fine, handshake")
            await client.close()
            #expect(steps.count { $0 == "start" } == 1 + probes, "\(steps)")
            #expect(steps.count { $0 == "server/discover" } == probes, "\(steps)")
        }
    }

    @Test func aServerThatIgnoresTheProbe() async throws {
        let client = try await MCPClient.connect(target("silent"), options: options())
        #expect(client.protocolVersion == .v2024_11_05)
        #expect(steps.count { $0 == "start" } == 1)
        await client.close()
    }

    /// Its first answer counts, however late it is; it is neither asked nor started twice.
    @Test func aServerThatIsSlowToStart() async throws {
        var options = options()
        options.probeTimeout = .milliseconds(1)
        let opening = Task { [options] in try await MCPClient.connect(target("slow"), options: options) }
        await waitUntil { !steps.isEmpty }
        for _ in 0 ..< 50 { await pause() }
        try Files.replace(log + ".go", with: [])
        let client = try await opening.value
        #expect(client.protocolVersion == .newest)
        #expect(steps.prefix(2) == ["start", "server/discover"])
        await client.close()
    }

    /// A program that ends without having read anything was not disturbed by the probe.
    @Test func aProgramThatReadsNothingIsStartedOnce() async throws {
        let error = await clientError {
            _ = try await MCPClient.connect(
                .command("sh", "-c", "echo start >>\(log); echo usage >&2; exit 2"), options: options())
        }
        #expect(error?.message.hasSuffix("exited with status 2") == true)
        #expect(error?.details == ["stderr: usage"])
        #expect(steps == ["start"])
    }

    /// It is started once more and opened with `initialize`, and the call that it refused is repeated.
    @Test(arguments: ["half", "half-dead", "half-stuck"])
    func aServerThatListsAndRefusesToCall(_ fault: String) async throws {
        let cache = ServerProfileCache.handshakes()
        let client = try await MCPClient.connect(target(fault), options: options(cache))
        #expect(client.protocolVersion == .newest)
        for _ in 0 ..< 2 { #expect(try await text(client) == "fine, handshake") }
        #expect(client.protocolVersion == .v2024_11_05)
        await client.close()
        #expect(steps.count { $0 == "start" } == 2, "\(steps)")
        #expect(cache.count == 1)
    }

    /// A fixed revision is the caller's decision.
    @Test func aFixedRevisionIsKept() async throws {
        var options = options()
        options.protocol = .exactly(.v2026_07_28)
        let client = try await MCPClient.connect(target("half"), options: options)
        await #expect(throws: MCPError.self) { try await text(client) }
        #expect(!steps.contains("initialize"))
        await client.close()
    }

    /// The second answer to an id of another type is named, as is every other reason.
    @Test(arguments: [
        ("bom", "byte order mark"), ("latin", "invalid UTF-8 in a JSON string (at byte 48)"),
        ("batch", "it is in an array"), ("wrongid", "its id is the string"),
    ])
    func anAnswerThatCannotBeTaken(_ fault: String, _ reason: String) async throws {
        let client = try await MCPClient.connect(target(fault), options: options())
        let error = await clientError {
            _ = try await client.callTool("t", options: CallOptions(timeout: .seconds(2)))
        }
        // One that can only be that to the call ends it at once.
        #expect(error?.kind == (fault == "bom" ? .timeout : .protocolViolation))
        let texts = [error?.message ?? ""] + (error?.details ?? [])
        #expect(texts.contains { $0.contains(reason) }, "\(texts)")
        await client.close()
    }

    /// One limit, however many steps there were.
    @Test func theLimitIncludesTheSecondStart() async throws {
        var options = options()
        options.connectTimeout = .seconds(6)
        let start = ContinuousClock.now
        let error = await clientError { [options] in
            _ = try await MCPClient.connect(
                .command(
                    "sh", "-c",
                    "echo start >>\(log); echo 'Uvicorn running on http://127.0.0.1:3001' >&2; echo hello; cat >/dev/null"
                ), options: options)
        }
        #expect(error?.kind == .timeout && ContinuousClock.now - start >= .seconds(6))
        #expect(error?.message.hasSuffix("within 6 s") == true)
        #expect(error?.details.contains("stderr: Uvicorn running on http://127.0.0.1:3001") == true)
        #expect(error?.details.contains { $0.hasSuffix(": hello") } == true)
        #expect(steps == ["start", "start"])
    }
}
