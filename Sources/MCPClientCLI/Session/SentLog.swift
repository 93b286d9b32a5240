import MCPCore
import Synchronization

/// A record of what was sent while connecting, reported when a program ends without a response.
final class SentLog: Sendable {
    private let state = Mutex<State>(State())

    private struct State {
        var methods: [String] = []
        var hasReply = false
    }

    func note(_ event: TraceEvent) {
        state.withLock { state in
            switch event {
            case .sent(let method, _):
                if !method.isEmpty, state.methods.count < 4 { state.methods.append(method) }
            case .received: state.hasReply = true
            default: break
            }
        }
    }

    /// A text such as `server/discover, then initialize (no reply)`; nil when nothing was sent.
    var text: String? {
        state.withLock { state in
            if state.methods.isEmpty { return nil }
            return state.methods.joined(separator: ", then ") + (state.hasReply ? "" : " (no reply)")
        }
    }
}
