import Foundation
import TestSupport
import Testing

/// The scripts in real shells, with the built program. bash must exist, and in CI zsh and fish.
@Suite(.timeLimit(.minutes(5))) struct CompletionProcessTests {
    static func path(of shell: String) -> String? {
        ["/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"].map { $0 + shell }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// A server whose tools have names for which a shell would do something.
    private static let hostile = #"""
        while read -r line; do
          id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
          case $line in
          *'"server/discover"'*) r='{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}' ;;
          *'"tools/list"'*) r='{"resultType":"complete","tools":[
            {"name":"$(touch pwned)","inputSchema":{"type":"object"}},
            {"name":"`touch pwned`","inputSchema":{"type":"object"}},
            {"name":"a b; touch pwned","inputSchema":{"type":"object"}},
            {"name":"\u001b]0;owned\u0007","inputSchema":{"type":"object"}},
            {"name":"two\nlines","inputSchema":{"type":"object"}}]}' ;;
          *) continue ;;
          esac
          printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$(printf '%s' "$r" | tr -d '\n')"
        done
        """#

    private func folder() throws -> TemporaryDirectory {
        let folder = TemporaryDirectory()
        try folder.write("hostile.sh", Self.hostile)
        let config = """
            {"mcpServers": {
              "hostile": {"command": "/bin/sh", "args": ["\(folder.path)/hostile.sh"]},
              "demo": {"command": "\(ProgramRunner.server)", "args": ["--demo", "--stdio"]},
              "silent": {"command": "/bin/sh", "args": ["-c", "echo $$ >\(folder.path)/pid; exec sleep 600"]}
            }}
            """
        try folder.write("c.json", config)
        return folder
    }

    private func environment(_ folder: TemporaryDirectory) -> [String: String] {
        [
            "MCP_CONFIG": folder.path + "/c.json", "HOME": folder.path, "LC_ALL": "C.UTF-8",
            "PATH": "\(ProgramRunner.folder):/usr/bin:/bin",
        ]
    }

    /// Returns what bash would insert for a line, and what it reads back when it runs that.
    private func bash(_ line: String, _ folder: TemporaryDirectory) async throws -> ProgramOutcome {
        let shell = try #require(Self.path(of: "bash"))
        let script = #"""
            cd "$HOME" && source <(mcp-client completion bash)
            COMP_LINE=$1 COMP_POINT=${#1} _mcp_client mcp-client
            for reply in "${COMPREPLY[@]}"; do
                eval "words=($reply)"
                printf '%s|%s|%s\n' "$reply" "${#words[@]}" "${words[0]}"
            done
            """#
        return try await ProgramRunner.run(
            shell, ["--norc", "-c", script, "bash", line], environment: environment(folder))
    }

    @Test func bashInsertsWhatItReadsBackAsOneWord() async throws {
        let folder = try folder()
        let outcome = try await bash("mcp-client call hostile ", folder)
        // A busy machine may need longer than the limit: then there are no proposals.
        let lines = outcome.stdout.split(separator: "\n")
        for line in lines { #expect(line.split(separator: "|")[1] == "1", "\(line)") }
        let words = lines.map { String($0.split(separator: "|")[2]) }
        let all = ["$(touch pwned)", "`touch pwned`", "a b; touch pwned"]
        #expect(words == all || words.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/pwned"))
        #expect(outcome.stderr.isEmpty)
    }

    @Test func bashCompletesCommandsAndServers() async throws {
        let folder = try folder()
        #expect(
            try await bash("mcp-client comple", folder).stdout
                == "complete |1|complete\ncompletion |1|completion\n")
        let names = try await bash("mcp-client info ", folder).stdout
        #expect(names == "hostile |1|hostile\ndemo |1|demo\nsilent |1|silent\n")
    }

    /// A server that does not answer costs the shell no more than the limit, and nothing of it is left.
    @Test func aSilentServerEndsAtTheLimit() async throws {
        let folder = try folder()
        let outcome = try await ProgramRunner.client(
            "__complete", "fish", "call", "silent", "", environment: environment(folder))
        #expect(outcome.code == 0 && outcome.stdout.isEmpty && outcome.stderr.isEmpty)
        #expect(outcome.duration < .seconds(20))
        guard let text = try? String(contentsOfFile: folder.path + "/pid", encoding: .utf8),
            let pid = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines))
        else { return }
        // A killed process may still be waiting for its new parent.
        for _ in 0 ..< 500 where kill(pid, 0) == 0 {
            let state = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
            if state.contains(") Z") { return }
            usleep(10_000)
        }
        #expect(kill(pid, 0) != 0)
    }

    @Test(.enabled(if: isWanted("zsh"))) func zshAcceptsTheScript() async throws {
        let folder = try folder()
        let script = #"""
            autoload -U compinit && compinit -u -D && source <(mcp-client completion zsh)
            compadd() { print -r -- "$@" "${(P@)@[-1]}"; }
            words=(mcp-client info '') CURRENT=3 PREFIX=d
            _mcp_client
            """#
        let outcome = try await ProgramRunner.run(
            try #require(Self.path(of: "zsh")), ["-f", "-c", script], environment: environment(folder))
        #expect(outcome.stdout.contains("-d full_notes -a full demo\n"), "\(outcome)")
    }

    @Test(.enabled(if: isWanted("fish"))) func fishProposesTheServers() async throws {
        let folder = try folder()
        let outcome = try await ProgramRunner.run(
            try #require(Self.path(of: "fish")),
            ["--no-config", "-c", "mcp-client completion fish | source; complete -C 'mcp-client info '"],
            environment: environment(folder))
        let names = outcome.stdout.split(separator: "\n").map { $0.split(separator: "\t")[0] }
        #expect(names.sorted() == ["demo", "hostile", "silent"], "\(outcome)")
    }
}
