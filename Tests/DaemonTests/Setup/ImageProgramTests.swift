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

    /// Engines refuse to copy nothing.
    @Test func patternsThatFitNothing() async throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("conf.d")
        try directory.write("mcp.jsonc", #"{ "include": ["conf.d/*.jsonc", "more/*.jsonc"] }"#)
        for isThere in [false, true] {
            if isThere { try directory.write("conf.d/a.jsonc", "{}") }
            let outcome = try await SetupProgram.run([
                "init", "--docker", "-c", "\(directory.path)/mcp.jsonc",
            ])
            #expect(outcome.status == .exited(0), "\(outcome)")
            #expect(
                outcome.output.contains("\nCOPY conf.d/*.jsonc /etc/mcp-server/conf.d/\n") == isThere,
                "\(outcome)")
            #expect(
                outcome.output.contains(
                    "\n# No file fits these yet, and a COPY without one fails; with the first, take off the #:\n"
                        + (isThere ? "" : "#   COPY conf.d/*.jsonc /etc/mcp-server/conf.d/\n")
                        + "#   COPY more/*.jsonc /etc/mcp-server/more/\n"), "\(outcome)")
        }
    }

    /// Engines look for the target of a link within the folder of the configuration, and copy no pipes.
    @Test func whatEnginesCannotCopy() async throws {
        let directory = try TemporaryDirectory()
        for folder in ["conf", "conf/docs", "conf/sub", "docs"] { try directory.makeDirectory(folder) }
        for folder in ["conf/docs", "docs"] { try directory.write("\(folder)/x", "x") }
        for path in ["conf/docs", "conf/docs/x", "conf/sub", "docs", "docs/x"] {
            #expect(unsafe chmod("\(directory.path)/\(path)", 0o755) == 0)
        }
        #expect(unsafe mkfifo("\(directory.path)/conf/pipe", 0o644) == 0)
        for (link, target) in [
            ("whole", "\(directory.path)/conf/docs/x"), ("elsewhere", "/etc"), ("above", "../docs"),
            ("around", "../conf/docs"), ("sub/inside", "../docs/x"),
        ] { try directory.link("conf/\(link)", to: target) }
        let words = ["whole", "elsewhere", "above/x", "around", "sub/inside", "pipe"]
        let arguments = words.map { "\"${configDir}/\($0)\"" }.joined(separator: ", ")
        try directory.write(
            "conf/mcp.jsonc",
            "{ \"files\": { \"a\": { \"root\": \"above\" }, \"d\": { \"root\": \"docs\" } }, \"tools\": "
                + "{ \"t\": { \"description\": \"d\", \"exec\": [\"true\", \(arguments)] } } }")
        let outcome = try await SetupProgram.run([
            "init", "--docker", "-c", "\(directory.path)/conf/mcp.jsonc",
        ])
        #expect(outcome.status == .exited(0), "\(outcome)")
        let copies = outcome.output.split(separator: "\n").filter { $0.hasPrefix("COPY ") }.dropFirst(2)
        #if os(Linux)
        let inside: [Substring] = ["COPY sub/inside /etc/mcp-server/sub/inside"]
        #else
        // No links are followed there.
        let inside: [Substring] = []
        #endif
        #expect(copies.sorted() == (inside + ["COPY docs /etc/mcp-server/docs"]).sorted(), "\(outcome)")
        for word in ["above", "above/x", "around", "elsewhere", "pipe", "whole"] {
            #expect(outcome.output.contains("\n#   /etc/mcp-server/\(word)\n"), "\(word)\n\(outcome)")
            let warning =
                "warning: /etc/mcp-server/\(word), which the arguments of a command or server name, "
            #expect(outcome.errors.contains(warning) == (word != "above"), "\(word)\n\(outcome)")
        }
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

    /// What the arguments of commands and servers name is in the image as well, as far as it can be; the rest is
    /// named.
    @Test func filesOfArguments() async throws {
        let directory = try TemporaryDirectory()
        for folder in ["d", "lib", "data dir", "docs", "log", "cwd"] { try directory.makeDirectory(folder) }
        let files = [
            "s.py", "u.py", "a.py", "d/f", "d/g", "lib/m.py", "data dir/x", "docs/x", "r.py", "private",
        ]
        for file in files { try directory.write(file, "x") }
        for file in files {
            #expect(unsafe chmod("\(directory.path)/\(file)", file == "private" ? 0o600 : 0o644) == 0)
        }
        for folder in ["d", "lib", "data dir", "docs"] {
            #expect(unsafe chmod("\(directory.path)/\(folder)", 0o755) == 0)
        }
        func command(_ words: String, _ more: String = "") -> String {
            "{ \"description\": \"d\", \"exec\": [\"true\", \(words)]\(more) }"
        }
        try directory.write(
            "mcp.jsonc",
            #"""
            { "files": { "docs": { "root": "docs" } }, "observe": { "audit": { "file": "log/audit.jsonl" } },
              "tools": {
                "a": \#(command(#""${configDir}/s.py", "u.py", ".", "..", "log", "--", "https://x.example/u.py""#)),
                "b": \#(command(#""--x=${configDir}/d/f", "-I${configDir}/d/g:${configDir}/none,", "in=r.py""#)),
                "c": \#(command(#""\#(directory.path)/a.py", "--db", "${configDir}/data dir/x", "/dev/null", "/usr/bin""#)),
                "d": \#(command(#""cat ${configDir}/docs/x; ls", "${configDir}/private""#,
                                #", "env": { "LIB": "/x:${configDir}/lib", "B": "u.py" }"#)) },
              "mcpServers": { "x": { "command": "/usr/bin/env", "args": ["x", "u.py"], "cwd": "cwd" },
                              "y": { "command": "/usr/bin/env", "args": ["u.py"] } } }
            """#)
        let file = "\(directory.path)/mcp.jsonc"
        let outcome = try await SetupProgram.run(["init", "--docker", "-c", file])
        #expect(outcome.status == .exited(0), "\(outcome)")
        let lines = outcome.output.split(separator: "\n")
        #expect(
            lines.filter { $0.hasPrefix("COPY ") }.dropFirst(2).sorted()
                == [
                    #"COPY ["data dir/x","/etc/mcp-server/data dir/x"]"#,
                    "COPY a.py \(directory.path)/a.py", "COPY cwd /etc/mcp-server/cwd",
                    "COPY d/f /etc/mcp-server/d/f", "COPY d/g /etc/mcp-server/d/g",
                    "COPY docs /etc/mcp-server/docs",
                    "COPY lib /etc/mcp-server/lib", "COPY r.py /etc/mcp-server/r.py",
                    "COPY s.py /etc/mcp-server/s.py", "COPY u.py /etc/mcp-server/u.py",
                ].sorted(), "\(outcome)")
        for place in ["/etc/mcp-server/none", "/etc/mcp-server/private", "/usr/bin"] {
            #expect(lines.contains("#   \(place)"), "\(outcome)")
        }
        let unplaced =
            "warning: mcpServers.y: \"u.py\" is relative to the directory that mcp-server is started in, which "
            + "is / then: write it with ${configDir}, or add \"cwd\"\n"
        let missing = ["/etc/mcp-server/none", "/etc/mcp-server/private", "/usr/bin"].map {
            "warning: \($0), which the arguments of a command or server name, is not copied: the image needs it\n"
        }
        #expect(outcome.errors == missing.joined() + unplaced, "\(outcome)")
        #expect(outcome.output.contains("/ in the image:\n#   u.py\n"), "\(outcome)")
        // A service finds them where they are, unless it does not see that place.
        let unit = try await SetupProgram.run(["init", "--systemd", "-c", file])
        #expect(unit.errors.hasSuffix(unplaced), "\(unit)")
        #expect(!unit.errors.contains("/none"), "\(unit)")
    }

    /// A folder that an argument names before a placeholder is copied; the configuration's own is not, as it is
    /// not for files.
    @Test func foldersOfArguments() async throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("d")
        #expect(unsafe chmod("\(directory.path)/d", 0o755) == 0)
        let input = #""input": { "n": { "type": "string" } }"#
        for (word, copied, isOwn) in [
            ("${configDir}/d/{n}.csv", "COPY d /etc/mcp-server/d", false),
            ("d/{n}", "COPY d /etc/mcp-server/d", false),
            ("${configDir}/{n}", nil, true), ("--dir=${configDir}", nil, true), ("{n}/d", nil, false),
        ] as [(String, String?, Bool)] {
            let tool = "{ \"description\": \"d\", \(input), \"exec\": [\"true\", \"\(word)\", \"{n}\"] }"
            try directory.write("mcp.jsonc", "{ \"tools\": { \"t\": \(tool) } }")
            let outcome = try await SetupProgram.run([
                "init", "--docker", "-c", "\(directory.path)/mcp.jsonc",
            ])
            #expect(outcome.status == .exited(0), "\(outcome)")
            let copies = outcome.output.split(separator: "\n").filter { $0.hasPrefix("COPY ") }.dropFirst(2)
            #expect(copies.map(String.init) == [copied].compactMap(\.self), "\(word)\n\(outcome)")
            #expect(outcome.output.contains("its own folder") == isOwn, "\(word)\n\(outcome)")
        }
    }

    /// What the server makes itself is nothing that the image needs; the sockets of others are.
    @Test func whatTheServerMakes() async throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "mcp.jsonc",
            #"""
            { "listen": ["unix:///tmp/own.sock"], "admin": { "listen": "unix:///var/tmp/admin.sock" },
              "observe": { "log": { "file": "/tmp/log" }, "audit": { "file": "/tmp/audit.jsonl" } },
              "mcpServers": { "far": { "url": "unix:///tmp/other.sock" } } }
            """#)
        let outcome = try await SetupProgram.run(["init", "--docker", "-c", "\(directory.path)/mcp.jsonc"])
        #expect(outcome.status == .exited(0), "\(outcome)")
        #expect(
            outcome.output.contains(
                """
                # The configuration also names these, which the image needs at these places:
                #   /tmp/other.sock
                USER mcp

                """), "\(outcome)")
    }

    /// The comment about the network fits the addresses.
    @Test(
        arguments: [
            (#""listen": ["0.0.0.0:8080", "127.0.0.1:9000", "[::]:8080"], "#, "-p 8080:8080"),
            (#""listen": ["127.0.0.1:8080", "unix:///run/mcp/s"], "#, nil), ("", nil),
        ] as [(String, String?)])
    func howClientsReachIt(listen: String, options: String?) async throws {
        let directory = try TemporaryDirectory()
        let auth = #""auth": { "tokens": "tokens.json", "resource": "https://mcp.example.com/mcp" }"#
        try directory.write("mcp.jsonc", "{ \(listen)\(auth) }")
        try directory.write("tokens.json", #"{"version":1,"tokens":[]}"#)
        #expect(unsafe chmod("\(directory.path)/tokens.json", 0o600) == 0)
        let outcome = try await SetupProgram.run(["init", "--docker", "-c", "\(directory.path)/mcp.jsonc"])
        #expect(outcome.status == .exited(0), "\(outcome)")
        #expect(
            outcome.output.contains("# The server listens on loopback or a unix socket") == (options == nil))
        let published = options.map { "where its ports are published: docker run \($0)\n" }
        #expect(
            outcome.output.contains(published ?? "# (docker run --network container:PROXY)"), "\(outcome)")
    }
}
