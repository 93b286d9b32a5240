#if os(Linux)
import CMCPSystem
#endif
#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The operating system's random number generator, suitable for tokens and session ids.
package struct SystemRandom {
    /// Creates a generator.
    package init() {}

    /// Returns `count` random bytes.
    package func bytes(_ count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            unsafe Self.fill(UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count))
            initialized = count
        }
    }

    private static func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        #if os(Linux)
        var filled = 0
        while filled < buffer.count, let base = buffer.baseAddress {
            let count = unsafe getrandom(base + filled, buffer.count - filled, 0)
            // Without randomness no token may be issued. EINTR is the only failure that getrandom has with
            // these arguments; any other means a broken system.
            precondition(count > 0 || currentErrno() == EINTR, "getrandom failed")
            filled += max(count, 0)
        }
        #else
        if let base = buffer.baseAddress { unsafe arc4random_buf(base, buffer.count) }
        #endif
    }
}
