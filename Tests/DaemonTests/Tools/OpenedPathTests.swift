import MCPCore
import TestSupport
import Testing

@testable import MCPServerDaemon

#if os(Linux)
import Glibc

/// Paths that a command receives as open descriptors (`"x-open": true`).
@Suite(.timeLimit(.minutes(5))) struct OpenedPathTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        for name in ["root", "root/web"] { try directory.makeDirectory(name) }
        for name in ["root/file", "root/web/page"] { try directory.write(name, "own") }
        try directory.write("secret", "secret")
    }

    private func server(_ schema: String, _ rest: String) throws -> ConfiguredServer {
        let path = #""format": "path", "x-root": "root", "x-open": true"#
        let input = schema.replacing("PATH", with: path)
        return try ConfiguredServer(
            "{ \"tools\": { \"t\": { \"input\": {\(input)}, \(rest) } } }", in: directory.path)
    }

    /// The command waits until the file has been replaced by a link that leads out. Without a descriptor it
    /// reads what the link names: the swap happens.
    @Test(arguments: [(true, "own"), (false, "secret")])
    func aFileCannotBeSwappedBeforeTheCommandOpensIt(_ isOpened: Bool, _ expected: String) async throws {
        let pipe = "\(directory.path)/go"
        let made = unsafe mkfifo(pipe, 0o600)
        #expect(made == 0)
        let server = try ConfiguredServer(
            #"{ "tools": { "t": { "input": { "p": {"format": "path", "x-root": "root", "x-open": \#(isOpened)} }, "#
                + #""exec": ["sh", "-c", "read go < \"$2\"; cat \"$1\"", "sh", "{p}", "\#(pipe)"] } } }"#,
            in: directory.path)
        async let result = server.call("t", ["p": "file"])
        // Waits until the command has opened the other end.
        let end = try await Offload.run { unsafe open(pipe, O_WRONLY | O_CLOEXEC) }
        #expect(end >= 0)
        let moved = unsafe rename("\(directory.path)/root/file", "\(directory.path)/root/other")
        #expect(moved == 0)
        try directory.link("root/file", to: "../secret")
        close(end)
        #expect(try await result.text == expected)
    }

    @Test func aDirectoryCanBeTheWorkingDirectory() async throws {
        let server = try server(#""d": {PATH}"#, #""cwd": "{d}", "exec": ["ls", "--", ".", "{d}/"]"#)
        let result = try await server.call("t", ["d": "web"])
        #expect(result.text == ".:\npage\n\n/proc/self/fd/3/:\npage\n", "\(result.text)")
    }

    @Test func theSamePathIsOpenedOnceAndOnlySoManyAre() async throws {
        let server = try server(
            #""p": {"type": "array", "items": {PATH}}"#,
            #""exec": ["sh", "-c", "echo \"$@\"; cat \"$@\"", "sh", "{p...}"]"#)
        let same = try await server.call("t", ["p": ["file", "web/page", "file"]])
        #expect(same.text == "/proc/self/fd/3 /proc/self/fd/4 /proc/self/fd/3\nownownown")
        for name in ["a", "b", "c"] { try directory.write("root/\(name)", name) }
        let four = try await server.call("t", ["p": ["file", "a", "b", "c"]])
        #expect(four.text.hasSuffix("/proc/self/fd/6\nownabc"), "\(four.text)")
        let five = try await server.call("t", ["p": ["file", "a", "b", "c", "web/page"]])
        #expect(five.isError)
        #expect(five.text == "argument \"p\": a command receives at most 4 open paths")
    }

    /// The command holds what it was given, and nothing else of this process.
    @Test func nothingElseIsPassed() async throws {
        let server = try server(#""p": {PATH}"#, #""exec": ["python3", "-c", "\#(Self.listing)", "{p}"]"#)
        let result = try await server.call("t", ["p": "file"])
        #expect(result.text == "0 1 2 3\n", "\(result.text)")
    }

    private static let listing =
        "import os; print(*[n for n in range(64) if os.path.lexists('/proc/self/fd/%d' % n)])"

    @Test(arguments: ["../secret", "none", "/etc/passwd"])
    func aPathThatLeadsOutIsRefused(_ path: String) async throws {
        let server = try server(#""p": {PATH}"#, #""exec": ["cat", "{p}"]"#)
        let result = try await server.call("t", ["p": .string(path)])
        #expect(result.isError && result.text.hasPrefix("argument \"p\": "), "\(result.text)")
    }

    @Test(arguments: [
        (#"{"format": "path", "x-root": "root", "x-open": 1}"#, "x-open must be true or false"),
        (#"{"type": "string", "x-open": true}"#, "\"x-open\" needs \"x-root\""),
    ])
    func aConfigurationThatCannotBeMeant(_ schema: String, _ words: String) {
        let report = ConfigurationLoader(environment: ["PATH": "/usr/bin"]).load(
            SourceText(
                name: "c", text: #"{"tools":{"t":{"input":{"p":\#(schema)},"exec":["cat","{p}"]}}}"#),
            directory: directory.path, Diagnostics()
        ).diagnostics.sorted.map(\.rendered)
        #expect(report.contains { $0.contains("error: tools.t.input.p") && $0.contains(words) }, "\(report)")
    }
}
#endif
