import Dispatch
import MCPCore
import Synchronization

/// The outputs that were too large for the results of their calls, in memory, for a while.
///
/// An output belongs to the principal whose call produced it, and its address contains 128 random bits. When
/// there is no room, the oldest outputs are forgotten: those of the same principal first.
final class OutputStore: Sendable {
    /// The time for which an output is kept.
    static let lifetime = Duration.seconds(600)
    /// The largest output that is kept; the rest of a larger one is dropped.
    static let maxBytes = 16 << 20
    /// The size of all outputs together.
    static let maxTotalBytes = 64 << 20
    /// The number of outputs.
    static let maxCount = 256
    /// The share of the memory that one principal may use.
    static let share = 2
    /// The size of a page.
    static let pageBytes = 256 << 10

    static let template = "tool-output:///{id}/{page}"

    /// A kept output.
    struct Output: Sendable {
        let id: String
        let tool: String
        fileprivate let principal: String
        fileprivate let expiry: MonotonicInstant
        let bytes: [UInt8]

        var pages: Int { max(1, (bytes.count + pageBytes - 1) / pageBytes) }

        func uri(page: Int) -> String { "tool-output:///\(id)/\(page)" }

        /// Returns a page, which begins and ends between characters; pages are numbered from 1.
        func page(_ number: Int) -> ArraySlice<UInt8>? {
            guard (1 ... pages).contains(number) else { return nil }
            return bytes[cut((number - 1) * pageBytes) ..< cut(number * pageBytes)]
        }

        /// Moves an offset back to the beginning of a character, if the bytes around it are UTF-8.
        private func cut(_ offset: Int) -> Int {
            guard offset < bytes.count else { return bytes.count }
            var index = offset
            while index > max(0, offset - 4), bytes[index] & 0xC0 == 0x80 { index -= 1 }
            return bytes[index] & 0xC0 == 0x80 ? offset : index
        }
    }

    private let clock: any TimeSource
    /// The number of runs whose output is read to the end at the same time: their memory is not in `outputs`.
    static let maxReading = 4
    private let reading = Mutex(0)
    /// In the order in which they were added.
    private let outputs = Mutex<[Output]>([])

    init(clock: any TimeSource = SystemClock()) { self.clock = clock }

    /// The size of all outputs.
    var byteCount: Int { outputs.withLock { $0.reduce(0) { $0 + $1.bytes.count } } }

    /// Reserves memory for an output that is being read; the caller must release it. Returns false if there
    /// is none: the output is then not read beyond what its result can hold.
    func reserve() -> Bool {
        reading.withLock { reading in
            guard reading < Self.maxReading else { return false }
            reading += 1
            return true
        }
    }

    func release() { reading.withLock { $0 -= 1 } }

    /// Keeps an output of at most `maxBytes`.
    func keep(_ bytes: [UInt8], tool: String, principal: String) -> Output {
        let now = clock.now
        let output = Output(
            id: Base64URL.encode(SystemRandom().bytes(16)), tool: tool, principal: principal,
            expiry: now + Self.lifetime, bytes: bytes)
        outputs.withLock { outputs in
            outputs.removeAll { $0.expiry <= now }
            Self.makeRoom(bytes.count, within: Self.maxTotalBytes / Self.share, &outputs) {
                $0.principal == principal
            }
            Self.makeRoom(bytes.count, within: Self.maxTotalBytes, &outputs) { _ in true }
            if outputs.count >= Self.maxCount {
                outputs.remove(at: outputs.firstIndex { $0.principal == principal } ?? 0)
            }
            outputs.append(output)
        }
        // Memory is returned when the time is over, whether or not there is another call.
        clock.schedule(at: output.expiry, on: .global()) { [weak self] in self?.forgetExpired() }
        return output
    }

    private func forgetExpired() {
        let now = clock.now
        outputs.withLock { outputs in outputs.removeAll { $0.expiry <= now } }
    }

    /// Forgets the oldest of some outputs until `count` bytes more do not exceed the limit.
    private static func makeRoom(
        _ count: Int, within limit: Int, _ outputs: inout [Output], _ isAffected: (Output) -> Bool
    ) {
        var size = outputs.reduce(0) { $0 + (isAffected($1) ? $1.bytes.count : 0) }
        while size + count > limit, let index = outputs.firstIndex(where: isAffected) {
            size -= outputs.remove(at: index).bytes.count
        }
    }

    /// Returns an output of this principal, or `nil` if there is none with this id any more.
    func output(_ id: String, of principal: String) -> Output? {
        let now = clock.now
        return outputs.withLock { outputs in
            outputs.first { $0.id == id && $0.principal == principal && $0.expiry > now }
        }
    }

    // MARK: Resources

    /// Offers the pages as resources.
    func register(on server: MCPServer) throws(RegistrationError) {
        let template = ResourceTemplate(
            Self.template, name: "tool-output", title: "Output of a tool",
            description: "One page, numbered from 1, of an output that was too large for the result. "
                + "Results name the id and the number of pages.")
        try server.register(template) { [self] uri, variables, context in
            guard let id = variables["id"], let output = output(id, of: context.principal?.key ?? ""),
                let number = variables["page"].flatMap({ Int($0) }), let page = output.page(number)
            else {
                var error = MCPError.resourceNotFound(uri)
                error.message =
                    "No such output: it was kept for \(Units.describe(Self.lifetime)) by the server that ran "
                    + "the command, for the caller of that command. Call the tool again"
                throw error
            }
            if let text = String(validating: page, as: UTF8.self) {
                return [.text(text, uri: uri)]
            }
            return [.blob(Array(page), uri: uri)]
        }
    }
}
