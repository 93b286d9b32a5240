#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A program of this package: it lies beside the test binary.
package enum BuiltProgram {
    package static func path(_ program: String) -> String {
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
        return String(tests[..<(tests.lastIndex(of: "/") ?? tests.startIndex)]) + "/" + program
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
