import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A reader of the standard input, or of another descriptor, that does not block the tasks of this process.
final class InputReader: Sendable {
    /// The longest line.
    static let maxLineBytes = 1 << 20

    private let descriptor: Int32
    private let state = Mutex(State())

    init(_ descriptor: Int32 = 0) { self.descriptor = descriptor }

    /// Returns the bytes that arrive next; nil at the end of the input, and when the task is cancelled.
    func read() async -> [UInt8]? {
        let (isCancelled, descriptor) = (Cancellation(), descriptor)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    while !isCancelled.isSet, TerminalMode.waitForForeground(descriptor) {
                        guard SystemFile.waitUntilReadable(descriptor, milliseconds: 50) else { continue }
                        let bytes = SystemFile.readSome(descriptor) ?? []
                        return continuation.resume(returning: bytes.isEmpty ? nil : bytes)
                    }
                    continuation.resume(returning: nil)
                }
            }
        } onCancel: {
            isCancelled.set()
        }
    }

    private final class Cancellation: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }

    /// Returns the next line; nil at the end of the input.
    ///
    /// A line that is too long is refused as a whole: its beginning could be another command, and so could
    /// its end.
    func line() async -> InputLine? {
        while true {
            if let line = state.withLock({ $0.next() }) { return line }
            guard let bytes = await read() else {
                // A cancelled read does not turn a half-typed line into a complete one.
                return Task.isCancelled ? nil : state.withLock { $0.rest() }
            }
            state.withLock { $0.buffer += bytes }
        }
    }

    /// Returns the next line that a person types, which is empty if it is not text; nil at the end of the
    /// input, and when the task is cancelled.
    @Sendable func typedLine() async -> String? {
        switch await line() {
        case .text(let text): text
        case .refused: ""
        case nil: nil
        }
    }

    /// Stops this process while another one has the terminal.
    @Sendable func waitForTerminal() { _ = TerminalMode.waitForForeground(descriptor) }

    /// Discards what was typed and not read as a line. What is typed for another process is its own.
    @Sendable func discard() {
        state.withLock { $0 = State() }
        if TerminalMode.isForeground(descriptor) { tcflush(descriptor, TCIFLUSH) }
    }

    private struct State {
        var buffer: [UInt8] = []
        /// Whether the buffer continues a line that is too long, whose beginning was dropped.
        var isTooLong = false

        /// Takes the next complete line.
        mutating func next() -> InputLine? {
            guard let end = buffer.firstIndex(of: UInt8(ascii: "\n")) else {
                if buffer.count > InputReader.maxLineBytes { isTooLong = true }
                if isTooLong { buffer = [] }
                return nil
            }
            defer {
                buffer.removeSubrange(...end)
                isTooLong = false
            }
            return line(buffer[..<end])
        }

        /// Takes what the input ends with.
        mutating func rest() -> InputLine? {
            defer { (buffer, isTooLong) = ([], false) }
            return buffer.isEmpty && !isTooLong ? nil : line(buffer[...])
        }

        private func line(_ bytes: ArraySlice<UInt8>) -> InputLine {
            guard !isTooLong, bytes.count <= InputReader.maxLineBytes else {
                return .tooLong
            }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                return .refused(.usage("a line is not UTF-8 text, so nothing of it was done"))
            }
            return .text(text)
        }
    }
}

/// A line of the standard input.
enum InputLine: Sendable {
    case text(String)
    /// One that cannot be used; the lines behind it can.
    case refused(Failure)

    static var tooLong: InputLine {
        .refused(
            .usage(
                "a line is longer than \(InputReader.maxLineBytes >> 20) MiB, so nothing of it was done",
                hint: "@FILE passes a long value"))
    }
}
