import MCPCore
import Testing

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// `init --docker` as a user types it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ImageProgramTests {
    /// A folder with a secret in it is not copied, by whatever name the configuration knows the secret or the
    /// folder.
    @Test(arguments: [
        ("data", "data/api.key"), ("data", "link/api.key"), ("data", "key"), ("link", "data/api.key"),
    ])
    func secretsThroughLinks(root: String, secret: String) async throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("data")
        try directory.makeDirectory("docs")
        try directory.write("data/api.key", String(repeating: "k", count: 48))
        #expect(unsafe chmod("\(directory.path)/data/api.key", 0o600) == 0)
        try directory.link("link", to: "data")
        try directory.link("key", to: "data/api.key")
        try directory.write(
            "mcp.jsonc",
            "{ \"files\": { \"a\": { \"root\": \"\(root)\" }, \"docs\": { \"root\": \"docs\" } }, "
                + "\"state\": { \"key\": \"${file:\(secret)}\" } }")
        let outcome = try await SetupProgram.run(["init", "--docker", "-c", "\(directory.path)/mcp.jsonc"])
        #expect(outcome.status == .exited(0), "\(outcome)")
        let copied = outcome.output.split(separator: "\n").filter { $0.hasPrefix("COPY ") }
        #expect(
            copied == [
                "COPY mcp-server /usr/local/bin/mcp-server", "COPY mcp.jsonc /etc/mcp-server/mcp.jsonc",
                "COPY docs /etc/mcp-server/docs",
            ], "\(outcome)")
        #expect(outcome.output.contains("at these places:\n#   /etc/mcp-server/\(root)\n"), "\(outcome)")
    }

    /// A pattern of Docker takes hidden files, which one of `include` does not.
    @Test(arguments: [(".key", false), ("key", true)]) func secretsAmongIncludedFiles(
        name: String, isElsewhere: Bool
    ) async throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("conf.d")
        try directory.write("conf.d/a.jsonc", "{}")
        let folder = isElsewhere ? "." : "conf.d"
        try directory.write("\(folder)/\(name)", String(repeating: "k", count: 48))
        #expect(unsafe chmod("\(directory.path)/\(folder)/\(name)", 0o600) == 0)
        try directory.write(
            "mcp.jsonc",
            "{ \"include\": [\"conf.d/*\"], \"state\": { \"key\": \"${file:\(folder)/\(name)}\" } }")
        let outcome = try await SetupProgram.run(["init", "--docker", "-c", "\(directory.path)/mcp.jsonc"])
        #expect(outcome.status == .exited(0), "\(outcome)")
        #expect(
            outcome.output.contains("\nCOPY conf.d/* /etc/mcp-server/conf.d/\n") == isElsewhere,
            "\(outcome)")
    }

    /// The folder of the configuration has the configuration, secrets and the Dockerfile in it.
    @Test(arguments: [".", "${configDir}", "docs/.."]) func theOwnFolder(root: String) async throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("docs")
        let file = "\(directory.path)/mcp.jsonc"
        try directory.write("mcp.jsonc", "{ \"files\": { \"f\": { \"root\": \"\(root)\" } } }")
        let outcome = try await SetupProgram.run(["init", "--docker", "-c", file])
        #expect(outcome.status == .exited(0), "\(outcome)")
        #expect(
            outcome.errors
                == "warning: \(directory.path) is the folder of the configuration, and not copied as a whole: "
                + "add COPY lines for what the image needs of it\n", "\(outcome)")
        #expect(
            outcome.output.contains(
                "# The configuration also names its own folder, which is not copied as a whole:"))
        // Programs start in it, which is no reason to copy it.
        try directory.write("mcp.jsonc", #"{ "tools": { "t": { "exec": ["true"] } } }"#)
        let plain = try await SetupProgram.run(["init", "--docker", "-c", file])
        #expect(plain.errors.isEmpty && !plain.output.contains("its own folder"), "\(plain)")
    }
}
