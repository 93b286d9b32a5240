import Synchronization

/// A place for what clients know about servers, so that the next connection needs fewer requests.
///
/// The bytes are opaque. They contain what servers sent, and no credentials; names are digests. A store that
/// fails behaves as if it were empty.
package protocol ServerRecordStore: Sendable {
    /// Returns the bytes under a name; nil if there are none that can be trusted.
    func read(_ name: String) -> [UInt8]?
    /// Replaces the bytes under a name, as a whole.
    func write(_ name: String, _ bytes: [UInt8])
    func remove(_ name: String)
}

/// What a connection took over from earlier ones.
final class ServerRecords: Sendable {
    struct State {
        /// The stamp of the program, when it was started.
        var stamp = ""
        /// The server's name, version and revision, when the restored responses were received.
        var server: String?
        var verdict: ServerProfileCache.Verdict?
        /// The names under which something was found.
        var found: Set<String> = []
        var isSaved = false
    }

    let state = Mutex(State())
}

/// What is kept about one server, for one principal or for all.
struct ServerRecord {
    private static let format = 1
    /// The largest size of a record; responses that do not fit are not kept.
    static let maxBytes = 8 << 20

    var stamp: String
    /// The server's name, version and revision.
    var server: String?
    var verdict: ServerProfileCache.Verdict?
    var responses: [ResultCache.Kept] = []

    var isEmpty: Bool { verdict == nil && responses.isEmpty }

    init(stamp: String, server: String?) {
        self.stamp = stamp
        self.server = server
    }

    /// Returns the name under which a record is stored. Addresses may contain secrets.
    static func name(of key: String) -> String { Hex.encode(SHA256.hash(key.utf8).bytes.prefix(20)) }

    /// Reads a record; nil for anything else, such as one of another version or a torn one.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.maxBytes, let json = try? RawJSON(validating: ByteSlice(bytes)),
            json["format"]?.int == Self.format, let stamp = json["stamp"]?.string,
            let elements = json["responses"]?.elements
        else { return nil }
        self.init(stamp: stamp, server: json["server"]?.string)
        verdict = json["verdict"].flatMap { try? $0.value.decode(ServerProfileCache.Verdict.self) }
        for element in elements {
            guard let method = element["method"]?.string, let params = element["params"]?.string,
                let result = element["result"], result.kind == .object,
                let keptAt = element["keptAt"]?.int64, let expiresAt = element["expiresAt"]?.int64
            else { return nil }
            responses.append(
                ResultCache.Kept(
                    method: method, params: params, result: result, keptAt: keptAt, expiresAt: expiresAt))
        }
    }

    var bytes: [UInt8] {
        var room = Self.maxBytes - (64 << 10) - 2 * ServerProfileCache.maxDiscoveryBytes
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("format")
        writer.number(Self.format)
        writer.key("stamp")
        writer.string(stamp)
        if let server {
            writer.key("server")
            writer.string(server)
        }
        if let verdict, let json = try? JSONValue(encoding: verdict) {
            writer.key("verdict")
            writer.value(json)
        }
        writer.key("responses")
        writer.beginArray()
        for response in responses {
            let size = response.result.bytes.count + 2 * response.params.utf8.count + 256
            guard size <= room else { continue }
            room -= size
            writer.beginObject()
            writer.key("method")
            writer.string(response.method)
            writer.key("params")
            writer.string(response.params)
            writer.key("keptAt")
            writer.number(JSONNumber(response.keptAt))
            writer.key("expiresAt")
            writer.number(JSONNumber(response.expiresAt))
            writer.key("result")
            writer.raw(response.result)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.finish().array
    }
}

extension ClientConnection {
    /// Takes over what earlier connections to this server kept. What is known only to this principal comes
    /// first; of what is known to all, only what the server declares as public is used (CACHE-08).
    func restoreRecords() {
        guard let store = options.records, let key = transport.serverKey else { return }
        records.state.withLock { $0.stamp = key.stamp }
        let now = clock.wallTime.secondsSinceEpoch
        for (index, name) in key.names.enumerated() {
            guard let bytes = store.read(ServerRecord.name(of: name)), let record = ServerRecord(bytes)
            else { continue }
            records.state.withLock { _ = $0.found.insert(name) }
            guard record.stamp == key.stamp else { continue }
            let isOwn = index == 0
            if let verdict = record.verdict, isOwn || verdict.isPublic, mayUse(verdict, now) {
                options.profiles?.restore(verdict, named: name)
            }
            cache.restore(
                record.responses.filter { isOwn || $0.isPublic }, isDormant: !options.usesRecords)
            records.state.withLock { state in
                if state.server == nil { state.server = record.server }
                if state.verdict == nil { state.verdict = record.verdict }
            }
        }
    }

    private func mayUse(_ verdict: ServerProfileCache.Verdict, _ now: Int64) -> Bool {
        if verdict.needsHandshake == true { return true }
        guard options.usesRecords, let lifetime = verdict.declaredLifetime else { return false }
        let (age, overflow) = now.subtractingReportingOverflow(verdict.probedAt)
        return !overflow && age >= 0 && age < lifetime
    }

    /// Drops the responses of a server that has become another one.
    func compareRecords(with profile: ServerProfile) {
        let known = records.state.withLock { $0.server }
        if let known, known != profile.identity { cache.dropAll() }
    }

    /// Keeps what is known about the server, once, if that has changed.
    func saveRecords() {
        guard let store = options.records, let key = transport.serverKey, let profile else { return }
        let before = records.state.withLock { state -> ServerRecords.State? in
            defer { state.isSaved = true }
            return state.isSaved ? nil : state
        }
        guard let before else { return }
        let verdicts = key.names.map { name -> ServerProfileCache.Verdict? in
            guard let verdict = options.profiles?.verdict(named: name) else { return nil }
            return verdict.needsHandshake == true || verdict.declaredLifetime != nil ? verdict : nil
        }
        let current = verdicts.compactMap { $0 }.first ?? (options.usesRecords ? nil : before.verdict)
        guard cache.isModified || current != before.verdict else { return }
        let responses = cache.lasting
        for (index, name) in key.names.enumerated() {
            let isLast = index == key.names.count - 1
            var record = ServerRecord(stamp: before.stamp, server: profile.identity)
            record.verdict = verdicts[index]
            record.responses = responses.filter { $0.isPublic == isLast || key.names.count == 1 }
            let place = ServerRecord.name(of: name)
            if !record.isEmpty {
                store.write(place, record.bytes)
            } else if before.found.contains(name) {
                store.remove(place)
            }
        }
    }
}

extension ServerProfile {
    /// The server's name, version and revision.
    fileprivate var identity: String {
        let info = serverInfo.map { "\($0.name)\n\($0.version)\n" } ?? ""
        return info + revision.version.text
    }
}

extension ServerProfileCache.Verdict {
    fileprivate var isPublic: Bool { discovery?["cacheScope"]?.stringValue == "public" }

    /// The seconds for which the server allows its description of itself to be kept; nil if it does not.
    fileprivate var declaredLifetime: Int64? {
        guard let ttl = discovery?["ttlMs"]?.intValue, ttl >= 1000 else { return nil }
        return Int64(clamping: min(ttl / 1000, 86_400))
    }
}
