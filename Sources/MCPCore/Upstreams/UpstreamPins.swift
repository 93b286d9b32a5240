/// The definitions of a server that somebody has reviewed, from a lock file: whatever differs is not offered.
package struct UpstreamPins: Sendable, Hashable {
    /// The reason why a lock file cannot be used.
    package struct Flaw: Error, CustomStringConvertible {
        package var description: String
    }

    /// The version of the format that `mcp-client lock` writes.
    package static let lockVersion = 1

    let tools: [String: JSONValue]
    let prompts: [String: JSONValue]
    let templates: [String: JSONValue]

    /// Reads what a lock file contains about the server with this name.
    package init(lockFile bytes: [UInt8], server name: String) throws(Flaw) {
        let file: JSONValue
        do throws(JSONError) { file = try JSONValue(parsing: bytes) } catch {
            throw Flaw(description: "is not a lock file: \(error)")
        }
        guard file["lockVersion"]?.intValue == Self.lockVersion, let servers = file["servers"]?.objectValue
        else { throw Flaw(description: "is not a lock file of version \(Self.lockVersion)") }
        guard let server = servers[name] else {
            throw Flaw(description: "has no server named \"\(name)\"; mcp-client lock adds it")
        }
        func definitions(_ kind: String) -> [String: JSONValue] {
            let members = server[kind]?.objectValue?.map { ($0.key, $0.value) } ?? []
            return Dictionary(members) { $1 }
        }
        tools = definitions("tools")
        prompts = definitions("prompts")
        templates = definitions("resourceTemplates")
    }
}
