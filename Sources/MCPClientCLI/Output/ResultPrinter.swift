import MCPCore

/// A printer of results in the form that the flags request.
struct ResultPrinter: Sendable {
    let console: Console
    let options: Options
    /// Writes a file next to the one given by `-o`.
    let saveFile: @Sendable ([UInt8], String) throws(Failure) -> Void
    /// Returns the files that the command reads, which are not replaced.
    let filesRead: @Sendable () -> [String]
    /// How the terminal shows images; nil if it does not.
    var terminalGraphics: TerminalGraphics?

    /// Whether the flags request JSON or a part of it.
    var printsJSON: Bool { options.json || options.structured || options.select != nil }

    /// Prints the forms that are JSON; returns false when the result is to be shown to a person.
    func printJSON(_ result: RawJSON) throws(Failure) -> Bool {
        guard printsJSON else { return false }
        var value = result
        if options.structured {
            guard let structured = result["structuredContent"] else {
                throw .malformed("the result has no structuredContent")
            }
            value = structured
        }
        if let select = options.select {
            value = try select.select(from: value)
            if !options.json, let text = value.string {
                console.text(text)
                return true
            }
        }
        printWire(value)
        return true
    }

    /// Prints JSON as received. On a terminal, `--json` shows unsafe characters as JSON escapes.
    func printWire(_ value: RawJSON) {
        if options.json { console.json(value) } else { console.text(String(value.bytes)) }
    }

    func print(_ pieces: [ContentPiece]) throws(Failure) {
        if options.raw { return try printRaw(pieces) }
        if let file = options.outputFile { try save(pieces, file) } else { show(pieces) }
        let reasons = pieces.compactMap { piece in
            if case .unusable(let reason) = piece { reason } else { nil }
        }
        guard let reason = reasons.first else { return }
        var failure = Failure.malformed(reason)
        // FILE stays as it was when there is nothing else.
        if reasons.count < pieces.count { failure.rest = options.outputFile }
        throw failure
    }

    private func show(_ pieces: [ContentPiece]) {
        for piece in pieces {
            switch piece {
            case .text(let text): console.text(text)
            case .line(let line): console.line(line)
            case .unusable: console.line(piece.note ?? "")
            case .bytes(let bytes, let mimeType):
                if let image = image(bytes, mimeType) { console.stdout.write(image) }
                console.line(ContentPiece.placeholder(bytes.count, mimeType))
            }
        }
    }

    /// Returns what shows an image on the terminal; nil if none was asked for, or if it cannot be shown.
    private func image(_ bytes: [UInt8], _ mimeType: String) -> String? {
        guard options.images, mimeType.lowercased().hasPrefix("image/") else { return nil }
        guard console.stdout.isTerminal, let graphics = terminalGraphics else {
            console.note("--images: this terminal shows no images (kitty or iTerm2 protocol)")
            return nil
        }
        let text = graphics.text(bytes)
        if text == nil { console.note("--images: " + graphics.reason(bytes)) }
        return text
    }

    private func printRaw(_ pieces: [ContentPiece]) throws(Failure) {
        guard pieces.count == 1, let piece = pieces.first else {
            throw Failure(
                code: .protocolError, kind: .protocolError,
                message: "--raw needs exactly one content block; the result has \(pieces.count)",
                hint: "-o FILE saves all of them, --json shows them")
        }
        switch piece {
        case .unusable(let reason): throw .malformed(reason)
        case .text(let text):
            console.stdout.write(console.stdout.isTerminal ? TerminalText.block(text) : text)
        case .line(let line): console.line(line)
        case .bytes(let bytes, let mimeType):
            if console.stdout.isTerminal {
                throw Failure(
                    code: .protocolError, kind: .output,
                    message: "the result is \(inlineText(mimeType)), which a terminal cannot show",
                    hint: "-o FILE saves it")
            }
            console.stdout.write(bytes)
        }
    }

    /// The files next to FILE: a result may have any number of images.
    static let maxFiles = 1_000

    /// Saves the pieces of a result.
    ///
    /// A single block of bytes becomes FILE itself; otherwise FILE receives the texts, and bytes go into
    /// files next to it. FILE is written even if a file next to it cannot be.
    private func save(_ pieces: [ContentPiece], _ file: String) throws(Failure) {
        if pieces.count == 1, case .bytes(let bytes, _)? = pieces.first {
            console.stdout.write(bytes)
            return
        }
        var (count, number) = (0, 0)
        var kept: [String]?
        var refused: Failure?
        for piece in pieces {
            switch piece {
            case .text(let text): console.text(text)
            case .line(let line): console.line(line)
            case .unusable: console.line(piece.note ?? "")
            case .bytes(let bytes, let mimeType):
                count += 1
                guard count <= Self.maxFiles else {
                    refused =
                        refused
                        ?? Failure(
                            code: .unreachable, kind: .output,
                            message: "the result has more than \(Self.maxFiles) files; only these are saved")
                    continue
                }
                let names = kept ?? filesRead() + [file]
                kept = names
                let path = Self.freeFile(file, &number, mimeType, names)
                do {
                    try saveFile(bytes, path)
                    console.note("wrote \(inlineText(path)) (\(ByteSize.text(bytes.count)))")
                } catch {
                    refused = refused ?? error
                }
            }
        }
        guard let refused else { return }
        throw Failure(code: .unreachable, kind: .output, message: refused.message, rest: file)
    }

    /// Returns the next file beside FILE that is none of these.
    private static func freeFile(
        _ file: String, _ number: inout Int, _ mimeType: String, _ kept: [String]
    ) -> String {
        while true {
            number += 1
            let path = sideFile(file, number, mimeType)
            if !SystemFile.isInput(path, or: kept) { return path }
        }
    }

    /// `out.txt` → `out-1.png`
    static func sideFile(_ file: String, _ number: Int, _ mimeType: String) -> String {
        var stem = Substring(file)
        if let dot = file.lastIndex(of: "."), dot > file.startIndex,
            !file[dot...].contains("/"), file[file.index(before: dot)] != "/"
        {
            stem = file[..<dot]
        }
        return "\(stem)-\(number).\(ContentPiece.fileExtension(mimeType))"
    }
}
