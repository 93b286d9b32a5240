import MCPCore
import Synchronization

/// The state of the server as operators see it.
final class ServerState: Sendable {
    enum Phase: String, Sendable {
        case starting, ready, draining
    }

    private struct State {
        var phase = Phase.starting
        var reload: ReloadReport?
        var reloads = 0
        var failedReloads = 0
        var isReloading = false
        var running: RunningServer?
    }

    private let state = Mutex(State())
    let startedAt = WallTime.now
    private let start = ContinuousClock().now

    var phase: Phase { state.withLock { $0.phase } }
    var uptime: Duration { start.duration(to: ContinuousClock().now) }
    /// The last reading of the configuration after the start.
    var lastReload: ReloadReport? { state.withLock { $0.reload } }
    var reloads: (done: Int, failed: Int) { state.withLock { ($0.reloads, $0.failedReloads) } }
    /// Whether the configuration is being read.
    var isReloading: Bool { state.withLock { $0.isReloading } }
    var running: RunningServer? { state.withLock { $0.running } }

    func begins(_ running: RunningServer) {
        state.withLock { state in
            state.running = running
            if state.phase == .starting { state.phase = .ready }
        }
    }

    func drains() { state.withLock { $0.phase = .draining } }

    func beginsReload() { state.withLock { $0.isReloading = true } }

    func reloaded(_ report: ReloadReport) {
        state.withLock { state in
            state.isReloading = false
            state.reload = report
            if report.isDone { state.reloads += 1 } else { state.failedReloads += 1 }
        }
    }

    /// Returns whether every event loop responds within `timeout`.
    func isResponsive(within timeout: Duration) async -> Bool {
        guard let running else { return true }
        return await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            let answer = FirstAnswer { continuation.resume(returning: $0) }
            running.whenResponsive { answer.give(true) }
            Task {
                // Cancelled by nobody.
                try? await Task.sleep(for: timeout)
                answer.give(false)
            }
        }
    }
}

/// Passes on the first of several answers.
private final class FirstAnswer: Sendable {
    private let action: Callback<@Sendable (Bool) -> Void>

    init(_ action: @escaping @Sendable (Bool) -> Void) { self.action = Callback(action) }

    func give(_ answer: Bool) {
        action.take()?(answer)
    }
}
