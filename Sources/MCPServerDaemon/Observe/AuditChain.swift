import MCPCore

/// The chain of an audit log: each line carries the SHA-256 digest of the line before it, in hexadecimal and
/// without its newline.
///
/// A line that is changed, removed, inserted or moved breaks the chain behind it. Lines missing at the end
/// cannot be noticed without the digest of the last line, which `mcp-server status` prints.
enum AuditChain {
    /// The digest in the first line of a new file.
    static let start = String(repeating: "0", count: 64)

    /// Returns lines with the member `prev`, and the digest of the last one.
    static func chain(_ lines: [UInt8], after head: String) -> (lines: [UInt8], head: String) {
        var result: [UInt8] = []
        let last = chain(lines, after: head, into: &result)
        return (result, last)
    }

    /// Appends lines with the member `prev` to `result`; returns the digest of the last one.
    static func chain(_ lines: [UInt8], after head: String, into result: inout [UInt8]) -> String {
        var head = Array(head.utf8)
        result.reserveCapacity(result.count + lines.count + lines.count / 3)
        unsafe lines.withUnsafeBytes { lines in
            var rest = unsafe lines[...]
            while unsafe !rest.isEmpty {
                let length =
                    unsafe rest.firstIndex(of: 0x0A).map { unsafe $0 - rest.startIndex } ?? rest.count
                let line = unsafe rest.prefix(length)
                unsafe rest = rest.dropFirst(length + 1)
                guard unsafe !line.isEmpty else { continue }
                let start = result.count
                unsafe result.append(contentsOf: UnsafeRawBufferPointer(rebasing: line.dropLast()))
                result.append(contentsOf: Self.opening)
                result.append(contentsOf: head)
                result.append(contentsOf: Self.closing)
                let digest = unsafe result.withUnsafeBytes { bytes in
                    unsafe SHA256.hash(bytes: UnsafeRawBufferPointer(rebasing: bytes[start...]))
                }
                head.removeAll(keepingCapacity: true)
                digest.appendHex(to: &head)
                result.append(0x0A)
            }
        }
        return String(decoding: head, as: UTF8.self)
    }

    private static let opening = Array(",\"prev\":\"".utf8)
    private static let closing = Array("\"}".utf8)

    static func digest(_ line: some Collection<UInt8>) -> String {
        var digits: [UInt8] = []
        SHA256.hash(line).appendHex(to: &digits)
        return String(decoding: digits, as: UTF8.self)
    }

    /// Returns the digest of the last line of a file, complete or not; nil for an empty file.
    static func head(of path: String) throws(IOError) -> String? {
        var tail = try AppendingFile.tail(of: path, maxBytes: AuditLog.tailBytes)[...]
        if tail.last == 0x0A { tail = tail.dropLast() }
        guard !tail.isEmpty else { return nil }
        let line = tail.lastIndex(of: 0x0A).map { tail[($0 + 1)...] } ?? tail
        return digest(line)
    }

    /// The first line that does not fit, and why.
    struct Break: Sendable, Hashable {
        var line: Int
        var text: String
    }

    /// The outcome of a verification.
    struct Report: Sendable, Hashable {
        var lines = 0
        /// The digest that the first line carries: that of the last line of the file before.
        var first: String?
        /// The digest of the last line.
        var last = AuditChain.start
        var problem: Break?
        /// The lines that are no JSON, and end a part of the chain all the same.
        var incomplete: [Int] = []
        /// Whether any line is one of a chain.
        var isLog: Bool { lines - incomplete.count > (problem == nil ? 0 : 1) }
    }

    /// Verifies lines one after another.
    struct Verifier {
        private(set) var report = Report()
        private var isFirst = true

        /// - Parameter head: the digest that the first line has to carry; nil for any.
        init(after head: String? = nil) {
            if let head { (report.last, isFirst) = (head, false) }
        }

        /// Returns false once the chain is broken.
        mutating func add(_ line: some Collection<UInt8>) -> Bool {
            report.lines += 1
            guard let json = try? JSONValue(parsing: Array(line)) else {
                // The line behind it carries its digest: the writer continues with what is in the file.
                report.incomplete.append(report.lines)
                report.last = AuditChain.digest(line)
                isFirst = false
                return true
            }
            guard case .string(let previous)? = json["prev"] else {
                return fail("no \"prev\": not a line of a chained audit log")
            }
            if isFirst {
                report.first = previous
                isFirst = false
            } else if previous != report.last {
                let isNew = previous == AuditChain.start && report.lines == 1
                return fail(
                    isNew
                        ? "begins a new chain: the server was started with an empty file"
                        : "does not fit the line before: one of them was changed, removed or inserted")
            }
            report.last = AuditChain.digest(line)
            return true
        }

        /// Ends the verification of a file: one without a whole line is none.
        mutating func end() {
            if report.problem == nil, report.lines > 0, report.lines == report.incomplete.count {
                _ = fail("not a line of a chained audit log, and neither is any other line of the file")
            }
        }

        private mutating func fail(_ text: String) -> Bool {
            report.problem = Break(line: report.lines, text: text)
            return false
        }
    }
}
