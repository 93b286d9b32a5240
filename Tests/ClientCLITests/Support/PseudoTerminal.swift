import Foundation
import TestSupport

/// A program at a terminal of its own, which a test reads and types into.
final class PseudoTerminal: @unchecked Sendable {
    struct Problem: Error, CustomStringConvertible { let description: String }

    private let primary: Int32
    private let pid: pid_t
    private var output: [UInt8] = []
    /// Reading blocks; the threads of the global queue are few, and others need them.
    private let reads = DispatchQueue(label: "mcp.test.terminal")

    /// Starts the program.
    init(
        _ program: String, _ words: [String], environment: [String: String] = [:], columns: UInt16 = 80
    ) throws {
        var (primary, secondary): (Int32, Int32) = (-1, -1)
        var name = [CChar](repeating: 0, count: 128)
        // Rows, columns, and the size in pixels.
        var size: [UInt16] = [24, columns, 0, 0]
        let code = unsafe size.withUnsafeMutableBytes { bytes in
            unsafe openpty(
                &primary, &secondary, &name, nil, bytes.baseAddress?.assumingMemoryBound(to: winsize.self))
        }
        guard code == 0 else {
            throw Problem(description: "no pseudo-terminal: errno \(errno)")
        }
        // The program has the other side alone: its end is then seen here.
        close(secondary)
        _ = fcntl(primary, F_SETFD, FD_CLOEXEC)
        let path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        // The first terminal that the leader of a session opens becomes its own.
        unsafe posix_spawn_file_actions_addopen(&actions, 0, path, O_RDWR, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, 0, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, 0, 2)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        #if os(Linux)
        let newSession: Int16 = 0x80
        #else
        let newSession: Int16 = 0x0400
        #endif
        unsafe posix_spawnattr_setflags(&attributes, newSession)
        let variables = ["PATH": "\(ProgramRunner.folder):/usr/bin:/bin", "TERM": "xterm"]
        let all = variables.merging(environment) { $1 }.map { "\($0)=\($1)" }
        var argv: [UnsafeMutablePointer<CChar>?] =
            unsafe ([program] + words).map { unsafe strdup($0) } + [nil]
        var envp: [UnsafeMutablePointer<CChar>?] = unsafe all.map { unsafe strdup($0) } + [nil]
        var pid: pid_t = 0
        let failure = unsafe posix_spawn(&pid, program, &actions, &attributes, &argv, &envp)
        unsafe argv.forEach { unsafe free($0) }
        unsafe envp.forEach { unsafe free($0) }
        unsafe posix_spawn_file_actions_destroy(&actions)
        unsafe posix_spawnattr_destroy(&attributes)
        guard failure == 0 else {
            close(primary)
            throw Problem(description: "\(program) did not start: errno \(failure)")
        }
        (self.primary, self.pid) = (primary, pid)
    }

    deinit { close(primary) }

    /// Starts a shell, and returns it with the place behind its first prompt, `ready> `.
    static func shell(
        in home: TemporaryDirectory, _ variables: [String: String] = [:]
    ) async throws -> (PseudoTerminal, Int) {
        let environment = ["HOME": home.path, "NO_COLOR": "1", "PS1": "ready> ", "ENV": ""]
        let terminal = try PseudoTerminal(
            "/bin/sh", ["-i"], environment: environment.merging(variables) { $1 })
        return (terminal, try await terminal.wait(for: "ready> "))
    }

    /// What was shown so far.
    var text: String { String(decoding: output, as: UTF8.self) }

    func type(_ text: String) {
        var bytes = Array(text.utf8)
        _ = unsafe write(primary, &bytes, bytes.count)
    }

    /// Waits until the output after `mark` contains a text, and returns where that ends.
    @discardableResult
    func wait(for wanted: String, after mark: Int = 0, seconds: Int = 40) async throws -> Int {
        let end = ContinuousClock.now + .seconds(seconds)
        let bytes = Array(wanted.utf8)
        while true {
            if let found = output.dropFirst(mark).firstRange(of: bytes) { return found.upperBound }
            guard ContinuousClock.now < end, await readMore() else {
                throw Problem(description: "no \(wanted.debugDescription) in \(text.debugDescription)")
            }
        }
    }

    /// Waits until the program has ended, and returns its exit status.
    func end(seconds: Int = 40) async throws -> Int32 {
        let limit = ContinuousClock.now + .seconds(seconds)
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, WNOHANG) == 0 {
            if ContinuousClock.now > limit {
                kill(pid, SIGKILL)
                unsafe waitpid(pid, &status, 0)
                throw Problem(description: "it did not end: \(text.debugDescription)")
            }
            _ = await readMore(milliseconds: 20)
        }
        while await readMore(milliseconds: 0) {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    func signal(_ number: Int32) { kill(pid, number) }

    /// Stops the program, and gives the terminal the mode in which a shell would use it.
    func stop() {
        var status: Int32 = 0
        kill(pid, SIGSTOP)
        unsafe waitpid(pid, &status, WUNTRACED)
        var mode = termios()
        guard unsafe tcgetattr(primary, &mode) == 0 else { return }
        mode.c_lflag |= tcflag_t(ECHO | ICANON | ISIG)
        mode.c_iflag |= tcflag_t(ICRNL)
        _ = unsafe tcsetattr(primary, TCSANOW, &mode)
    }

    /// Whether keys are echoed, as they are when nothing has changed the terminal.
    var echoes: Bool {
        var mode = termios()
        return unsafe tcgetattr(primary, &mode) == 0 && mode.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Reads what is there within a time; false at the end.
    private func readMore(milliseconds: Int32 = 1_000) async -> Bool {
        let (primary, reads) = (primary, reads)
        let bytes: [UInt8]? = await withCheckedContinuation { continuation in
            reads.async {
                var request = pollfd(fd: primary, events: Int16(POLLIN), revents: 0)
                guard uninterrupted({ Int(unsafe poll(&request, 1, milliseconds)) }) > 0 else {
                    return continuation.resume(returning: milliseconds == 0 ? nil : [])
                }
                var chunk = [UInt8](repeating: 0, count: 4_096)
                let count = unsafe read(primary, &chunk, chunk.count)
                continuation.resume(returning: count > 0 ? Array(chunk[..<count]) : nil)
            }
        }
        guard let bytes else { return false }
        output += bytes
        return true
    }
}
