package import MCPCore
import Synchronization

/// A store in memory, one update at a time.
package final class TestTokenStore: TokenStore {
    private struct State {
        var entries: [TokenKey: StoredAuthorization] = [:]
        var keys: [String: TokenKey] = [:]
    }

    private actor Queue {
        private var isBusy = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func enter() async {
            guard isBusy else {
                isBusy = true
                return
            }
            await withCheckedContinuation { waiting.append($0) }
        }

        func leave() {
            if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
        }
    }

    private let state = Mutex(State())
    private let queue = Queue()

    package init() {}

    package var entries: [TokenKey: StoredAuthorization] { state.withLock { $0.entries } }

    package func read(_ key: TokenKey) async throws(AuthorizationError) -> StoredAuthorization? {
        state.withLock { $0.entries[key] }
    }

    package func update<Result: Sendable>(
        _ key: TokenKey,
        _ body: @Sendable (inout StoredAuthorization?) async throws(AuthorizationError) -> Result
    ) async throws(AuthorizationError) -> Result {
        await queue.enter()
        var entry = state.withLock { $0.entries[key] }
        let outcome: Swift.Result<Result, AuthorizationError>
        do throws(AuthorizationError) { outcome = .success(try await body(&entry)) } catch {
            outcome = .failure(error)
        }
        let changed = entry
        state.withLock { $0.entries[key] = changed }
        await queue.leave()
        return try outcome.get()
    }

    package func keys() async throws(AuthorizationError) -> [TokenKey] { Array(entries.keys) }

    package func key(forServer url: String) async throws(AuthorizationError) -> TokenKey? {
        state.withLock { $0.keys[url] }
    }

    package func setKey(_ key: TokenKey?, forServer url: String) async throws(AuthorizationError) {
        state.withLock { $0.keys[url] = key }
    }

    package func servers() async throws(AuthorizationError) -> [(url: String, key: TokenKey)] {
        state.withLock { state in
            state.keys.sorted { $0.key < $1.key }.map { (url: $0.key, key: $0.value) }
        }
    }
}
