import Foundation
import MCPCore
import TestSupport
import Testing

/// Recording, serving and checking with the real programs, as on a command line.
@Suite(.serialized) struct RecordingProcessTests {
    private let folder = TemporaryDirectory()
    private var recording: String { folder.path + "/r.jsonl" }
    private let demo = [ProgramRunner.server, "--demo"]

    private func client(_ words: [String]) async throws -> ProgramOutcome {
        try await ProgramRunner.run(
            "/bin/sh", ["-c", "cd \"$0\" && exec \"$@\"", folder.path, ProgramRunner.client] + words,
            environment: ["HOME": folder.path])
    }

    private func tapped(_ flags: [String] = []) -> [String] {
        ["--", ProgramRunner.client, "tap", "-o", recording] + flags + ["--"] + demo
    }

    /// A recording of one program answers as that program did, over stdio and as a target.
    @Test func aRecordingTakesThePlaceOfTheServer() async throws {
        let first = try await client(["call", "add", "a=2", "b=3"] + tapped())
        #expect(first.code == 0 && first.stdout == "{\"sum\":5}\n", "\(first.stderr)")
        #expect(try Files.info(recording).permissions & 0o777 == 0o600)
        let file = try await client(["call", "r.jsonl", "add", "a=2", "b=3"])
        #expect(file.stdout == first.stdout, "\(file.stderr)")
        let mock = try await client([
            "call", "add", "a=2", "b=3", "--", ProgramRunner.client, "mock", recording,
        ])
        #expect(mock.stdout == first.stdout, "\(mock.stderr)")
        let other = try await client(["call", "r.jsonl", "add", "a=2", "b=4"])
        #expect(
            other.code == 5 && other.stderr.contains("in the recording with other arguments"),
            "\(other.stderr)")
    }

    @Test func whatReplayFinds() async throws {
        _ = try await client(["call", "add", "a=2", "b=3"] + tapped())
        let same = try await client(["replay", "r.jsonl", "--"] + demo)
        #expect(
            same.code == 0 && same.stdout == "same  tools/list\nsame  tools/call add\n",
            "\(same.stdout)\(same.stderr)")
        let text = String(decoding: try Files.read(recording, maxBytes: 1 << 20), as: UTF8.self)
        try folder.write(
            "old.jsonl", text.split(separator: "{\\\"sum\\\":5}").joined(separator: "{\\\"sum\\\":6}"))
        let different = try await client(["replay", "old.jsonl", "--"] + demo)
        #expect(
            different.code == 8 && different.stdout.contains("diff  tools/call add\n"), "\(different.stdout)")
        let ignored = try await client(["replay", "--ignore", "content", "old.jsonl", "--"] + demo)
        #expect(ignored.code == 0, "\(ignored.stdout)")
        #expect(try await client(["diff", "r.jsonl", "--"] + demo).code == 0)
        #expect(try await client(["replay", "r.jsonl"]).code == 2)
        try folder.write("risky.jsonl", text.split(separator: "\"add\"").joined(separator: "\"gone\""))
        let left = try await client(["replay", "risky.jsonl", "--"] + demo)
        #expect(
            left.stdout.contains("skip  tools/call gone: it may change something (--all-calls sends it)\n"),
            "\(left.stdout)")
    }

    /// Two sides without a list in common are not equal.
    @Test func aComparisonOfNothing() async throws {
        try folder.write(
            "none.jsonl",
            #"{"time":"2026-11-23T07:00:00.000Z","method":"ping","outcome":"ok","ms":1,"#
                + #""request":{"jsonrpc":"2.0","id":1,"method":"ping"},"#
                + #""response":{"jsonrpc":"2.0","id":1,"result":{}}}"#)
        let nothing = try await client(["diff", "none.jsonl", "none.jsonl"])
        #expect(
            nothing.code == 8 && nothing.stderr.hasPrefix("error: nothing was compared\n"),
            "\(nothing.stderr)")
        _ = try await client(["call", "add", "a=2", "b=3"] + tapped())
        let equal = try await client(["diff", "r.jsonl", "r.jsonl"])
        #expect(equal.code == 0 && equal.stderr.contains("no difference"), "\(equal.stderr)")
    }

    @Test func onlyAllowedCalls() async throws {
        let refused = try await client(
            ["--no-validate", "call", "now", "{}"] + tapped(["--only", "add", "--only", "ec*"]))
        #expect(refused.code == 5 && refused.stderr.contains("is not allowed here"), "\(refused.stderr)")
        let listed = try await client(
            ["--json", "--select", ".tools[1].name", "tools"] + tapped(["--only", "add"]))
        #expect(listed.code == 5, "\(listed.stdout)")
    }

    @Test func aProgramThatFails() async throws {
        let dead = try await client(["tap", "--", "/bin/sh", "-c", "exit 3"])
        #expect(dead.code == 3 && dead.stderr.contains("exited with status 3"), "\(dead.stderr)")
        let none = try await client(["tap", "--", "no-such-program"])
        #expect(none.code == 3)
        #expect(try await client(["tap", "-o", "/nowhere/x", "--", "true"]).code == 2)
        #expect(try await client(["mock", "gone.jsonl"]).code == 2)
    }

    /// A tap that cannot write says so at once, and ends with an error when it is stopped.
    @Test func aFullDisk() async throws {
        let running = try MCPServer("s", version: "1").start([.http(port: 0)])
        let address = try #require(running.addresses.first?.description)
        let script = #"""
            "$0" tap -o /dev/full "$2" >"$1/url" 2>"$1/errors" &
            pid=$!
            until [ -s "$1/url" ] || [ -s "$1/errors" ]; do sleep 0.05; done
            "$0" ping "$(cat "$1/url")" >&2
            until [ -s "$1/errors" ]; do sleep 0.05; done
            cat "$1/errors"
            kill $pid
            wait $pid
            echo "status: $?"
            tail -n 1 "$1/errors"
            """#
        let outcome = try await ProgramRunner.run(
            "/bin/sh", ["-c", script, ProgramRunner.client, folder.path, address],
            environment: ["HOME": folder.path])
        await running.stop()
        let text = "the recording is incomplete: No space left on device"
        #expect(
            outcome.stdout == "\(text)\nstatus: 3\nerror: \(text)\n", "\(outcome.stdout)\(outcome.stderr)")
    }

    /// Nobody learns the address of a server whose stdout cannot be written.
    @Test func anAddressThatNobodyReads() async throws {
        _ = try await client(["call", "add", "a=2", "b=3"] + tapped())
        for words in [["mock", "--listen", "0", "r.jsonl"], ["tap", "-o", "new.jsonl", "127.0.0.1:1"]] {
            let full = try await ProgramRunner.run(
                "/bin/sh",
                ["-c", "cd \"$0\" && exec \"$@\" >/dev/full", folder.path, ProgramRunner.client] + words,
                environment: ["HOME": folder.path])
            #expect(
                full.code == 3
                    && full.stderr == "error: cannot write to stdout: No space left on device\n",
                "\(words): \(full)")
        }
    }

    /// A request of another user reaches nothing.
    @Test func anotherUserIsNotServed() async throws {
        let change = "/usr/bin/setpriv"
        guard UserPolicy.isEnforceable, geteuid() == 0, unsafe access(change, X_OK) == 0 else {
            return print("skipped: setpriv, or root, is missing")
        }
        _ = try await client(["call", "add", "a=2", "b=3"] + tapped())
        let script = #"""
            "$0" mock --listen 127.0.0.1:0 "$1/r.jsonl" >"$1/url" 2>"$1/errors" &
            pid=$!
            until [ -s "$1/url" ] || [ -s "$1/errors" ]; do sleep 0.05; done
            "$0" call "$(cat "$1/url")" add a=2 b=3
            echo "own: $?"
            other() { setpriv --reuid=65534 --clear-groups "$0" "$@"; }
            # Others may not enter every directory of a machine.
            if other version >/dev/null 2>&1; then
                other tools "$(cat "$1/url")" 2>&1
                echo "other: $?"
            else
                echo "skipped"
            fi
            kill $pid
            """#
        let outcome = try await ProgramRunner.run(
            "/bin/sh", ["-c", script, ProgramRunner.client, folder.path], environment: ["HOME": folder.path])
        #expect(outcome.stdout.hasPrefix("{\"sum\":5}\nown: 0\n"), "\(outcome.stdout)\(outcome.stderr)")
        // Others cannot enter the directory of the program.
        if outcome.stdout.hasSuffix("skipped\n") { return }
        #expect(
            outcome.stdout.contains("only processes of the user that the server runs as")
                && !outcome.stdout.contains("other: 0"), "\(outcome.stdout)\(outcome.stderr)")
    }

    /// From nothing to a failing and then passing test.
    @Test func aTestFile() async throws {
        try folder.write(
            "t.json",
            #"{"server": ["\#(ProgramRunner.server)", "--demo"], "tests": [{"call": "add", "arguments": {"a": 1, "b": 2}, "expect": {"structured": {"sum": 4}}}]}"#
        )
        let failing = try await client(["test", "--junit", "out.xml", "t.json"])
        #expect(
            failing.code == 8 && failing.stdout.contains("not ok 1 - call add\n"),
            "\(failing.stdout)\(failing.stderr)")
        #expect(try Files.info(folder.path + "/out.xml").size > 100)
        try folder.write(
            "t.json",
            #"{"tests": [{"call": "add", "arguments": {"a": 1, "b": 2}, "expect": {"structured": {"sum": 3}}}]}"#
        )
        #expect(try await client(["test", "t.json"]).code == 2)
        let passing = try await client(["test", "t.json", "--"] + demo)
        #expect(passing.code == 0, "\(passing.stdout)\(passing.stderr)")
        try folder.write("t.json", #"{"server": ["false"], "tests": [{"call": "add"}]}"#)
        let dead = try await client(["test", "t.json"])
        #expect(dead.code == 3 && dead.stdout.contains("Bail out!"), "\(dead.stdout)")
    }

    /// A server that is not there ends the run; the report names every test that was left out.
    @Test func testsThatWereNotRunAreReported() async throws {
        let test = #"{"call": "add", "arguments": {"a": 1, "b": 2}}"#
        try folder.write(
            "a.json", #"{"server": ["\#(ProgramRunner.server)", "--demo"], "tests": [\#(test)]}"#)
        try folder.write("b.json", #"{"server": "nowhere", "tests": [\#(test)]}"#)
        try folder.write(
            "c.json", #"{"server": "nowhere", "tests": [{"name": "c1", "read": "x:"}, \#(test)]}"#)
        let outcome = try await client(["test", "--junit", "o.xml", "a.json", "b.json", "c.json"])
        #expect(outcome.code == 2, "\(outcome.stderr)")
        let report = String(
            decoding: try Files.read(folder.path + "/o.xml", maxBytes: 1 << 20), as: UTF8.self)
        #expect(report.contains(#"<testsuites tests="5" failures="0" errors="1" skipped="3">"#), "\(report)")
        #expect(report.contains(#"<testcase classname="c.json" name="c1"><skipped message="not run"/>"#))
        #expect(report.contains(#"<testsuite name="b.json" tests="2" failures="0" errors="1" skipped="1">"#))
    }

    /// A batch that tap refuses was answered, by tap.
    @Test func aRefusedBatchIsRecordedWithItsAnswer() async throws {
        let batch =
            #"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/list"}]"#
        _ = try await ProgramRunner.run(
            "/bin/sh",
            [
                "-c", "echo \"$0\" | \"$@\"", batch, ProgramRunner.client, "tap", "-o", recording, "--only",
                "a", "--",
            ]
                + demo)
        let text = String(decoding: try Files.read(recording, maxBytes: 1 << 20), as: UTF8.self)
        #expect(!text.contains("unanswered"), "\(text)")
        #expect(text.split(separator: "\n").count { $0.contains(#""outcome":"error""#) } == 2, "\(text)")
    }

    @Test func aDryRunSendsNothing() async throws {
        let words = ["call", "add", "a=2", "b=3"] + tapped()
        let shown = try await client(["--dry-run"] + words)
        #expect(shown.code == 0 && shown.stderr.contains("tools/call was not sent"), "\(shown.stderr)")
        let message = try RawJSON(validating: shown.stdout)
        #expect(message["params"]?["arguments"]?["a"]?.int == 2)
        let text = String(decoding: try Files.read(recording, maxBytes: 1 << 20), as: UTF8.self)
        #expect(!text.contains("tools/call"))
    }

    @Test func everyEventIsALine() async throws {
        let outcome = try await client(["--jsonl", "call", "slow", "seconds=0.2", "--"] + demo)
        let events = outcome.stdout.split(separator: "\n").compactMap {
            try? JSONValue(parsing: Array($0.utf8))
        }
        #expect(events.first?["event"]?.stringValue == "progress", "\(outcome.stdout)\(outcome.stderr)")
        #expect(events.last?["result"]?["content"] != nil)
        let failed = try await client(["--jsonl", "call", "nope", "--"] + demo)
        #expect(
            failed.code == 5 && failed.stdout.hasPrefix(#"{"event":"error","error":{"kind":"not_found""#),
            "\(failed.stdout)")
    }

    @Test func whatIsTriedAgain() async throws {
        let outcome = try await client(["--retry", "2", "tools", "127.0.0.1:1"])
        #expect(outcome.code == 3)
        #expect(
            outcome.stderr.split(separator: "\n").filter { $0.contains("trying again in") }.count == 2,
            "\(outcome.stderr)")
    }

    /// A document of the registry is a server, if it says everything that is needed.
    @Test func aRegistryDocument() async throws {
        try folder.write(
            "server.json",
            #"{"name": "io.example/x", "remotes": [{"type": "streamable-http", "url": "http://127.0.0.1:{port}/mcp", "#
                + #""variables": {"port": {"isRequired": true}}}]}"#)
        let missing = try await client(["tools", "server.json"])
        #expect(missing.code == 2 && missing.stderr.contains("needs values for: port"), "\(missing.stderr)")
        #expect(missing.stderr.contains("set the variable MCP_INPUT_PORT"))
        try folder.write("server.json", "[]")
        #expect(try await client(["tools", "server.json"]).code == 2)
    }

    @Test func toolsOfAllServers() async throws {
        folder.makeDirectory(".cursor")
        let words = demo.map { "\"\($0)\"" }
        try folder.write(
            ".cursor/mcp.json",
            #"{"mcpServers": {"one": {"command": \#(words[0]), "args": [\#(words[1])]}, "two": {"url": "http://127.0.0.1:1/mcp"}}}"#
        )
        let found = try await client(["find", "ad*"])
        #expect(
            found.code == 0 && found.stdout.hasPrefix("one  add(a: number, b: number)"), "\(found.stderr)")
        #expect(
            found.stderr == """
                two: cannot connect to 127.0.0.1:1: connection refused
                  hint: is the server running, and is the address right?
                1 tool found; 1 of 2 servers searched

                """, "\(found.stderr)")
        let json = try JSONValue(parsing: try await client(["--json", "find", "ad*"]).stdout)
        #expect(json["tools"]?.arrayValue?.count == 1)
        #expect(json["failures"]?[0]?["server"] == "two")
        #expect(json["failures"]?[0]?["error"]?["kind"] == "cannot_connect")
        try folder.write(".cursor/mcp.json", #"{"mcpServers": {"two": {"url": "http://127.0.0.1:1/mcp"}}}"#)
        let lost = try await client(["find", "ad*"])
        let lines = lost.stderr.split(separator: "\n")
        #expect(lost.code == 3 && lines.count { $0.contains("cannot connect") } == 1, "\(lost.stderr)")
        try folder.write(
            ".cursor/mcp.json",
            #"{"mcpServers": {"one": {"command": \#(words[0]), "args": [\#(words[1])]}}}"#)
        let none = try await client(["-q", "find", "nope"])
        #expect(
            none.code == 5 && none.stderr.hasPrefix("error: no tool matches \"nope\"\n"), "\(none.stderr)")
    }
}
