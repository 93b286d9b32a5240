import MCPCore

/// What a server of a project does, in full, for the person who decides whether it may be used.
///
/// The project's file says it to everybody who has the project, so that nothing is cut and almost nothing is
/// masked: only a plain word under a name that suggests a secret, which cannot be a command, a file or a
/// module. What placeholders stand for belongs to the user, and is not shown; which files and variables they
/// read is, wherever they stand.
struct ServerOutline: Sendable {
    /// The size up to which a person is asked; a longer one would scroll away from the question.
    static let maxCharacters = 4_000
    static let maxLines = 60

    /// What starts, or the address; then a line for each thing that it is given.
    let lines: [String]

    var characters: Int { lines.reduce(0) { $0 + $1.unicodeScalars.count } }
    var isTooLong: Bool { lines.count > Self.maxLines || characters > Self.maxCharacters }

    init(_ entry: ConfigSource.Entry, _ environment: CommandEnvironment) {
        let node = entry.node
        var lines: [String] = []
        if let program = node["command"]?.string {
            let words = node["args"]?.elements?.map { $0.string ?? "" } ?? []
            lines.append(
                ([program] + MaskedText.literalWords(words)).map(ShellWord.visible).joined(separator: " "))
        }
        for key in ServerEntry.urlNames {
            guard let address = node[key]?.string else { continue }
            lines.append(VisibleText.line(MaskedText.literalURL(address)))
        }
        if lines.isEmpty { lines.append("(neither command nor url)") }
        if let directory = node["cwd"]?.string { lines.append("cwd: \(VisibleText.line(directory))") }
        let files = entry.files(environment)
        if let file = node["envFile"]?.string {
            lines.append("envFile: \(VisibleText.line(file))")
            lines += files.variables.map { variable -> String in
                let value = variable.value.map { MaskedText.literal(variable.name, $0) } ?? MaskedText.mask
                return "  \(VisibleText.line(variable.name))=\(VisibleText.line(value))"
            }
        }
        for key in ["env", "headers", "oauth"] {
            for member in node[key]?.members ?? [] {
                let text = member.value.string ?? member.value.json.serialized()
                // A header field is not run, and one with a secret often has more than a plain word.
                let isSecretField = key == "headers" && MaskedText.isSecretName(member.key)
                let value =
                    isSecretField ? MaskedText.value(text) : MaskedText.literal(member.key, text)
                lines.append("\(key): \(VisibleText.line(member.key))=\(VisibleText.line(value))")
            }
        }
        let variables = entry.variables.map { VisibleText.line($0) }
        if !variables.isEmpty { lines.append("your variables: \(variables.joined(separator: ", "))") }
        // Whatever could be a command, a flag or a file is shown: a word is, unless it is a value only.
        for file in files.included {
            let text = file.text?.trimmingWhitespace() ?? ""
            let isKept =
                Self.isPEM(file.text ?? "") || !text.hasPrefix("-") && MaskedText.isPlainWord(text)
            let isSecret =
                !file.isInside || file.text == nil
                || isKept && Self.isSecretValue("${file:\(file.path)}", in: node)
            let line =
                "contents of \(VisibleText.line(file.path)): "
                + (isSecret ? MaskedText.mask : VisibleText.line(text))
            if !lines.contains(line) { lines.append(line) }
        }
        self.lines = lines
    }

    /// Whether a placeholder stands only in values whose names suggest a secret.
    private static func isSecretValue(_ placeholder: String, in node: ConfigNode) -> Bool {
        contains(node, placeholder)
            && (node.members ?? []).allSatisfy { member in
                switch member.key {
                case "env", "headers", "oauth":
                    (member.value.members ?? []).allSatisfy {
                        MaskedText.isSecretName($0.key) || !contains($0.value, placeholder)
                    }
                case "args":
                    zip(
                        [""] + (member.value.elements ?? []).map { $0.string ?? "" },
                        member.value.elements ?? []
                    )
                    .allSatisfy { flag, word in
                        flag.hasPrefix("-") && MaskedText.isSecretName(flag) && word.string == placeholder
                            || !contains(word, placeholder)
                    }
                default: !contains(member.value, placeholder)
                }
            }
    }

    private static func contains(_ node: ConfigNode, _ text: String) -> Bool {
        if let own = node.string { return own.contains(text) }
        let inner = (node.elements ?? []) + (node.members ?? []).map(\.value)
        return inner.contains { contains($0, text) }
    }

    /// Whether a text is a key or a certificate, or several, which no command is: long lines of base64 and
    /// header fields between two others (RFC 7468).
    private static func isPEM(_ text: String) -> Bool {
        var isInside = false
        // A short line could be the name of a program: only the last one of a block may be short.
        var wasShort = true
        for line in text.split(whereSeparator: \.isNewline).map(String.init) {
            if let label = line.dropping(prefix: "-----\(isInside ? "END" : "BEGIN") ") {
                guard let name = label.dropping(suffix: "-----"), isLabel(name) else { return false }
                isInside.toggle()
                wasShort = false
            } else if isInside, !wasShort, isBase64(line) {
                wasShort = line.utf8.count < 64
                if wasShort, line.utf8.count % 4 != 0 { return false }
            } else if !isInside || !isField(line) {
                return false
            }
        }
        return !isInside
    }

    private static func isLabel(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { ASCII.isWord($0) || $0 == UInt8(ascii: " ") }
    }

    private static func isBase64(_ line: some StringProtocol) -> Bool {
        line.utf8.allSatisfy { ASCII.isWord($0) && $0 != UInt8(ascii: "_") || "+/=".utf8.contains($0) }
    }

    /// `DEK-Info: AES-128-CBC,…` and `Proc-Type: 4,ENCRYPTED`.
    private static func isField(_ line: some StringProtocol) -> Bool {
        line.hasPrefix("DEK-Info: ") || line.hasPrefix("Proc-Type: ")
            ? line.utf8.allSatisfy { ASCII.isWord($0) || "-,: ".utf8.contains($0) } : false
    }
}
