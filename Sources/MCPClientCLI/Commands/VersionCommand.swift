import MCPCore

/// `version`: prints the name and version of this program, without a server.
struct VersionCommand {
    let console: Console

    func run() {
        if console.isJSON {
            let revisions = Options.revisions.map { JSONValue.string($0) }
            console.json(
                RawJSON([
                    "name": .string(ClientIdentity.name), "version": .string(ClientIdentity.version),
                    "protocolVersions": .array(revisions),
                ]))
        } else {
            console.line("\(ClientIdentity.name) \(ClientIdentity.version)")
        }
    }
}
