import MCPCore
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite struct ConfigFileTests {
    // Fault row 94: a secret that others may read or write.
    @Test(
        arguments: [(0o600, true), (0o400, true), (0o640, false), (0o644, false), (0o602, false)]
            as [(UInt32, Bool)])
    func secretsMustBePrivate(mode: UInt32, isAccepted: Bool) throws {
        let directory = try TemporaryDirectory()
        try directory.write("secret", Array("s3cr3t\n".utf8), mode: mode)
        let context = ConfigContext(diagnostics: Diagnostics(), directory: directory.path, environment: [:])
        if isAccepted {
            #expect(try context.readSecret("secret") == "s3cr3t")
        } else {
            #expect(throws: ConfigFileError.self) { try context.readSecret("secret") }
        }
    }

    /// Who may write a configuration decides what runs.
    @Test(
        arguments: [(0o644, true), (0o664, true), (0o646, false), (0o666, false), (0o602, false)]
            as [(UInt32, Bool)])
    func configurationsMustNotBeEverybodys(mode: UInt32, isAccepted: Bool) throws {
        let directory = try TemporaryDirectory()
        try directory.write("mcp.jsonc", Array("{}".utf8), mode: mode)
        let outcome = ConfigurationLoader(environment: [:]).load(file: "\(directory.path)/mcp.jsonc")
        #expect(outcome.diagnostics.hasErrors == !isAccepted, "\(outcome.diagnostics.report)")
    }

    @Test func directoriesOfConfigurationsMustNotBeEverybodys() throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("open")
        try directory.write("open/mcp.jsonc", "{}")
        let loader = ConfigurationLoader(environment: [:])
        func isAccepted(_ mode: mode_t) -> Bool {
            unsafe chmod("\(directory.path)/open", mode)
            return !loader.load(file: "\(directory.path)/open/mcp.jsonc").diagnostics.hasErrors
        }
        #expect(isAccepted(0o755) && isAccepted(0o1777) && !isAccepted(0o777))
    }

    /// A symbolic link in a safe directory does not hide one whose files anyone can replace.
    @Test func linksIntoDirectoriesOfEverybodyAreRefused() throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("open")
        try directory.write("open/mcp.jsonc", "{}")
        try directory.link("mcp.jsonc", to: "\(directory.path)/open/mcp.jsonc")
        #expect(try ConfigFile.bytes(at: "\(directory.path)/mcp.jsonc", shownAs: "c").count == 2)
        #expect(unsafe chmod("\(directory.path)/open", 0o777) == 0)
        let refusal = #expect(throws: ConfigFileError.self) {
            try ConfigFile.bytes(at: "\(directory.path)/mcp.jsonc", shownAs: "c")
        }
        #expect(refusal?.text.contains("c can be replaced by anyone: chmod o-w its directory") == true)
    }

    /// Whoever owns a directory or a link on the way decides which file is read, even one of root, such as the
    /// command line of a process in /proc.
    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func whatOthersOwnLeadsNowhere() throws {
        let directory = try TemporaryDirectory()
        let root = directory.path
        for name in ["open", "open/theirs", "safe"] { try directory.makeDirectory(name) }
        for name in ["open/mcp.jsonc", "open/theirs/mcp.jsonc", "safe/mcp.jsonc"] {
            try directory.write(name, "{}")
        }
        try directory.link("open/link.jsonc", to: "\(root)/safe/mcp.jsonc")
        try directory.link("open/own.jsonc", to: "../safe/mcp.jsonc")
        try directory.link("safe/far.jsonc", to: "\(root)/open/link.jsonc")
        try #require(unsafe lchown("\(root)/open/link.jsonc", 12_345, 12_345) == 0)
        try #require(unsafe chown("\(root)/open/theirs", 12_345, 12_345) == 0)
        try #require(unsafe chmod("\(root)/open", 0o1777) == 0)
        func refusal(_ name: String) -> String? {
            do throws(ConfigFileError) {
                _ = try ConfigFile.bytes(at: "\(root)/\(name)", shownAs: "c")
                return nil
            } catch { return error.text }
        }
        for name in ["open/mcp.jsonc", "open/own.jsonc", "safe/../open/./mcp.jsonc"] {
            #expect(refusal(name) == nil)
        }
        let text = "c can be replaced by another user: chown"
        #expect(refusal("open/link.jsonc")?.hasPrefix("\(text) the link \(root)/open/link.jsonc") == true)
        #expect(refusal("safe/far.jsonc")?.hasPrefix("\(text) the link \(root)/open/link.jsonc") == true)
        let theirs = "\(root)/open/theirs"
        #expect(refusal("open/theirs/mcp.jsonc")?.hasPrefix("\(text) its directory \(theirs)") == true)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func configurationsOfOthersAreRefused() throws {
        let directory = try TemporaryDirectory()
        try directory.write("mcp.jsonc", "{}")
        try #require(unsafe chown("\(directory.path)/mcp.jsonc", 12_345, 12_345) == 0)
        let report = ConfigurationLoader(environment: [:]).load(file: "\(directory.path)/mcp.jsonc")
            .diagnostics.report
        #expect(report.first?.contains("belongs to another user") == true, "\(report)")
    }

    // Fault row 98.
    @Test func readsOnlyRegularFiles() throws {
        let directory = try TemporaryDirectory()
        try directory.makeFIFO("fifo")
        for path in ["\(directory.path)/fifo", directory.path, "/dev/zero", "\(directory.path)/none"] {
            #expect(throws: ConfigFileError.self) { try ConfigFile.bytes(at: path, shownAs: "x") }
        }
    }

    @Test func textsMustBeUTF8() throws {
        let directory = try TemporaryDirectory()
        try directory.write("bad", [0xFF])
        #expect(throws: ConfigFileError.self) {
            try ConfigFile.text(at: "\(directory.path)/bad", shownAs: "bad")
        }
    }

    @Test func aConfigurationReadsItsTextsAndPrompts() throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("prompts")
        try directory.write("prompts/hi.md", "Hello {{name}}")
        try directory.write("about.md", "About.\n")
        try directory.write(
            "mcp.jsonc",
            #"{ "server": { "instructions": { "file": "about.md" } }, "prompts": { "dir": "prompts" } }"#)
        let outcome = ConfigurationLoader(environment: [:]).load(file: "\(directory.path)/mcp.jsonc")
        #expect(outcome.configuration.server.instructions == "About.")
        #expect(
            outcome.diagnostics.report == [
                "prompts/hi.md:1:7: error: placeholder {{name}} is not in \"arguments\"", "1 error",
            ])
    }

    /// A value of another type: the sentence names the place, what is expected and what stands there.
    @Test(arguments: [
        (
            #""server": { "instructions": ["a", 1] }"#,
            "server.instructions must be an array of lines, each a string, not a number"
        ),
        (
            #""tools": { "t": { "exec": ["true"], "description": { "file": 5 } } }"#,
            "tools.t.description.file must be a string, not a number"
        ),
        (
            #""tools": { "t": { "exec": ["true"], "description": { "other": "x" } } }"#,
            #"tools.t.description must be a string, an array of lines or {"file": "…"}, not an object"#
        ),
        (
            #""tools": { "t": { "exec": ["true"], "description": 5 } }"#,
            #"tools.t.description must be a string, an array of lines or {"file": "…"}, not a number"#
        ),
        (
            #""tools": { "t": { "exec": ["true"], "description": { "file": "no.txt" } } }"#,
            "tools.t.description: cannot open no.txt: No such file or directory"
        ),
        (
            #""tools": { "t": { "exec": ["true"], "concurrency": true } }"#,
            "tools.t.concurrency must be a whole number, not a boolean"
        ),
        (
            #""tools": { "t": { "exec": ["true"], "concurrency": 0 } }"#,
            "tools.t.concurrency must be a whole number from 1 to 10000"
        ),
        (
            #""files": { "a": { "root": "." }, "b": { "root": ".", "uri": "a:///{+path}" } }"#,
            "files.b has the same uri as files.a"
        ),
        (#""files": { "a": {} }"#, #"files.a has no "root""#),
        (#""files": { "a": { "root": 5 } }"#, "files.a.root must be a string, not a number"),
        (
            #""files": { "a": { "root": ".", "uri": "a:///ü{+path}" } }"#,
            "files.a.uri: a:///ü{+path} must not contain spaces or non-ASCII characters"
        ),
        (
            #""files": { "a": { "root": ".", "include": ["/x"] } }"#,
            ##"files.a.include: "/x" is not a relative pattern like "**/*.md""##
        ),
        (
            #""files": { "a": { "root": ".", "include": [5] } }"#,
            "files.a.include must be an array of strings, not a number"
        ),
    ])
    func valuesOfAnotherType(member: String, finding: String) throws {
        let directory = try TemporaryDirectory()
        let outcome = ConfigurationLoader(environment: ["PATH": "/usr/bin:/bin"]).load(
            SourceText(name: "c", text: "{ \(member) }"), directory: directory.path, Diagnostics())
        #expect(outcome.diagnostics.sorted.map(\.text).contains(finding), "\(outcome.diagnostics.report)")
    }
}
