import MCPCore
import Synchronization

/// The last errors, for `mcp-server errors`.
final class ErrorRing: Sendable {
    /// The errors that are kept.
    static let capacity = 100
    /// The bytes of a text that are kept.
    static let maxTextBytes = 500

    struct Entry: Sendable, Hashable {
        var time: WallTime
        /// `call`, `task`, `request`, `log` or `refused`.
        var source: String
        /// The tool, or the method and what it is for; empty for others.
        var name: String
        var text: String
    }

    private struct State {
        var entries: [Entry] = []
        var next = 0
        var total = 0
    }

    private let state = Mutex(State())

    func add(_ source: String, name: String = "", _ text: String) {
        func cut(_ text: String, _ limit: Int) -> String {
            String(decoding: text.utf8.prefix(limit), as: UTF8.self)
        }
        let entry = Entry(
            time: .now, source: source, name: cut(name, 128), text: cut(text, Self.maxTextBytes))
        state.withLock { state in
            state.total += 1
            if state.entries.count < Self.capacity {
                state.entries.append(entry)
            } else {
                state.entries[state.next] = entry
                state.next = (state.next + 1) % Self.capacity
            }
        }
    }

    /// The number of errors since the start.
    var total: Int { state.withLock { $0.total } }

    /// Returns the last errors, oldest first.
    func last(_ count: Int) -> [Entry] {
        let entries = state.withLock { Array($0.entries[$0.next...] + $0.entries[..<$0.next]) }
        return Array(entries.suffix(max(0, count)))
    }
}
