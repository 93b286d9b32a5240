package import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A directory that is removed with everything in it.
package final class TemporaryDirectory: Sendable {
    package let path: String

    package init() {
        let name = SystemRandom().bytes(8).map { String($0, radix: 16) }.joined()
        path = "/tmp/mcp-test-\(name)"
        precondition(unsafe mkdir(path, 0o700) == 0)
    }

    deinit { _ = try? ProcessRunner.run(ProcessLaunch("rm", ["-rf", path])) }

    package func write(_ name: String, _ text: String) throws(IOError) {
        try Files.replace("\(path)/\(name)", with: Array(text.utf8))
    }

    package func makeDirectory(_ name: String) { precondition(unsafe mkdir("\(path)/\(name)", 0o700) == 0) }

    package func link(_ name: String, to target: String) {
        precondition(unsafe symlink(target, "\(path)/\(name)") == 0)
    }
}
