import MCPCore
import Synchronization

/// The log lines about processes of other users that were refused: always written, whatever is observed, but
/// no more than one a second, so that a process in a loop cannot fill a disk.
final class StrangerLog: Sendable {
    /// The shortest time between two lines.
    static let pause = Duration.seconds(1)

    private let log: Log
    /// The refusals since the last line, and when the next line may be written.
    private let state = Mutex<(count: Int, next: ContinuousClock.Instant)>((0, .now))

    init(_ log: Log) { self.log = log }

    func report(_ refusal: RefusedRequest) {
        guard refusal.reason == .user else { return }
        let times = state.withLock { state in
            state.count += 1
            let now = ContinuousClock.now
            guard now >= state.next else { return 0 }
            defer { state = (0, now + Self.pause) }
            return state.count
        }
        guard times > 0 else { return }
        log.warning(
            "request refused",
            [
                "reason": refusal.reason.rawValue,
                (refusal.status == nil ? "code" : "status"): refusal.status ?? refusal.code ?? 0,
                "address": refusal.peer ?? "-", "detail": refusal.detail ?? "-", "times": times,
            ])
    }
}
