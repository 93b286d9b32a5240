import MCPCore
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Lines for people and scripts on the standard streams.
enum Terminal {
    /// Whether output was lost, for example because the disk is full. The loss is reported once.
    static var hasLostOutput: Bool { lost.load(ordering: .relaxed) }

    private static let lost = Atomic<Bool>(false)

    static func out(_ lines: [String]) { write(lines, to: STDOUT_FILENO) }

    static func error(_ lines: [String]) { write(lines, to: STDERR_FILENO) }

    /// Writes a text as it is to standard output.
    static func write(_ text: String) {
        write(text.hasSuffix("\n") ? [String(text.dropLast())] : [text], to: STDOUT_FILENO)
    }

    static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether standard input comes from a program: a pipe or a socket, not a terminal, a file or /dev/null.
    static var inputIsPipe: Bool {
        var status = stat()
        guard unsafe fstat(STDIN_FILENO, &status) == 0 else { return false }
        let kind = status.st_mode & S_IFMT
        return kind == S_IFIFO || kind == S_IFSOCK
    }

    private static func write(_ lines: [String], to descriptor: Int32) {
        var bytes = Array(lines.map { $0 + "\n" }.joined().utf8)[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe systemWrite(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return loseOutput(IOError(errno: errno, function: "write"), descriptor) }
            bytes = bytes.dropFirst(count)
        }
    }

    private static func loseOutput(_ error: IOError, _ descriptor: Int32) {
        // A reader that is gone wants no more, as with `mcp-server schema | head`.
        guard descriptor == STDOUT_FILENO, error.errno != EPIPE,
            !lost.exchange(true, ordering: .relaxed)
        else { return }
        self.error(["mcp-server: cannot write to stdout: \(error.reason)"])
    }

    /// Calls `write` of the C library, which the method above hides.
    private static func systemWrite(_ descriptor: Int32, _ base: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Darwin)
        unsafe Darwin.write(descriptor, base, count)
        #elseif canImport(Musl)
        unsafe Musl.write(descriptor, base, count)
        #else
        unsafe Glibc.write(descriptor, base, count)
        #endif
    }
}
