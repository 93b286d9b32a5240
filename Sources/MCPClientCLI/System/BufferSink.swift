import Synchronization

/// Collects what stdout would get, for `-o FILE`.
final class BufferSink: Sink {
    private let collected = Mutex<[UInt8]>([])

    let isTerminal = false
    let failure: String? = nil

    func write(_ bytes: [UInt8]) { collected.withLock { $0 += bytes } }

    var bytes: [UInt8] { collected.withLock { $0 } }
}
