import MCPCore

/// Notifies the subscribers of all servers about changes in the directories that are shown.
final class FilesWatch: Sendable {
    private let watches: [DirectoryWatch]

    /// Starts watching. A directory that cannot be watched is served nevertheless; the log reports it.
    init(_ definitions: [FilesDefinition], of served: ServedServers, log: Log) {
        var watches: [DirectoryWatch] = []
        for definition in definitions where definition.watch {
            do {
                let filter = definition.filter
                watches.append(
                    try DirectoryWatch(
                        definition.root,
                        .init(
                            files: { filter.allows($0) }, directories: { filter.mayDescend(into: $0) },
                            openFiles: true)
                    ) { changes in
                        if let failure = changes.failure {
                            log.warning(
                                "not watched",
                                ["of": "files", "files": definition.name, "error": failure])
                        }
                        for server in served.all { Self.publish(changes, definition, server) }
                    })
            } catch {
                log.warning(
                    "not watched", ["of": "files", "files": definition.name, "error": "\(error)"])
            }
        }
        self.watches = watches
    }

    private static func publish(
        _ changes: DirectoryWatch.Changes, _ definition: FilesDefinition, _ server: MCPServer
    ) {
        if changes.areLost { return server.anyResourceChanged() }
        if changes.isListChanged { server.notifyResourcesChanged() }
        for path in changes.written { server.notifyResourceUpdated(definition.template.uri(of: path)) }
    }

    func cancel() { for watch in watches { watch.cancel() } }
}
