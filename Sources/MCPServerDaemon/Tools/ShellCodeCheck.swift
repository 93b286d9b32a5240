/// Finds placeholders inside program text that an interpreter would run, as in `sh -c "du {dir}"`.
///
/// Who wants a pipeline passes the argument beside the code: `["sh", "-c", "du -s -- \"$1\"", "sh",
/// "{dir}"]`.
struct ShellCodeCheck {
    private static let shells: Set<String> = [
        "sh", "bash", "rbash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "busybox", "su",
        "runuser", "script",
    ]
    /// With the letters of their options that take code.
    private static let interpreters: [String: String] = [
        "python": "c", "pypy": "c", "perl": "em", "ruby": "er", "node": "epr", "nodejs": "epr", "deno": "epr",
        "bun": "epr", "php": "rbe", "lua": "e", "luajit": "e", "osascript": "e", "env": "s",
    ]

    /// Their command may stand after a user or a file.
    private static let namesUserFirst: Set<String> = ["su", "runuser", "script"]

    private let diagnostics: Diagnostics

    init(_ diagnostics: Diagnostics) { self.diagnostics = diagnostics }

    /// `elements` are those of `exec`, nested arrays and conditions included.
    func run(_ elements: [ConfigNode]) {
        var flags = ""
        var keepsFlags = false
        var expectsCode = false
        var previousIsFlag = false
        for node in elements.flatMap(Self.strings) {
            guard case .string(let source) = node.kind else { continue }
            let text = source.value
            let isCodeFlag = Self.isCodeFlag(text, flags)
            let hasPlaceholder = (try? TemplateText(source).argumentNames.isEmpty) == false
            if hasPlaceholder, expectsCode || isCodeFlag {
                diagnostics.error(
                    "a placeholder inside code would be run as code; pass it as an argument after the code, "
                        + "where a shell reads it as \"$1\"", at: node.position)
            }
            if let letters = Self.codeFlags(of: text) {
                flags = letters
                keepsFlags = Self.namesUserFirst.contains(Self.baseName(text))
            } else if !text.hasPrefix("-"), !previousIsFlag, !keepsFlags {
                // The script of an interpreter: flags after it are the script's own.
                flags = ""
            }
            expectsCode = isCodeFlag || (expectsCode && text.hasPrefix("-"))
            previousIsFlag = text.hasPrefix("-")
        }
    }

    private static func baseName(_ program: String) -> String {
        program.split(separator: "/").last.map(String.init) ?? program
    }

    /// The letters of the flags that take code, nil where `program` runs none.
    private static func codeFlags(of program: String) -> String? {
        let name = baseName(program)
        if shells.contains(name) { return "c" }
        let letters = String(name.prefix { $0.isLetter })
        return interpreters[letters]
    }

    /// `-c`, `-lc`, `--command`, and `-c` with the code attached.
    private static func isCodeFlag(_ text: String, _ flags: String) -> Bool {
        guard !flags.isEmpty, text.hasPrefix("-") else { return false }
        if text.hasPrefix("--") {
            return ["--command", "--eval", "--print", "--run"].contains {
                text == $0 || text.hasPrefix("\($0)=")
            }
        }
        return text.dropFirst().prefix { $0.isLetter }.contains { flags.contains($0.lowercased()) }
    }

    private static func strings(_ node: ConfigNode) -> [ConfigNode] {
        switch node.kind {
        case .string: [node]
        case .array(let elements): elements.flatMap(strings)
        case .object: node["args"].map(strings) ?? []
        case .null, .bool, .number: []
        }
    }
}
