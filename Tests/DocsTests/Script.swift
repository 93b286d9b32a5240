import MCPCore

/// Runs the scripts of this repository, and what tests of them need.
enum Script {
    struct Failure: Error { let output: String }

    /// Returns the standard output of a command that succeeds.
    ///
    /// - Throws: `Failure` with its standard error.
    @discardableResult
    static func run(_ command: [String]) throws -> String {
        let result = try outcome(command)
        guard result.code == 0 else { throw Failure(output: result.errors) }
        return result.output
    }

    /// Returns the standard output of lines for a shell that succeed. The first argument is `$0`.
    @discardableResult
    static func shell(_ lines: String, _ arguments: String...) throws -> String {
        try run(["sh", "-euc", lines] + arguments)
    }

    static func outcome(_ command: [String]) throws -> (code: Int32, output: String, errors: String) {
        let limits = ProcessRunner.Limits(timeout: .seconds(300), maxOutputBytes: 1 << 20)
        let result = try ProcessRunner.run(
            ProcessLaunch(command[0], Array(command.dropFirst())), limits: limits)
        let errors = String(decoding: result.errors, as: UTF8.self)
        guard case .exited(let code) = result.status else { throw Failure(output: errors) }
        return (code, String(decoding: result.output, as: UTF8.self), errors)
    }

    /// The files below a folder, relative to it, sorted.
    static func files(_ folder: String) throws -> [String] {
        try run(["find", folder, "-type", "f"]).split(separator: "\n")
            .map { String($0.dropFirst(folder.utf8.count + 1)) }.sorted()
    }

    static func text(_ path: String) throws -> String {
        String(decoding: try Files.read(path, maxBytes: 1 << 20), as: UTF8.self)
    }
}
