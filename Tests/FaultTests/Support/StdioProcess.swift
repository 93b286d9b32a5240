import Dispatch
import MCPCore
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// `mcp-server --demo --stdio` as a process of its own, spoken to in bytes.
final class StdioProcess {
    private let child: ChildProcess
    private var input: FileDescriptor?
    private var output: FileDescriptor?
    private var received: [UInt8] = []
    private var ended = false

    var pid: Int32 { child.pid }

    init(_ arguments: [String] = []) throws {
        var launch = ServerProgram.launch(["--demo", "--stdio"] + arguments)
        launch.errors = .null
        // A queue of its own always gets a thread, however busy the tests are.
        child = try ChildProcess(launch, queue: DispatchQueue(label: "mcp.test.child"))
        guard let input = child.takeInput(), let output = child.takeOutput() else {
            throw FaultTestError("the process has no pipes")
        }
        try Syscalls.setNonBlocking(input.rawValue)
        try Syscalls.setNonBlocking(output.rawValue)
        self.input = consume input
        self.output = consume output
    }

    deinit { child.signal(SIGKILL) }

    // MARK: Writing

    /// Writes everything; what the server writes meanwhile is kept, so that no full pipe stops both.
    func send(_ bytes: [UInt8], within limit: Duration = .seconds(20)) throws {
        let deadline = Deadline(limit)
        let descriptor = FileDescriptor.rawValue(of: input)
        guard descriptor >= 0 else { throw FaultTestError("the input is closed") }
        var rest = bytes[...]
        while !rest.isEmpty {
            let ready = try deadline.wait(
                for: [(descriptor, Int32(POLLOUT)), (ended ? -1 : outputNumber, Int32(POLLIN))])
            if ready[1] != 0 { try receive() }
            guard ready[0] != 0 else { continue }
            let written = unsafe try rest.withUnsafeBytes { (bytes) throws(IOError) in
                unsafe try Syscalls.write(descriptor, bytes)
            }
            rest = rest.dropFirst(written ?? 0)
        }
    }

    /// Sends one line.
    func send(line text: String) throws { try send(Array(text.utf8) + [0x0A]) }

    func closeInput() { input = nil }

    /// Reads no more, so that the server's next write finds nobody.
    func closeOutput() {
        output = nil
        ended = true
    }

    private var outputNumber: Int32 { FileDescriptor.rawValue(of: output) }

    // MARK: Reading

    private func receive() throws {
        let descriptor = outputNumber
        let piece = try readOnce(descriptor, 256 << 10)
        if piece?.isEmpty == true { ended = true }
        received += piece ?? []
    }

    /// The next line, without its newline; nil at the end of the output.
    func line(within limit: Duration = .seconds(20)) throws -> [UInt8]? {
        let deadline = Deadline(limit)
        var searched = 0
        while true {
            if let found = received[searched...].firstIndex(of: 0x0A) {
                let line = Array(received[..<found])
                received.removeFirst(found + 1)
                return line
            }
            if ended { return nil }
            searched = received.count
            _ = try deadline.wait(for: [(outputNumber, Int32(POLLIN))])
            try receive()
        }
    }

    /// The next message.
    func answer(within limit: Duration = .seconds(20)) throws -> JSONValue {
        guard let line = try line(within: limit) else {
            throw FaultTestError("the server ended instead of answering")
        }
        return try JSONValue(parsing: line)
    }

    /// Sends one line and returns the next message.
    func ask(_ text: String) throws -> JSONValue {
        try send(line: text)
        return try answer()
    }

    /// Everything that comes until the server closes its output.
    func rest(within limit: Duration = .seconds(20)) throws -> [JSONValue] {
        var messages: [JSONValue] = []
        while let line = try line(within: limit) { messages.append(try JSONValue(parsing: line)) }
        return messages
    }

    /// Sends a valid request and takes its answer, which has to be the next message.
    func expectAlive(_ location: SourceLocation = #_sourceLocation) throws {
        let answer = try ask(Message.echo(id: "\"alive\"", "still here"))
        #expect(answer["id"] == "alive", sourceLocation: location)
        #expect(answer.text == "still here", sourceLocation: location)
    }

    /// Closes the input and waits for a clean end; returns what was still answered.
    @discardableResult
    func finish(_ location: SourceLocation = #_sourceLocation) throws -> [JSONValue] {
        closeInput()
        let messages = try rest()
        #expect(exit() == .exited(0), sourceLocation: location)
        return messages
    }

    /// How the process ended; nil when it does not end within 20 s.
    func exit() -> ProcessExit? {
        let ended = DispatchSemaphore(value: 0)
        child.onExit { _ in ended.signal() }
        _ = ended.wait(timeout: .now() + 20)
        return child.status
    }
}
