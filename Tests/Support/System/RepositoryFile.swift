import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Files of this repository, for tests that compare them with the code.
package enum RepositoryFile {
    /// The folder that holds Package.swift.
    package static let root = String(
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/"))

    /// The text of a file.
    ///
    /// - Parameter path: relative to the repository.
    package static func text(_ path: String) throws -> String {
        String(decoding: try Files.read("\(root)/\(path)", maxBytes: 16 << 20), as: UTF8.self)
    }

    /// The Swift files below a folder, relative to it, sorted.
    package static func swiftFiles(below folder: String) throws -> [String] {
        let list = ProcessLaunch("find", [".", "-name", "*.swift"], directory: "\(root)/\(folder)")
        let output = String(decoding: try ProcessRunner.run(list).output, as: UTF8.self)
        return output.split(separator: "\n").map { String($0.dropFirst(2)) }.sorted()
    }

    /// Compares a generated page with the committed one, which `make docs` writes.
    package static func isUpToDate(_ path: String, _ text: String) throws -> Bool {
        if unsafe getenv("MCP_WRITE_DOCS") != nil {
            try Files.replace("\(root)/\(path)", with: Array(text.utf8))
        }
        return (try? self.text(path)) == text
    }
}

extension StringProtocol {
    /// The text without blanks at its ends.
    package func trimmingBlanks() -> String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let start = drop(while: isBlank)
        return String(
            start[..<(start.lastIndex { !isBlank($0) }.map(start.index(after:)) ?? start.startIndex)])
    }
}
