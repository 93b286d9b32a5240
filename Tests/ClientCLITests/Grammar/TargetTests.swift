import Foundation
import Testing

@testable import MCPClientCLI

struct TargetTests {
    @Test(arguments: [
        ("http://example.com/x", Target.http("http://example.com/x")),
        ("http://127.0.0.1:3000", .http("http://127.0.0.1:3000")),
        ("https://example.com/mcp", .http("https://example.com/mcp")),
        ("HTTPS://example.com/mcp", .http("HTTPS://example.com/mcp")),
        ("localhost:80", .http("http://localhost:80/mcp")),
        ("127.0.0.1:8080", .http("http://127.0.0.1:8080/mcp")),
        ("127.1.2.3:8080", .http("http://127.1.2.3:8080/mcp")),
        ("[::1]:8080", .http("http://[::1]:8080/mcp")),
        ("unix:///run/a.sock", .unix(path: "/run/a.sock", endpoint: "/mcp")),
        ("unix:///run/a.sock#/other", .unix(path: "/run/a.sock", endpoint: "/other")),
    ])
    func formsOfTarget(text: String, target: Target) throws {
        #expect(try Target(parsing: text) == target)
    }

    @Test(arguments: [
        ("", "TARGET is empty"),
        ("ws://example.com/mcp", "ws:// is not an MCP transport"),
        ("unix://relative", "unix:// needs an absolute path"),
        ("unix:///", "unix:// needs an absolute path"),
        ("unix:///a#b", "the endpoint after # must start with /"),
        ("example.com:80", "HOST:PORT is for this machine only"),
        ("127.0.0.1.evil.com:80", "HOST:PORT is for this machine only"),
        ("127.0.0.300:80", "HOST:PORT is for this machine only"),
        ("localhost:0", "port 0 is outside 1…65535"),
        ("localhost:65536", "port 65536 is outside 1…65535"),
        ("./server", "\"./server\" is not a target"),
        ("server", "\"server\" is not a target"),
        (":80", "\":80\" is not a target"), ("localhost:80/a b", "\"localhost:80/a b\" is not a target"),
        ("a\u{1B}[2Jb", "\"a\\e[2Jb\" is not a target"),
    ])
    func whatIsNoTarget(text: String, message: String) {
        let failure = #expect(throws: Failure.self) { try Target(parsing: text) }
        #expect(failure?.message == message)
        #expect(failure?.code == .usage)
        #expect(failure?.hint != nil || failure?.details.isEmpty == false)
    }

    /// The hint for a relative path is what works in its place.
    @Test func aRelativePathNeedsNoScheme() {
        let failure = #expect(throws: Failure.self) { try Target(parsing: "unix://./run/a.sock#/x") }
        #expect(failure?.message == "unix:// needs an absolute path")
        #expect(failure?.hint == "for a path in this directory, leave unix:// out: ./run/a.sock#/x")
    }

    @Test(arguments: [
        ("https://a.example/mcp", true), ("http://localhost:1/mcp", true), ("http://127.0.0.2", true),
        ("http://[::1]:80/x", true), ("http://a.example/mcp", false), ("http://[::2]:80/x", false),
    ])
    func wherePlainTokensMayGo(url: String, mayGo: Bool) {
        #expect(Target.http(url).isConfidential == mayGo)
    }

    @Test func whatIsAName() {
        for name in [".", "github", "my server", "a#b", "Ünïcödé"] { #expect(Target.isName(name), "\(name)") }
        for other in [
            "", "-x", "./x", "../x", ".x", "~/x", "a/b", "a:1", "localhost:80", "http://x", "a\u{1B}b",
        ] {
            #expect(!Target.isName(other), "\(other)")
        }
        #expect((try? Target(parsing: "localhost:80/sse?a=b")) == .http("http://localhost:80/sse?a=b"))
    }

    /// A path is a target when there is a socket, however it is written.
    @Test func thePathOfASocket() throws {
        let name = "mcp-target-\(getpid()).sock"
        let path = NSTemporaryDirectory() + name
        let listener = try UnixListener(path)
        defer { listener.close() }
        #expect(try Target(parsing: path) == .unix(path: path, endpoint: "/mcp"))
        #expect(try Target(parsing: "\(path)#/other") == .unix(path: path, endpoint: "/other"))
        let folder = FileManager.default.currentDirectoryPath
        let up = String(repeating: "../", count: folder.split(separator: "/").count)
        let relative = up + path.dropFirst()
        #expect(try Target(parsing: relative) == .unix(path: relative, endpoint: "/mcp"))
        // A file that is none stays what it was.
        let failure = #expect(throws: Failure.self) { try Target(parsing: "/etc/passwd") }
        #expect(failure?.details == ["no socket exists at that path"])
        #expect(failure?.hint?.contains("-- /etc/passwd") == true)
    }
}
