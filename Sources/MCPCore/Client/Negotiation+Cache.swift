import Synchronization

/// What an earlier connection has shown spares the probe (DUAL-19, DUAL-20).
extension Negotiation {
    private var cache: (ServerProfileCache, ServerKey)? {
        guard let profiles = connection.options.profiles, let key = connection.transport.serverKey else {
            return nil
        }
        return (profiles, key)
    }

    /// Opens the connection by what is known of the server; false when it has to be probed.
    func openByVerdict() async throws -> Bool {
        guard let (profiles, key) = cache, let verdict = profiles.verdict(key),
            let revision = Revision.named(verdict.version)
        else { return false }
        if revision.isModern {
            guard let profile = profile(verdict, revision) else { return false }
            adopt(profile, isAssumed: true)
            return true
        }
        guard connection.options.protocol == .auto else { return false }
        do {
            try await initialize(revision)
            return true
        } catch let error as ClientError where !Self.isAboutEra(error) {
            throw error
        } catch {
            profiles.forget(key)
            return false
        }
    }

    private func profile(_ verdict: ServerProfileCache.Verdict, _ revision: Revision) -> ServerProfile? {
        guard let discovery = verdict.discovery else { return nil }
        var writer = JSONWriter()
        writer.value(discovery)
        let result = RawJSON(unchecked: writer.finish())
        let versions = ServerProfile.supportedVersions(in: result) ?? []
        var wanted = revision
        if case .exactly(let version) = connection.options.protocol {
            guard let named = Revision.named(version.text), named.isModern else { return nil }
            wanted = named
        }
        guard versions.contains(wanted.version.text) else { return nil }
        return try? ServerProfile(discovered: result, wanted, versions: versions)
    }

    /// Remembers what a probe has shown; without one the age of a verdict would never grow (DUAL-20).
    func record(_ profile: ServerProfile, discovery: RawJSON?) {
        guard let (profiles, key) = cache,
            discovery.map({ $0.bytes.count <= ServerProfileCache.maxDiscoveryBytes }) != false
        else { return }
        profiles.record(
            key, version: profile.revision.version.text, discovery: discovery?.value,
            isShared: discovery.map { $0["cacheScope"]?.string == "public" } ?? true)
    }

    /// The server was not what it was thought to be: it is probed.
    func openAnew() async throws {
        if let (profiles, key) = cache { profiles.forget(key) }
        try await probeAndOpen()
    }

    /// Whether a failure may come from a wrong idea of the server's era. Networks, credentials and time-outs
    /// say nothing about it (DUAL-18).
    private static func isAboutEra(_ error: ClientError) -> Bool {
        switch error.kind {
        case .unsupportedVersion, .protocolViolation: true
        case .httpStatus: error.httpStatus.map { [400, 404, 405].contains($0) } ?? false
        default: false
        }
    }

    /// Whether the first answer of a server that was taken for a modern one casts doubt on that. Asking is
    /// cheap, so that only what modern servers answer for their own reasons is beyond doubt.
    static func isDoubtful(_ reply: ClientCall.Reply, isHTTP: Bool) -> Bool {
        switch reply {
        case .result: return false
        case .failed(let error): return isAboutEra(error)
        case .refused(let error, let status):
            if error.code == MCPError.unsupportedProtocolVersionCode || !isHTTP { return true }
            guard let status, [400, 404, 405].contains(status) else { return false }
            return ![
                MCPError.methodNotFoundCode, MCPError.invalidParamsCode, MCPError.internalErrorCode,
                MCPError.headerMismatchCode, MCPError.missingClientCapabilityCode,
            ].contains(error.code)
        }
    }
}
