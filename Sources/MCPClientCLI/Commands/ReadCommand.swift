import MCPCore

/// `read`: shows the contents of resources.
struct ReadCommand {
    let session: Session

    func run(_ uris: [String]) async throws(Failure) {
        var contents: [ResourceContents] = []
        for uri in uris {
            if try session.isOnlyShown("resources/read", ["uri": .string(uri)]) { continue }
            let result = try await session.request("resources/read", ["uri": .string(uri)], about: uri)
            if try session.printer.printJSON(result) { continue }
            for element in try session.elements(result, "contents", method: "resources/read") {
                contents.append(
                    try session.decode("resource", element) { json throws(JSONError) in
                        try ResourceContents(json: json)
                    })
            }
        }
        var pieces: [ContentPiece] = []
        for (index, part) in contents.enumerated() {
            // Several resources are printed under their names, as `head` does with files.
            if contents.count > 1, !session.options.raw {
                pieces.append(.line((index > 0 ? "\n" : "") + "==> \(inlineText(part.uri)) <=="))
            }
            pieces.append(ContentPiece(part))
        }
        if !session.printer.printsJSON { try session.printer.print(pieces) }
    }
}
