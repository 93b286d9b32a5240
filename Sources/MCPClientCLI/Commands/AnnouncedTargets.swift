import MCPCore
import Synchronization

/// The addresses to which clients of 2024-11-05 post, each while the event stream that announced it is open.
///
/// A server that announces several on one stream has the first and the newest of them here: some clients use
/// the one, some the other. There are as many streams as connections.
final class AnnouncedTargets: Sendable {
    struct Stream: Sendable {
        let number: Int
        /// The path and the query of the address.
        let target: String
        /// Adds an event to the stream.
        let insert: @Sendable (SSEEvent) -> Void
    }

    private let streams = Mutex<[Int: (first: Stream, newest: Stream)]>([:])

    func open(_ stream: Stream) {
        streams.withLock { $0[stream.number] = (first: $0[stream.number]?.first ?? stream, newest: stream) }
    }

    func end(_ number: Int) { streams.withLock { $0[number] = nil } }

    /// Whether an address has this path, percent-decoded.
    func contains(path: String) -> Bool {
        streams.withLock { streams in
            streams.values.contains { stream in
                [stream.first, stream.newest].contains {
                    HTTPRequest(method: "POST", target: $0.target).path == path
                }
            }
        }
    }

    /// Returns the stream that announced exactly this address.
    func stream(of target: String) -> Stream? {
        streams.withLock { streams in
            streams.values.lazy.flatMap { [$0.first, $0.newest] }.first { $0.target == target }
        }
    }
}
