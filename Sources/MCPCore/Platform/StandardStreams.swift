#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The process's standard input and output, taken away from everybody else.
///
/// A protocol on stdout is spoilt by one `print` of a handler, and one on stdin by a child that reads it. So
/// both are moved to private descriptors, and what is left at 0 and 1 is /dev/null and stderr.
package struct StandardStreams: ~Copyable, Sendable {
    let input: NonBlockingStream
    let output: NonBlockingStream

    /// Takes over 0 and 1. Once per process, before anything reads or prints.
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

    /// A socket as both.
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

    /// Opens 0, 1 and 2 on /dev/null where they are closed; call it before the first descriptor is opened.
    ///
    /// Otherwise the first socket would become stdout, and the next print would go into it. Standard output
    /// is opened for reading: a result that is written there is an error, and not lost without a word.
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
