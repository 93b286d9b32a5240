import MCPCore

/// `mcp-server audit verify`: finds the first line of an audit log that was changed, removed or inserted.
///
/// Several files, oldest first, are one chain, as log rotation leaves them.
struct VerifyCommand {
    /// The largest file that is read.
    static let maxBytes = 1 << 30

    let files: [String]

    func run() -> ExitCode {
        var head: String?
        for file in files {
            let bytes: [UInt8]
            do throws(IOError) {
                bytes = try Files.read(file, maxBytes: Self.maxBytes)
            } catch {
                Terminal.error(["mcp-server: \(file) cannot be read: \(error.reason)"])
                return .failure
            }
            var verifier = AuditChain.Verifier(after: head)
            for line in bytes.split(separator: 0x0A) where !verifier.add(line) { break }
            let report = verifier.report
            if let problem = report.problem {
                Terminal.out(["\(file):\(problem.line): \(problem.text)"])
                return .checkFailed
            }
            let start = report.first.map { $0 == AuditChain.start ? "" : ", after \($0)" } ?? ""
            Terminal.out([
                "\(file): ok (\(Diagnostics.counted(report.lines, "line"))\(start))", "last: \(report.last)",
            ])
            head = report.last
        }
        return .success
    }
}
