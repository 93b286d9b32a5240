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
    ///
    /// While another process has the terminal, this one stops, unless what is typed is optional.
    func read(isOptional: Bool = false) async -> [UInt8]? {
        let descriptor = descriptor
        return await onThread { isCancelled in
            while !isCancelled() {
                if isOptional, !TerminalMode.isForeground(descriptor) {
                    usleep(50_000)
                    continue
                }
                guard TerminalMode.waitForForeground(descriptor, unless: isCancelled) else { return nil }
                guard SystemFile.waitUntilReadable(descriptor, milliseconds: 50) else { continue }
                let bytes = SystemFile.readSome(descriptor) ?? []
                return bytes.isEmpty ? nil : bytes
            }
            return nil
        }
    }

    /// Runs `body` on a thread on which it may wait, until it returns.
    private func onThread<T: Sendable>(
        _ body: @escaping @Sendable (_ isCancelled: () -> Bool) -> T
    ) async -> T {
        let isCancelled = Cancellation()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: body { isCancelled.isSet }) }
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
    func line(isOptional: Bool = false) async -> InputLine? {
        while true {
            if let line = state.withLock({ $0.next() }) { return line }
            guard let bytes = await read(isOptional: isOptional) else {
                // A cancelled read does not turn a half-typed line into a complete one.
                return Task.isCancelled ? nil : state.withLock { $0.rest() }
            }
            state.withLock { $0.buffer += bytes }
        }
    }

    /// Returns the next line that a person types, which is empty if it is not text; nil at the end of the
    /// input, and when the task is cancelled.
    @Sendable func typedLine() async -> String? { await typedLine(isOptional: false) }

    /// Returns the next line, as `typedLine`, if a person types one in the foreground: in the background,
    /// the process goes on.
    @Sendable func optionalLine() async -> String? { await typedLine(isOptional: true) }

    private func typedLine(isOptional: Bool) async -> String? {
        switch await line(isOptional: isOptional) {
        case .text(let text): text
        case .refused: ""
        case nil: nil
        }
    }

    /// Stops this process while another one has the terminal; returns false if it is about to end.
    @Sendable func waitForTerminal() async -> Bool {
        let descriptor = descriptor
        return await onThread {
            TerminalMode.waitForForeground(descriptor, unless: $0) || !TerminalMode.isEnding
        }
    }

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
