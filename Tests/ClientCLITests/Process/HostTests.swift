import Foundation
import MCPCore
import TestSupport
import Testing

/// `mcp-client host` as a process of its own.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct HostTests {
    /// Runs the host until `body` is done with what it printed, then ends it by SIGTERM.
    private func host(
        _ words: [String], environment: [String: String] = [:],
        _ body: @escaping @Sendable (String) async throws -> Void
    ) async throws -> ProgramOutcome {
        let folder = NSTemporaryDirectory() + "mcp-host-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let printed = "\(folder)/out"
        let started = AsyncStream.makeStream(of: Int32.self)
        // Its output goes to a file, where it can be looked at while it runs.
        let line = "exec '\(ProgramRunner.client)' host \(words.joined(separator: " ")) >'\(printed)'"
        async let outcome = ProgramRunner.run(
            "/bin/sh", ["-c", line], environment: environment.merging(["TMPDIR": folder]) { $1 },
            whileRunning: { started.continuation.yield($0) })
        var pids = started.stream.makeAsyncIterator()
        let pid = try #require(await pids.next())
        var text = ""
        for _ in 0 ..< 500 where !text.contains("\n") {
            try await Task.sleep(for: .milliseconds(20))
            text = (try? String(contentsOfFile: printed, encoding: .utf8)) ?? ""
        }
        var problem: (any Error)?
        do {
            try await body(text.trimmingCharacters(in: .newlines))
        } catch {
            problem = error
        }
        kill(pid, SIGTERM)
        let result = try await outcome
        if let problem { throw problem }
        #expect(try String(contentsOfFile: printed, encoding: .utf8) == text)
        return result
    }

    private static func port(of address: String) -> UInt16 {
        UInt16(address.prefix { $0 != "#" }.split(separator: ":").last?.filter(\.isNumber) ?? "") ?? 0
    }

    // A25: one line, with the token behind the #; nothing of it on stderr
    @Test func oneLineSaysWhereThePageIs() async throws {
        let seen = AsyncStream.makeStream(of: String.self)
        let result = try await host(["-v", "--", ProgramRunner.server, "--demo", "--stdio"]) { address in
            #expect(address.hasPrefix("http://127.0.0.1:") && address.contains("/#"))
            let answer = try await PlainHTTP.send("GET", "/", port: Self.port(of: address))
            #expect(answer.status == 200)
            seen.continuation.yield(address)
        }
        seen.continuation.finish()
        var addresses = seen.stream.makeAsyncIterator()
        let address = try #require(await addresses.next())
        let token = try #require(address.split(separator: "#").last)
        #expect(!result.stderr.contains(token))
        #expect(!result.wasKilled && result.code == 130 && result.duration < .seconds(20))
        let port = Self.port(of: address)
        await #expect(throws: (any Error).self) { try await PlainHTTP.send("GET", "/", port: port) }
    }

    @Test func theAddressAsJSON() async throws {
        _ = try await host(["--json"]) { text in
            let url = try JSONValue(parsing: text)["url"]?.stringValue ?? ""
            #expect(Self.port(of: url) > 0 && url.contains("/#"))
        }
    }

    // A25: on the command line of the opener every user of the machine could see the token
    @Test func theBrowserIsOpenedByAPrivateFile() async throws {
        let folder = NSTemporaryDirectory() + "mcp-open-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let script =
            "#!/bin/sh\nstat -c %a \"$1\" >'\(folder)/mode'\ncat \"$1\" >'\(folder)/page.part'\necho \"$1\" >'\(folder)/path'\nmv '\(folder)/page.part' '\(folder)/page'\n"
        for name in ["xdg-open", "open"] {
            try script.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: "\(folder)/\(name)")
        }
        func read(_ name: String) -> String {
            (try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8))?.trimmingCharacters(
                in: .newlines) ?? ""
        }
        let result = try await host(["--open"], environment: ["PATH": "\(folder):/usr/bin:/bin"]) { address in
            let page = "\(folder)/page"
            for _ in 0 ..< 500 where !FileManager.default.fileExists(atPath: page) {
                try await Task.sleep(for: .milliseconds(20))
            }
            let text = try String(contentsOfFile: page, encoding: .utf8)
            #expect(text.contains("url=\(address)\""))
        }
        #expect(result.code == 130)
        #expect(read("mode") == "600")
        #expect(!read("path").isEmpty && !read("path").contains("#"))
        #expect(!FileManager.default.fileExists(atPath: read("path")))
    }

    @Test func whatCannotBeServedIsSaid() async throws {
        let taken = try LocalListener()
        defer { taken.close() }
        let result = try await ProgramRunner.client("host", "--port", "\(taken.port)")
        #expect(result.code == 3 && result.stderr.contains("--port"))
        let history = try await ProgramRunner.client("host", "--history", "/nowhere/x")
        #expect(history.code == 2 && history.stderr.contains("cannot open /nowhere/x"))
        let hosts = try await ProgramRunner.client(
            "host", "--allow-hosts", "localhost", "http://example.com/mcp")
        #expect(hosts.code == 2 && hosts.stderr.contains("no connection was made"))
    }
}
