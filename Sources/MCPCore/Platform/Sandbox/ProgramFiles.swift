#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The files that the system executes when a program starts: the program, the interpreters of a script, and
/// their loaders.
package enum ProgramFiles {
    /// The number of interpreters in a row that Linux accepts.
    private static let maxDepth = 5
    /// The bytes of a file that are examined: more than Linux reads of a script, and enough for the headers
    /// of a program.
    private static let headBytes = 4_096

    /// Returns the files for a program at a path, itself first; those that cannot be read are left out.
    ///
    /// - Parameter searchPath: PATH, in which `#!/usr/bin/env python3` finds its program.
    package static func paths(of program: String, searchPath: String) -> [String] {
        var paths = [program]
        var next = program
        for _ in 0 ..< maxDepth {
            guard let head = head(of: next) else { break }
            if let loader = loader(head) {
                paths.append(loader)
                break
            }
            guard let words = interpreter(head), let path = words.first else { break }
            paths.append(path)
            next = path
            // env is a program that starts another one.
            if path.hasSuffix("/env"), let name = words.dropFirst().first(where: isProgramName),
                let found = try? ProcessLaunch(name, environment: ["PATH": searchPath]).resolvedProgram()
            {
                paths += self.head(of: path).flatMap(loader).map { [$0] } ?? []
                paths.append(found)
                next = found
            }
        }
        return paths
    }

    /// Whether a word of env's is neither an option nor a variable.
    private static func isProgramName(_ word: String) -> Bool {
        !word.hasPrefix("-") && !word.utf8.contains(UInt8(ascii: "="))
    }

    private static func head(of path: String) -> [UInt8]? {
        // What cannot be read names no other file; executing it says why.
        guard let file = try? Syscalls.open(path, O_RDONLY | O_NONBLOCK) else { return nil }
        var bytes = [UInt8](repeating: 0, count: headBytes)
        let fd = file.rawValue
        // A directory, for example.
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe (try? Syscalls.pread(fd, into: $0, at: 0)) }
        return Array(bytes.prefix(count ?? 0))
    }

    /// Returns the words of a script's first line after `#!`.
    private static func interpreter(_ head: [UInt8]) -> [String]? {
        guard head.starts(with: Array("#!".utf8)) else { return nil }
        let line = head.dropFirst(2).prefix { $0 != 0x0A && $0 != 0x0D && $0 != 0 }
        return line.split { $0 == 0x20 || $0 == 0x09 }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the loader that an ELF program names (PT_INTERP): 64 bits, little-endian.
    private static func loader(_ head: [UInt8]) -> String? {
        guard head.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]) else { return nil }
        let (offset, size, count) = (number(head, 32, 8), number(head, 54, 2), number(head, 56, 2))
        guard let offset, let size, let count, size >= 56, count <= 128 else { return nil }
        for index in 0 ..< count {
            let entry = offset &+ index &* size
            guard number(head, entry, 4) == 3, let start = number(head, entry &+ 8, 8),
                let length = number(head, entry &+ 32, 8), length <= headBytes, start <= headBytes,
                start + length <= head.count
            else { continue }
            let path = head[start ..< start + length].prefix { $0 != 0 }
            return String(decoding: path, as: UTF8.self)
        }
        return nil
    }

    private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int? {
        guard start >= 0, start <= bytes.count - count else { return nil }
        let value = bytes[start ..< start + count].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(exactly: value)
    }
}
