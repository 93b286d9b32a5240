package import MCPCore
import Synchronization

/// Calls the server in the same process.
package final class MemoryLink: RawLink {
    private let log = Mutex<[RawJSON]>([])
    private let listener = Callback<@Sendable (RawJSON) -> Void>()
    private let tasks = Mutex<[RequestID: Task<[UInt8]?, Never>]>([:])
    private let connection = Mutex<MCPConnection?>(nil)

    private let recorder: MessageRecorder

    package init(_ server: MCPServer, _ recorder: MessageRecorder) {
        self.recorder = recorder
        let made = server.makeConnection { [weak self] message in self?.hear(message) }
        connection.withLock { $0 = made }
    }

    package var heard: [RawJSON] { log.withLock { $0 } }

    package func listen(_ listener: @escaping @Sendable (RawJSON) -> Void) {
        self.listener.set(listener)
    }

    @discardableResult
    private func hear(_ message: [UInt8]) -> RawJSON? {
        recorder.saw(ByteSlice(message), from: .server)
        guard let json = try? RawJSON(validating: ByteSlice(message)) else { return nil }
        log.withLock { $0.append(json) }
        listener.current?(json)
        return json
    }

    package func exchange(_ message: RawMessage) async -> RawReply {
        guard let connection = connection.withLock({ $0 }) else { return RawReply() }
        let task = Task { await connection.handle(Array(message.text.utf8)) }
        if let id = message.id { tasks.withLock { $0[id] = task } }
        return RawReply(answer: await task.value.flatMap { hear($0) })
    }

    package func disconnect(_ id: RequestID) { tasks.withLock { $0[id] }?.cancel() }

    package func close() async {
        connection.withLock { $0 }?.close()
        connection.withLock { $0 = nil }
    }
}
