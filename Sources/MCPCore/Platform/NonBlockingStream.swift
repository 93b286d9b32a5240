#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A byte stream that never makes its user wait, on a descriptor whose open file description may be shared
/// with other processes.
///
/// O_NONBLOCK belongs to the open file description, so setting it on an inherited pipe or terminal would
/// change it for the parent and for every other process that shares it. The technique used instead depends on
/// the kind of descriptor.
struct NonBlockingStream: ~Copyable, Sendable {
    enum Direction: Sendable { case read, write }

    enum Method: Sendable, Hashable {
        /// An open file description of our own, reopened through /proc/self/fd with O_NONBLOCK (pipes,
        /// terminals).
        case reopened
        /// A socket, which accepts MSG_DONTWAIT in each call.
        case socket
        /// A regular file, which never makes its user wait.
        case file
        /// poll before each call, and writes of at most PIPE_BUF bytes, which a ready pipe accepts whole.
        case polled
    }

    let method: Method
    private let descriptor: FileDescriptor

    /// Takes ownership of a descriptor.
    init(_ descriptor: consuming FileDescriptor, for direction: Direction) throws(IOError) {
        let kind = try Syscalls.status(descriptor.rawValue).st_mode & S_IFMT
        switch kind {
        case S_IFSOCK: method = .socket
        case S_IFREG: method = .file
        default:
            if let own = try Self.reopen(descriptor.rawValue, direction) {
                self.descriptor = own
                method = .reopened
                return
            }
            method = .polled
        }
        self.descriptor = descriptor
    }

    /// The descriptor's number, for registration with an event loop.
    var rawValue: Int32 { descriptor.rawValue }

    private static func reopen(_ fd: Int32, _ direction: Direction) throws(IOError) -> FileDescriptor? {
        #if os(Linux)
        // A named pipe whose writers have all closed it reports no hangup on a description opened afterwards.
        if direction == .read, try Syscalls.isReady(fd, 0) { return nil }
        let access = direction == .read ? O_RDONLY : O_WRONLY
        // Anything that cannot be reopened, such as a socket, is polled.
        return try? Syscalls.open("/proc/self/fd/\(fd)", access | O_NONBLOCK)
        #else
        return nil
        #endif
    }

    /// Reads what is available. Nil: nothing yet. 0: end of file.
    func readNonBlocking(into buffer: UnsafeMutableRawBufferPointer) throws(IOError) -> Int? {
        switch method {
        case .socket: return unsafe try Syscalls.receive(rawValue, into: buffer)
        case .reopened, .file: return unsafe try Syscalls.read(rawValue, into: buffer)
        case .polled:
            guard try Syscalls.isReady(rawValue, Int32(POLLIN)) else { return nil }
            return unsafe try Syscalls.read(rawValue, into: buffer)
        }
    }

    /// Writes as much as fits. Nil: nothing fits now. Fails with EPIPE when the reading end has been closed.
    func writeNonBlocking(_ bytes: UnsafeRawBufferPointer) throws(IOError) -> Int? {
        switch method {
        case .socket: return unsafe try Syscalls.send(rawValue, bytes)
        case .reopened, .file: return unsafe try Syscalls.write(rawValue, bytes)
        case .polled:
            guard try Syscalls.isReady(rawValue, Int32(POLLOUT)) else { return nil }
            let piece = unsafe UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.pipeAtom))
            return unsafe try Syscalls.write(rawValue, piece)
        }
    }

    #if os(Linux)
    /// PIPE_BUF: the number of bytes that a pipe accepts whole or not at all.
    static let pipeAtom = 4_096
    #else
    /// PIPE_BUF: the number of bytes that a pipe accepts whole or not at all.
    static let pipeAtom = 512
    #endif
}
