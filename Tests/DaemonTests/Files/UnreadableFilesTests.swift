#if DEBUG && os(Linux)
import Testing

@testable import MCPCore
@testable import MCPServerDaemon

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A directory that cannot be read is never told to be empty.
@Suite struct UnreadableFilesTests {
    /// Lets every call of one name fail on descriptors of `directory` itself.
    private func failing(_ function: String, _ number: Int32, in directory: String) -> FaultInjection.Plan {
        { name, fd in
            guard name == function, fd >= 0 else { return nil }
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = unsafe buffer.withUnsafeMutableBytes { bytes -> Int in
                guard let base = bytes.baseAddress else { return -1 }
                return unsafe readlink(
                    "/proc/self/fd/\(fd)", base.assumingMemoryBound(to: CChar.self), bytes.count)
            }
            return count > 0 && String(decoding: buffer[..<count], as: UTF8.self) == directory ? number : nil
        }
    }

    private func makeFiles() throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        for name in ["docs", "docs/one", "docs/one/two"] {
            try directory.makeDirectory(name)
            try directory.write("\(name)/a.md", "x")
        }
        return directory
    }

    private static let configuration = #"{ "files": { "docs": { "root": "docs" } } }"#

    @Test(arguments: ["docs", "docs/one", "docs/one/two"], ["readdir", "fdopendir", "open"])
    func aListThatCannotBeReadIsAnError(_ place: String, _ function: String) async throws {
        let directory = try makeFiles()
        let server = try ConfiguredServer(Self.configuration, in: directory.path)
        let plan = failing(function, EMFILE, in: "\(directory.path)/\(place)")
        try await FaultInjection.during(plan) {
            let answer = try await server.request("resources/list")
            #expect(answer["error"]?["code"] == -32603, "\(answer)")
            let message = try #require(answer["error"]?["message"]?.stringValue)
            #expect(message.hasPrefix("The files of docs cannot be listed (Too many open files). Try again"))
            #expect(!message.contains(directory.path))
        }
        let answer = try await server.request("resources/list")
        #expect(answer["result"]?["resources"]?.arrayValue?.count == 3)
    }

    @Test func whatMayNotBeReadIsLeftOutAndLogged() async throws {
        let directory = try makeFiles()
        let log = "\(directory.path)/log"
        let outcome = ConfigurationLoader(environment: ["PATH": "/usr/bin:/bin"]).load(
            SourceText(name: "mcp.jsonc", text: Self.configuration), directory: directory.path, Diagnostics())
        let definition = try #require(outcome.configuration.files.first)
        let files = try DirectoryResources(definition, log: Log(sink: try LogSink(path: log, format: .text)))
        let plan = failing("readdir", EACCES, in: "\(directory.path)/docs/one")
        try await FaultInjection.during(plan) {
            for _ in 0 ..< 3 {
                let (page, next) = try await files.resources(after: nil, limit: 10)
                #expect(page.map(\.uri) == ["docs:///a.md"] && next == nil)
            }
        }
        let lines = String(decoding: try Files.read(log, maxBytes: 10_000), as: UTF8.self)
        // Once, however often it is asked for.
        #expect(lines.split(separator: "\n").count == 1, "\(lines)")
        #expect(lines.ranges(of: "files=docs").count == 1, "\(lines)")
        #expect(lines.contains("not everything can be listed") && lines.contains("Permission denied"))
        #expect(try await files.resources(after: nil, limit: 10).page.count == 3)
    }

    // The running configuration stays: prompts do not vanish because they could not be listed.
    @Test func promptsThatCannotBeListedAreAMistakeOfTheConfiguration() async throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("prompts")
        try directory.write("prompts/hi.md", "Say hi.\n")
        let text = #"{ "prompts": { "dir": "prompts" } }"#
        let path = directory.path
        func load() -> (Configuration, Diagnostics) {
            let outcome = ConfigurationLoader(environment: [:]).load(
                SourceText(name: "mcp.jsonc", text: text), directory: path, Diagnostics())
            return (outcome.configuration, outcome.diagnostics)
        }
        #expect(load().0.prompts.count == 1)
        await FaultInjection.during(failing("readdir", EIO, in: "\(path)/prompts")) {
            let diagnostics = load().1
            #expect(diagnostics.hasErrors)
            #expect(diagnostics.report.contains { $0.contains("cannot be listed: Input/output error") })
        }
    }

    @Test func aDefaultFileThatCannotBeLookedForIsNotPassedOver() async throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("mcp-server")
        let environment = ["XDG_CONFIG_HOME": directory.path]
        let own = "\(directory.path)/mcp-server/mcp.jsonc"
        #expect(DefaultFile.find(environment) != own)
        await FaultInjection.during(failing("readdir", EACCES, in: "\(directory.path)/mcp-server")) {
            #expect(DefaultFile.find(environment) == own)
        }
        try directory.write("mcp-server/mcp.jsonc", "{}")
        #expect(DefaultFile.find(environment) == own)
    }
}
#endif
