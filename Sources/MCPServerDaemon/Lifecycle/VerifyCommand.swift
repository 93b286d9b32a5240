import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// `mcp-server audit verify`: finds the first line of an audit log that was changed, removed or inserted.
///
/// A line that was being written when the server was killed, or the disk was full, is incomplete; the chain
/// continues behind it.
/// Several files, oldest first, are one chain, as log rotation leaves them.
struct VerifyCommand {
    /// The largest file that is read.
    static let maxBytes = 1 << 30

    /// The first bytes of compressed files, and what decompresses them.
    private static let compressions: [(start: [UInt8], tool: String)] = [
        ([0x1F, 0x8B], "gunzip --keep"), ([0x28, 0xB5, 0x2F, 0xFD], "unzstd"),
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A], "unxz --keep"), ([0x42, 0x5A, 0x68], "bunzip2 --keep"),
    ]

    let files: [String]

    private static func compression(of bytes: [UInt8]) -> String? {
        compressions.first { bytes.starts(with: $0.start) }?.tool
    }

    func run() -> ExitCode {
        var head: String?
        var earlier: [(file: String, first: String?)] = []
        for file in files {
            let bytes: [UInt8]
            do throws(IOError) {
                bytes = try Files.read(file, maxBytes: Self.maxBytes)
            } catch {
                // A device, a pipe, a socket.
                let reason = error.errno == EINVAL ? "it is not a regular file" : error.reason
                Terminal.error(["mcp-server: \(file) cannot be read: \(reason)"])
                return .failure
            }
            if let tool = Self.compression(of: bytes) {
                Terminal.error([
                    "mcp-server: \(file) is compressed, and only plain files are verified",
                    "hint: decompress it first, for example with \(tool)",
                ])
                return .failure
            }
            let report = Self.report(bytes, after: head)
            // Report only the first problem of a file that is not a log.
            if report.isLog { Terminal.out(Self.incomplete(report.incomplete, of: file)) }
            if let problem = report.problem {
                Terminal.out(["\(file):\(problem.line): \(problem.text)"])
                if problem.line == 1, head != nil {
                    // The chain may be whole, and the files in another order.
                    let last = Self.report(bytes, after: nil).last
                    let next = earlier.first { $0.first == last }?.file
                    Terminal.out(["hint: " + Self.hint(file, next)])
                }
                return .checkFailed
            }
            let start = report.first.map { $0 == AuditChain.start ? "" : ", after \($0)" } ?? ""
            let cut = report.incomplete.isEmpty ? "" : ", \(report.incomplete.count) of them incomplete"
            Terminal.out([
                "\(file): ok (\(Diagnostics.counted(report.lines, "line"))\(cut)\(start))",
                "last: \(report.last)",
            ])
            head = report.last
            earlier.append((file, report.first))
        }
        return .success
    }

    private static func report(_ bytes: [UInt8], after head: String?) -> AuditChain.Report {
        var verifier = AuditChain.Verifier(after: head)
        for line in bytes.split(separator: 0x0A) where !verifier.add(line) { break }
        verifier.end()
        return verifier.report
    }

    /// - Parameter next: the file that continues this one, and was named before it.
    private static func hint(_ file: String, _ next: String?) -> String {
        next.map { "\($0) continues \(file): name the files in their order, oldest first" }
            ?? "the files may be in another order, or one is left out: name all of them, oldest first"
    }

    /// The most incomplete lines of a file that are named.
    private static let maxNamed = 100

    private static func incomplete(_ lines: [Int], of file: String) -> [String] {
        lines.prefix(maxNamed).map {
            "\(file):\($0): incomplete: the disk was full, the server was killed, or the line was cut"
        }
    }
}
