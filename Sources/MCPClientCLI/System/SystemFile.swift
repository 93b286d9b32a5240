import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The few file operations that a command-line program needs.
enum SystemFile {
    /// Larger files and streams are refused: no message can carry them.
    static let maxBytes = 256 << 20
    /// Larger files with a secret are refused: what is sent in a header or signed with is much shorter.
    static let maxSecretBytes = 1 << 20

    /// The id of this process.
    static var processID: Int32 { getpid() }

    /// Whether a descriptor is a terminal.
    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Returns the bytes of a file, or of a pipe that this process was started with.
    ///
    /// Another pipe is refused: nobody may ever write to it.
    static func read(_ path: String, atMost limit: Int = maxBytes) throws(Failure) -> [UInt8] {
        // Opening a pipe would otherwise wait for a writer.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0 {
            throw .usage("cannot read \(inlineText(path)): \(text(errno))")
        }
        defer { close(descriptor) }
        if !Files.isInherited(path), isPipe(descriptor) {
            throw .usage(
                "cannot read \(inlineText(path)): \(Files.pipeReason)",
                hint: "name a file, or a pipe that the shell opens, as <(COMMAND) does")
        }
        return try readAll(descriptor, name: inlineText(path), atMost: limit)
    }

    /// Whether the path leads to a named pipe.
    static func isNamedPipe(_ path: String) -> Bool {
        var info = stat()
        return unsafe stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFIFO
    }

    /// Returns why a file cannot be read: what it is, where the system's word would not say it.
    static func reason(_ error: IOError, _ path: String) -> String {
        isNamedPipe(path) ? Files.pipeReason : error.reason
    }

    /// Whether two paths lead to one regular file, or to one place where there is nothing yet.
    static func isSame(_ path: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        switch unsafe (stat(path, &first) == 0, stat(other, &second) == 0) {
        case (true, true): return isSame(first, second)
        case (false, false): return isSamePlace(path, other)
        case (true, false), (false, true): return false
        }
    }

    /// Whether a new file of one path is one of the other: the same name in the same directory, behind links.
    private static func isSamePlace(_ path: String, _ other: String) -> Bool {
        guard let path = try? OutputFile.destination(of: path),
            let other = try? OutputFile.destination(of: other)
        else { return false }
        let (folder, otherFolder) = (OutputFile.folder(of: path), OutputFile.folder(of: other))
        var (first, second) = (stat(), stat())
        // Two spellings of one letter are two names.
        let name = Files.components(path).last ?? ""
        guard name.utf8.elementsEqual((Files.components(other).last ?? "").utf8),
            unsafe stat(folder, &first) == 0, unsafe stat(otherFolder, &second) == 0
        else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// Whether the path leads to the regular file that is the standard input.
    static func isInput(_ path: String) -> Bool {
        var (first, second) = (stat(), stat())
        return unsafe stat(path, &first) == 0 && fstat(0, &second) == 0 && isSame(first, second)
    }

    /// Whether a path leads to one of these files, or to the standard input.
    static func isInput(_ path: String, or files: [String]) -> Bool {
        isInput(path) || files.contains { isSame($0, path) }
    }

    private static func isSame(_ first: stat, _ second: stat) -> Bool {
        first.st_mode & S_IFMT == S_IFREG && first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    private static func isPipe(_ descriptor: Int32) -> Bool {
        var info = stat()
        return unsafe fstat(descriptor, &info) == 0 && info.st_mode & S_IFMT == S_IFIFO
    }

    /// Returns the bytes of a descriptor to its end. Waiting for them ends when the task is cancelled.
    static func readAll(
        _ descriptor: Int32, name: String, atMost limit: Int = maxBytes
    ) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            // A regular file is always readable.
            while !waitUntilReadable(descriptor, milliseconds: 50) {
                if Task.isCancelled { throw StopReason.interrupted }
            }
            if !TerminalMode.waitForForeground(descriptor, unless: { Task.isCancelled }), Task.isCancelled {
                throw StopReason.interrupted
            }
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe Self.readOnce(descriptor, buffer.baseAddress, buffer.count)
            }
            if count == 0 { return bytes }
            guard count > 0 else {
                if errno == EINTR || errno == EAGAIN { continue }
                throw .usage("cannot read \(name): \(text(errno))")
            }
            bytes += chunk[..<count]
            if bytes.count > limit { throw .usage("\(name) is larger than \(limit >> 20) MiB") }
        }
    }

    /// Returns what can be read now, at most 64 KiB; empty at the end, nil after a failure.
    static func readSome(_ descriptor: Int32) -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe Self.readOnce(descriptor, buffer.baseAddress, buffer.count)
            }
            if count >= 0 { return Array(chunk[..<count]) }
            if errno == EAGAIN {
                _ = waitUntilReadable(descriptor, milliseconds: 100)
            } else if errno != EINTR {
                return nil
            }
        }
    }

    /// Returns the first bytes of a regular file, at most 64 KiB; nil for anything else.
    static func start(of path: String) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0 { return nil }
        defer { close(descriptor) }
        return isRegular(descriptor) ? readSome(descriptor) : nil
    }

    static func closeDescriptor(_ descriptor: Int32) { close(descriptor) }

    private static func readOnce(_ descriptor: Int32, _ start: UnsafeMutableRawPointer?, _ count: Int) -> Int
    {
        #if canImport(Darwin)
        unsafe Darwin.read(descriptor, start, count)
        #elseif canImport(Musl)
        unsafe Musl.read(descriptor, start, count)
        #else
        unsafe Glibc.read(descriptor, start, count)
        #endif
    }

    /// Writes all bytes; returns the errno of a failure, or nil.
    static func writeAll(_ descriptor: Int32, _ bytes: [UInt8]) -> Int32? {
        var offset = 0
        while offset < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[offset...])
                return unsafe writeOnce(descriptor, rest.baseAddress, rest.count)
            }
            if count >= 0 {
                offset += count
                continue
            }
            if errno == EAGAIN {
                waitUntilWritable(descriptor)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }

    private static func writeOnce(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Darwin)
        unsafe Darwin.write(descriptor, start, count)
        #elseif canImport(Musl)
        unsafe Musl.write(descriptor, start, count)
        #else
        unsafe Glibc.write(descriptor, start, count)
        #endif
    }

    private static func waitUntilWritable(_ descriptor: Int32) {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        // The result does not matter: the next write reports any failure.
        _ = unsafe poll(&request, 1, 1000)
    }

    /// Waits for bytes or the end; returns false after `milliseconds`.
    static func waitUntilReadable(_ descriptor: Int32, milliseconds: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let count = unsafe poll(&request, 1, milliseconds)
        // A signal is not input; any other failure is reported by the read.
        return count > 0 || count < 0 && errno != EINTR
    }

    /// Whether a descriptor is a regular file.
    static func isRegular(_ descriptor: Int32) -> Bool {
        var info = stat()
        return unsafe fstat(descriptor, &info) == 0 && info.st_mode & S_IFMT == S_IFREG
    }

    /// The permission bits of a regular file; nil for anything else.
    static func permissions(_ path: String) -> UInt32? {
        var info = stat()
        guard unsafe stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
        return UInt32(info.st_mode) & 0o7777
    }

    /// Whether there is a socket at the path.
    static func isSocket(_ path: String) -> Bool {
        var info = stat()
        return unsafe stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFSOCK
    }

    /// Whether something is at the path.
    static func exists(_ path: String) -> Bool {
        var info = stat()
        return unsafe lstat(path, &info) == 0
    }

    /// Whether the path leads to a directory.
    static func isDirectory(_ path: String) -> Bool {
        var info = stat()
        return unsafe stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether the path leads to a file that can be run.
    static func isExecutable(_ path: String) -> Bool {
        var info = stat()
        guard unsafe stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return false }
        return unsafe access(path, X_OK) == 0
    }

    /// Creates a directory and those above it. What fails is reported by what is done in it.
    static func makeDirectories(_ path: String) {
        var made = ""
        for component in path.split(separator: "/") {
            made += "/" + component
            _ = unsafe mkdir(made, 0o700)
        }
    }

    /// Whether a descriptor is a shell pipe or a file.
    ///
    /// A socket does not count: programs that start others leave one open as stdin and never close it.
    static func isPipeOrFile(_ descriptor: Int32) -> Bool {
        var info = stat()
        guard unsafe fstat(descriptor, &info) == 0 else { return false }
        let kind = info.st_mode & S_IFMT
        return kind == S_IFIFO || kind == S_IFREG
    }

    static func text(_ code: Int32) -> String {
        guard let message = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: message)
    }

    /// Returns a variable of the environment; nil when it is not set.
    static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }
}
