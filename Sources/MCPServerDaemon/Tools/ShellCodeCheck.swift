import MCPCore

/// Finds placeholders inside program text that an interpreter would run, as in `sh -c "du {dir}"`.
///
/// A pipeline is possible if the argument is passed after the code:
/// `["sh", "-c", "du -s -- \"$1\"", "sh", "{dir}"]`.
struct ShellCodeCheck {
    private static let shells: Set<String> = [
        "sh", "bash", "rbash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "busybox", "su",
        "runuser", "script",
    ]
    /// Interpreters, with the letters of the options that accept code.
    private static let interpreters: [String: String] = [
        "python": "c", "pypy": "c", "perl": "em", "ruby": "er", "node": "epr", "nodejs": "epr", "deno": "epr",
        "bun": "epr", "php": "rbe", "lua": "e", "luajit": "e", "osascript": "e", "env": "s",
    ]

    /// The programs whose command may follow a user or a file.
    private static let namesUserFirst: Set<String> = ["su", "runuser", "script"]

    /// The path of the key, `tools.NAME.exec`.
    private let path: String
    private let diagnostics: Diagnostics

    init(path: String, _ diagnostics: Diagnostics) {
        self.path = path
        self.diagnostics = diagnostics
    }

    /// Checks the elements of `exec`, including nested arrays and conditions.
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
                    "\(path): a placeholder inside code would be run as code; pass it as an argument after "
                        + "the code, where a shell reads it as \"$1\"", at: node.position)
            }
            if let letters = Self.codeFlags(of: text) {
                flags = letters
                keepsFlags = Self.namesUserFirst.contains(Self.baseName(text))
            } else if !text.hasPrefix("-"), !previousIsFlag, !keepsFlags {
                // This is the script of an interpreter: the flags after it belong to the script.
                flags = ""
            }
            expectsCode = isCodeFlag || (expectsCode && text.hasPrefix("-"))
            previousIsFlag = text.hasPrefix("-")
        }
    }

    private static func baseName(_ program: String) -> String {
        program.split(separator: "/").last.map(String.init) ?? program
    }

    /// Returns the letters of the flags that accept code, or `nil` if `program` does not run any.
    private static func codeFlags(of program: String) -> String? {
        let name = baseName(program)
        if shells.contains(name) { return "c" }
        let letters = String(name.prefix { $0.isLetter })
        return interpreters[letters]
    }

    /// Returns whether a text is a flag that accepts code: `-c`, `-lc`, `--command`, or `-c` with the code
    /// attached.
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

extension ShellCodeCheck {
    private static let scriptNames: Set<String> = [
        "sh", "bash", "py", "pl", "rb", "js", "mjs", "cjs", "ts", "mts", "php", "lua", "jar",
    ]

    /// Returns the files among the words behind a program that it runs, as far as can be told: the first one
    /// of an interpreter, programs, and what has the name of a script.
    static func scripts(of program: String, _ words: [String], in directory: String?) -> [String] {
        let flags = codeFlags(of: program)
        var expectsScript = flags != nil
        var scripts: [String] = []
        for word in words {
            if word.hasPrefix("-") {
                if isCodeFlag(word, flags ?? "") || word == "-m" { expectsScript = false }
                continue
            }
            guard word.hasPrefix("/") || directory != nil, !word.isEmpty, !word.utf8.contains(0) else {
                continue
            }
            let path = Paths.absolute(word, relativeTo: directory ?? "/")
            // Most words are no files.
            guard let info = try? Files.info(path, followsLinks: true), info.kind == .file else { continue }
            let name = Paths.components(path).last ?? ""
            let ending = name.split(separator: ".").dropFirst().last.map { $0.lowercased() }
            if expectsScript || info.permissions & 0o111 != 0 || ending.map(scriptNames.contains) == true {
                scripts.append(path)
            }
            expectsScript = false
        }
        return scripts
    }
}
