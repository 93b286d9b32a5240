import MCPCore

/// The servers of projects that the user has allowed, each as it was then.
///
/// A project may come from a stranger: its file could start any program, and send any variable anywhere. An
/// entry that has changed is another one, as is one whose files have: their texts decide, too, which program
/// starts and what it does.
struct AllowedServers: Sendable {
    /// The number of entries that are remembered; the oldest are forgotten first.
    static let maxEntries = 1_000
    private static let maxBytes = 256 << 10
    private static let name = "allowed-servers.json"

    private let place: PrivateDirectory?
    private let environment: CommandEnvironment

    init(_ environment: CommandEnvironment) {
        self.environment = environment
        place = PrivateDirectory.statePath(environment.variable).map { PrivateDirectory(path: $0) }
    }

    func contains(_ entry: ConfigSource.Entry) -> Bool { digests().contains(digest(entry)) }

    /// Remembers an entry.
    ///
    /// - Throws: when nothing can be stored, or when another process changes the file for too long.
    func allow(_ entry: ConfigSource.Entry) throws(Failure) {
        let digest = digest(entry)
        guard let place else {
            throw Self.failure("no state directory is known", hint: "set HOME or XDG_STATE_HOME")
        }
        do throws(AuthorizationError) { try place.create() } catch {
            throw Self.failure(error.message, hint: error.hint)
        }
        let path = place.path(of: Self.name)
        let lock = ChangeLock(path, shownAs: inlineText(path), environment.variable)
        try lock.hold { () throws(Failure) in
            let all = (digests().filter { $0 != digest } + [digest]).suffix(Self.maxEntries)
            let bytes = Array(JSONValue.array(all.map { .string($0) }).serialized().utf8)
            do throws(AuthorizationError) { try place.replace(Self.name, bytes) } catch {
                throw Self.failure(error.message, hint: error.hint)
            }
        }
    }

    private static func failure(_ reason: String, hint: String? = nil) -> Failure {
        Failure(
            code: .unreachable, kind: .store,
            message: "the permission cannot be stored: \(inlineText(reason))", hint: hint)
    }

    private func digests() -> [String] {
        guard let bytes = (try? place?.read(Self.name, maxBytes: Self.maxBytes)) ?? nil,
            let json = try? JSONValue(parsing: bytes)
        else { return [] }
        return json.arrayValue?.compactMap(\.stringValue) ?? []
    }

    private func digest(_ entry: ConfigSource.Entry) -> String {
        let own: [String?] = [entry.place.path, entry.name, entry.node.json.serialized()]
        // Each with its length: a text must not pass for the end of one and the beginning of the next.
        let parts = (own + entry.files(environment).texts).map { part in
            part.map { "\($0.utf8.count):\($0)" } ?? "-"
        }
        return Hex.encode(SHA256.hash(parts.joined().utf8).bytes)
    }
}
