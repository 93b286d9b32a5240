import Testing

/// What a server reports before the connection is open.
@Suite(.timeLimit(.minutes(5))) struct EarlyLogTests {
    @Test func isShownOnlyWithV() async throws {
        let early =
            #"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"early"}}"#
        let words = ShellServer.words(
            call: #"answer '{"resultType":"complete","content":[{"type":"text","text":"done"}]}'"#,
            start: "printf '%s\\n' '\(early)'")
        let quiet = try await ProgramRunner.run(ProgramRunner.client, ["call", "t", "--"] + words)
        #expect(quiet.code == 0 && quiet.stdout == "done\n" && quiet.stderr.isEmpty, "\(quiet.stderr)")
        let verbose = try await ProgramRunner.run(ProgramRunner.client, ["-v", "call", "t", "--"] + words)
        #expect(verbose.stderr.contains("< notifications/message"), "\(verbose.stderr)")
    }
}
