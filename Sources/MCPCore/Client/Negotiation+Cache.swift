import Synchronization

/// The reuse of what an earlier connection found out, which saves the probe (DUAL-19, DUAL-20).
extension Negotiation {
    private var cache: (ServerProfileCache, ServerKey)? {
        guard let profiles = connection.options.profiles, let key = connection.transport.serverKey else {
            return nil
        }
        return (profiles, key)
    }

    /// Opens the connection from the cached facts about the server; returns false when it has to be probed.
    func openByVerdict() async throws -> Bool {
        let options = connection.options
        if options.authorizer != nil, options.profiles != nil || options.records != nil {
            connection.awaitsCredentials(nil, true)
            await connection.transport.identify()
            connection.awaitsCredentials(nil, false)
        }
        connection.restoreRecords()
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
            // The program may be another one by now.
            if error.kind == .connectionClosed { profiles.forget(key) }
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

    /// Records the result of a probe; without a probe, recording would make a verdict look newer than it is
    /// (DUAL-20). `isNecessary` means that the server does not survive a probe.
    func record(_ profile: ServerProfile, discovery: RawJSON?, isNecessary: Bool = false) {
        guard let (profiles, key) = cache,
            discovery.map({ $0.bytes.count <= ServerProfileCache.maxDiscoveryBytes }) != false
        else { return }
        profiles.record(
            key, version: profile.revision.version.text, discovery: discovery?.value,
            isShared: discovery.map { $0["cacheScope"]?.string == "public" } ?? true,
            isNecessary: isNecessary)
    }

    /// Probes a server that turned out to differ from the cached verdict.
    func openAnew() async throws {
        if let (profiles, key) = cache { profiles.forget(key) }
        connection.cache.dropAll()
        try await probeAndOpen()
    }

    /// Returns whether a failure may result from a wrong assumption about the server's era. Network failures,
    /// credentials and timeouts reveal nothing about it (DUAL-18).
    private static func isAboutEra(_ error: ClientError) -> Bool {
        switch error.kind {
        case .unsupportedVersion, .protocolViolation: true
        case .httpStatus: error.httpStatus.map { [400, 404, 405].contains($0) } ?? false
        default: false
        }
    }

    /// Returns whether the first response of a server that was assumed to be modern casts doubt on that.
    /// Probing is cheap, so only errors that modern servers return for reasons of their own are beyond doubt.
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
