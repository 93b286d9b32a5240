import MCPCore
import Synchronization

/// The secrets of servers behind this one, which nothing that is written down contains.
final class HiddenSecrets: Sendable {
    /// The secrets that are known; those that were named the longest ago are forgotten.
    static let maxCount = 1_024
    /// The bytes of the shortest one. Callers have many texts, in which shorter ones occur by chance.
    private static let minBytes = 6

    private struct State {
        var texts: [String] = []
        var secrets: UpstreamSecrets?
    }

    private let state = Mutex(State())

    /// Leaves these texts out from now on.
    func hide(_ texts: [String]) {
        if texts.isEmpty { return }
        state.withLock { state in
            let named = Set(texts)
            var all = state.texts.filter { !named.contains($0) }
            var seen: Set<String> = []
            all += texts.filter { seen.insert($0).inserted }
            state.texts = all.suffix(Self.maxCount)
            state.secrets = UpstreamSecrets(state.texts, mask: KnownSecrets.mask, minBytes: Self.minBytes)
        }
    }

    private var secrets: UpstreamSecrets? { state.withLock { $0.secrets } }

    func mask(_ text: String) -> String { secrets?.mask(text) ?? text }

    /// - Parameter levels: the outer levels of objects whose names stay.
    func mask(_ value: RawJSON, namesFrom levels: Int) -> RawJSON {
        secrets?.mask(value, namesFrom: levels) ?? value
    }

    /// Returns what a request names, as it is written down. A caller may have put anything there.
    func name(of request: IncomingRequest) -> String? { request.name.map { shown($0) } }

    /// Returns a text without secrets; a mask alone if it has what looks like credentials.
    func shown(_ text: String) -> String {
        CredentialText.isFound(in: text) ? KnownSecrets.mask : mask(text)
    }
}
