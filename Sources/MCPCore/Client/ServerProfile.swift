/// A server's description of itself while connecting.
struct ServerProfile: Sendable {
    let revision: Revision
    var serverInfo: Implementation?
    var capabilities: ServerCapabilities
    var instructions: String?
    /// The revisions that the server lists, spelled as it spells them.
    var supportedVersions: [String]

    /// Returns the versions in a DiscoverResult (server/discover); nil when the result is not one, for
    /// example from a server that returns `{}` for everything.
    static func supportedVersions(in result: RawJSON) -> [String]? {
        guard let elements = result["supportedVersions"]?.elements else { return nil }
        return elements.compactMap(\.string)
    }

    init(discovered result: RawJSON, _ revision: Revision, versions: [String]) throws(ClientError) {
        self.revision = revision
        supportedVersions = versions
        capabilities = try Self.capabilities(result)
        instructions = result["instructions"]?.string
        // Display data: a malformed value counts as missing (META-12).
        let info = result["_meta"]?["io.modelcontextprotocol/serverInfo"]
        serverInfo = info.flatMap { try? Implementation(json: $0.value) }
    }

    init(initialized result: RawJSON, _ revision: Revision) throws(ClientError) {
        self.revision = revision
        supportedVersions = [revision.version.text]
        capabilities = try Self.capabilities(result)
        instructions = result["instructions"]?.string
        serverInfo = result["serverInfo"].flatMap { try? Implementation(json: $0.value) }
    }

    private static func capabilities(_ result: RawJSON) throws(ClientError) -> ServerCapabilities {
        guard let json = result["capabilities"] else { return ServerCapabilities() }
        do {
            return try ServerCapabilities(json: json.value)
        } catch {
            throw ClientError(.protocolViolation, "the server's capabilities are not an object")
        }
    }
}
