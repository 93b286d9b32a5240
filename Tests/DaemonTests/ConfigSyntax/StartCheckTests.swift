import MCPCore
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// What `check` finds out about the machine that a server is to start on.
@Suite struct StartCheckTests {
    private func report(
        _ text: String, in directory: String, _ purpose: ConfigContext.Purpose = .checking
    ) -> [String] {
        ConfigurationLoader(environment: ["PATH": "/usr/bin"], purpose: purpose).load(
            SourceText(name: "c", text: text), directory: directory, Diagnostics()
        ).diagnostics.report.filter { !$0.hasSuffix("error") && !$0.hasSuffix("warning") }
    }

    @Test(arguments: [
        (#""observe": { "audit": { "file": "no/a.jsonl" } }"#, "c:1:35: error: observe.audit.file: "),
        (#""observe": { "log": { "file": "no/log" } }"#, "c:1:33: error: observe.log.file: "),
        (#""listen": ["unix://HERE/no/s.sock"]"#, "c:1:14: error: cannot listen on unix://HERE/no/s.sock: "),
        (#""admin": { "listen": "unix://HERE/no/s.sock" }"#, "c:1:24: error: admin.listen: "),
        (
            #""clientTools": { "providersSocket": "HERE/no/s.sock" }"#,
            "error: clientTools.providersSocket: "
        ),
    ])
    func directoriesThatDoNotExist(_ member: String, _ finding: String) throws {
        let directory = try TemporaryDirectory()
        func text(_ text: String) -> String { text.replacing("HERE", with: directory.path) }
        let wanted =
            text(finding) + "\(directory.path)/no does not exist, and the server does not start without it"
        let found = report(text("{ \(member) }"), in: directory.path)
        #expect(found.contains { $0.hasSuffix(wanted) }, "\(found)")
        // What only a start needs does not keep a running server from a new configuration.
        for purpose in [ConfigContext.Purpose.serving, .inspecting] {
            #expect(report(text("{ \(member) }"), in: directory.path, purpose) == [])
        }
        try directory.makeDirectory("no")
        #expect(report(text("{ \(member) }"), in: directory.path) == [])
    }

    /// A service manager makes them, for a server that runs.
    @Test func directoriesOfAService() {
        let name = "mcp-\(UInt64.random(in: .min ... .max))"
        for (member, place) in [
            (#""listen": ["unix:///run/\#(name)/s.sock"]"#, "RuntimeDirectory=\(name)"),
            (#""observe": { "log": { "file": "/var/log/\#(name)/log" } }"#, "LogsDirectory=\(name)"),
            (
                #""observe": { "audit": { "file": "/var/lib/\#(name)/x/log" } }"#,
                "StateDirectory=\(name)/x"
            ),
        ] {
            let found = report("{ \(member) }", in: "/")
            #expect(found.count == 1 && found[0].contains(": warning: "), "\(found)")
            let hint = "; \(place) in the unit of systemd makes it"
            #expect(found.allSatisfy { $0.contains(hint) }, "\(found)")
        }
    }

    /// The start refuses a link, wherever it leads.
    @Test(arguments: ["log", "nothing", "/dev/null"]) func aLinkInPlaceOfAFile(_ place: String) throws {
        let directory = try TemporaryDirectory()
        try directory.write("log", "")
        try #require(unsafe symlink(place, "\(directory.path)/link") == 0)
        for part in ["log", "audit"] {
            let text = #"{ "observe": { "\#(part)": { "file": "link" } } }"#
            let found = report(text, in: directory.path)
            #expect(found.count == 1 && found[0].contains("error: observe.\(part).file: "), "\(found)")
            #expect(found.allSatisfy { $0.contains("/link is a symbolic link, and the server does not") })
            #expect(report(text, in: directory.path, .serving) == [])
        }
    }

    @Test func aDirectoryInPlaceOfAFile() throws {
        let directory = try TemporaryDirectory()
        let found = report(#"{ "observe": { "log": { "file": "." } } }"#, in: directory.path)
        #expect(found.contains { $0.contains("error: observe.log.file: ") }, "\(found)")
        #expect(found.allSatisfy { $0.hasSuffix(" is a directory") })
    }

    @Test(.enabled(if: Accounts.ownUserID != 0, "root may write everywhere"))
    func whatThisUserMayNotWriteTo() throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("closed")
        try directory.write("log", Array("x".utf8), mode: 0o400)
        try #require(unsafe chmod("\(directory.path)/closed", 0o500) == 0)
        let found = report(
            #"""
            { "observe": { "log": { "file": "log" }, "audit": { "file": "closed/a" } },
              "listen": ["unix://\#(directory.path)/s.sock?mode=0660&group=0"] }
            """#, in: directory.path)
        #expect(found.contains { $0.contains("observe.log.file: the user that runs this cannot write") })
        #expect(found.contains { $0.contains("cannot create files in \(directory.path)/closed") }, "\(found)")
        #expect(found.contains { $0.contains("is not a member of the group root, and") }, "\(found)")
    }

    /// A directory that cannot be searched hides what is in it.
    @Test(.enabled(if: Accounts.ownUserID != 0, "root may search everywhere"))
    func aProgramInAClosedDirectory() throws {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("closed")
        try #require(unsafe chmod("\(directory.path)/closed", 0) == 0)
        let found = report(
            #"{ "tools": { "t": { "exec": ["nosuch"], "env": { "PATH": "\#(directory.path)/closed" } } } }"#,
            in: directory.path)
        #expect(!found.contains { $0.contains("exists but") } && found.count == 1, "\(found)")
    }

    @Test func theVariablesThatAreUsed() {
        let text = #"""
            { "a": "${ONE} ${env:TWO} ${THREE:-x} $${FOUR} ${configDir} ${file:x}",
              "b": ["$env:FIVE", "$env:SIX x"],
              "c": { "d": "${env:THREE:-}${SEVEN:-}${SEVEN}" } }
            """#
        let used = UsedVariables()
        let source = SourceText(name: "c", text: text)
        if let root = JSONCParser.parse(source, into: Diagnostics()) { used.add(root) }
        #expect(used.names == ["ONE": true, "TWO": true, "THREE": false, "FIVE": true, "SEVEN": true])
    }
}
