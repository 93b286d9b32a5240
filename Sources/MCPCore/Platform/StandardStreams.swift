#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The process's standard input and output, reserved for the protocol.
///
/// A single `print` in a handler would corrupt a protocol on stdout, and a child that reads stdin would
/// corrupt a protocol on stdin. Both streams are therefore moved to private descriptors, and 0 and 1 become
/// /dev/null and stderr.
package struct StandardStreams: ~Copyable, Sendable {
    let input: NonBlockingStream
    let output: NonBlockingStream

    /// Takes over 0 and 1. Call it once per process, before anything reads or prints.
    static func capture() throws(IOError) -> StandardStreams { try capture(input: 0, output: 1, errors: 2) }

    static func capture(input: Int32, output: Int32, errors: Int32) throws(IOError) -> StandardStreams {
        try openMissing([input, output, errors])
        let first = FileDescriptor(owning: try Syscalls.duplicate(input, atLeast: 3))
        let second = FileDescriptor(owning: try Syscalls.duplicate(output, atLeast: 3))
        let streams = StandardStreams(
            input: try NonBlockingStream(first, for: .read),
            output: try NonBlockingStream(second, for: .write))
        let null = try Syscalls.open("/dev/null", O_RDWR)
        try Syscalls.duplicate(null.rawValue, onto: input)
        try Syscalls.duplicate(errors, onto: output)
        return streams
    }

    /// Uses a socket as both streams.
    static func socket(_ descriptor: consuming FileDescriptor) throws(IOError) -> StandardStreams {
        let second = try descriptor.duplicate()
        return StandardStreams(
            input: try NonBlockingStream(descriptor, for: .read),
            output: try NonBlockingStream(second, for: .write))
    }

    private init(input: consuming NonBlockingStream, output: consuming NonBlockingStream) {
        self.input = input
        self.output = output
    }

    /// Opens 0, 1 and 2 on /dev/null if they are closed; call it before the first descriptor is opened.
    ///
    /// Otherwise the first socket would become stdout, and the next print would be sent over it. Standard
    /// output is opened for reading, so that writing a result there is an error instead of being silently
    /// lost.
    package static func openMissing(_ descriptors: [Int32] = [0, 1, 2]) throws(IOError) {
        for target in descriptors where fcntl(target, F_GETFD) < 0 {
            let null = try Syscalls.open("/dev/null", target == 1 ? O_RDONLY : O_RDWR)
            if null.rawValue == target {
                try Syscalls.require("fcntl", on: target) { Int(fcntl(target, F_SETFD, 0)) }
                _ = null.release()
            } else {
                try Syscalls.duplicate(null.rawValue, onto: target)
            }
        }
    }
}
