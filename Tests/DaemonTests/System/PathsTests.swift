import Testing

@testable import MCPServerDaemon

/// What is said about paths.
@Suite struct PathsTests {
    /// A variable that is not set is no directory that is missing.
    @Test func variablesThatNameNoDirectory() throws {
        let directory = try TemporaryDirectory()
        try directory.write("file", "")
        for (value, text) in [
            (nil, " is not set"), ("", " is not set"), ("run", " is not an absolute path: run"),
            ("\(directory.path)/none", ": \(directory.path)/none does not exist"),
            ("\(directory.path)/file", ": \(directory.path)/file is not a directory"),
        ] {
            let environment = value.map { ["DIR": $0] } ?? [:]
            #expect(Paths.problem(ofVariable: "DIR", environment) == "DIR\(text)")
        }
    }
}
