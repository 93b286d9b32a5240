@testable import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The program under test: it lies beside the test binary.
enum ServerProgram {
    static let path: String = {
        #if os(Linux)
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes -> Int in
            guard let base = bytes.baseAddress else { return 0 }
            return unsafe readlink("/proc/self/exe", base.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        let tests = String(decoding: buffer[..<max(0, count)], as: UTF8.self)
        #else
        // The bundle lies in the folder of the products: X.xctest/Contents/MacOS/X.
        let tests = CommandLine.arguments[0].components(before: ".xctest")
        #endif
        return String(tests[..<(tests.lastIndex(of: "/") ?? tests.startIndex)]) + "/mcp-server"
    }()

    static func launch(_ arguments: [String]) -> ProcessLaunch {
        ProcessLaunch(path, arguments, environment: ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"])
    }

    /// Memory of a process in KiB: `VmRSS` is what it has now, `VmHWM` the most it ever had. Nil where there
    /// is no `/proc`.
    static func memory(of pid: Int32, _ field: String) -> Int? {
        guard let file = try? Syscalls.open("/proc/\(pid)/status", O_RDONLY) else { return nil }
        var text = ByteBuffer()
        _ = unsafe try? text.take { (room) throws(IOError) in
            unsafe try Syscalls.read(file.rawValue, into: room)
        }
        let lines = String(decoding: text.freeze(), as: UTF8.self).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix(field + ":") }) else { return nil }
        return Int(line.filter(\.isNumber))
    }

    /// How many descriptors a process has. Nil where there is no `/proc`.
    static func descriptorCount(of pid: Int32) -> Int? {
        guard let directory = unsafe opendir("/proc/\(pid)/fd") else { return nil }
        defer { unsafe closedir(directory) }
        var count = 0
        while unsafe readdir(directory) != nil { count += 1 }
        return count - 2
    }
}

#if !os(Linux)
extension String {
    fileprivate func components(before suffix: String) -> String {
        var path = self
        while !path.isEmpty, !path.hasSuffix(suffix) { path.removeLast() }
        return path
    }
}
#endif
