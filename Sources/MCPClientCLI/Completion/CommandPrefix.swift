import MCPCore

/// The finished words of a command line, read as far as they go.
struct CommandPrefix {
    private(set) var command: Command?
    /// The words after the command, TARGET included.
    private(set) var operands: [String] = []
    /// The words after the tool or prompt.
    private(set) var arguments: [String] = []
    /// The flags with their values, as they were typed.
    private(set) var flags: [(flag: Flag, words: [String])] = []
    /// The flag whose value comes next.
    private(set) var pending: Flag?
    /// Whether the words belong to a program after `--`.
    private(set) var isProgram = false
    /// A word that cannot be understood, where a command or a flag should be.
    private(set) var unknown: String?
    var isUnknown: Bool { unknown != nil }

    init(_ words: [String], commands: [Command]) {
        var index = 0
        while index < words.count, !isProgram {
            let word = words[index]
            index += 1
            if word == "--" {
                isProgram = true
            } else if takesArguments {
                readArgument(word, words, &index)
            } else if word.hasPrefix("-"), word != "-" {
                readFlag(word, words, &index)
            } else if command != nil {
                operands.append(word)
            } else if let named = commands.first(where: { $0.name == word }) {
                command = named
            } else {
                unknown = unknown ?? word
            }
        }
    }

    /// Whether the next word is an argument of the tool or prompt.
    var takesArguments: Bool {
        guard let command, command.takesArguments else { return false }
        return operands.count >= command.operands.count + (command.targets == .one ? 1 : 0)
    }

    /// TARGET; nil if there is none yet.
    var target: String? { command?.targets == .one || command?.isForHTTP == true ? operands.first : nil }

    /// The tool or prompt, or what else the first operand after TARGET names.
    var subject: String? {
        let index = command?.targets == .one ? 1 : 0
        return operands.indices.contains(index) ? operands[index] : nil
    }

    /// What the next word stands for; nil if the command takes no more words.
    var kind: WordKind? {
        guard let command else { return nil }
        let kinds = (command.targets == .one ? [.server] : []) + command.operands.map(\.kind)
        if kinds.indices.contains(operands.count) { return kinds[operands.count] }
        let isOpen = [.oneOrMore, .zeroOrMore].contains(command.operands.last?.count)
        return isOpen ? kinds.last : nil
    }

    private mutating func readArgument(_ word: String, _ words: [String], _ index: inout Int) {
        let isValue = arguments.last.map { $0.hasPrefix("--") && !$0.contains("=") } ?? false
        let isShort = word.hasPrefix("-") && !word.hasPrefix("--") && !word.contains("=")
        if isShort, !isValue, Flag.named(word) != nil || Flag.named(String(word.prefix(2))) != nil {
            return readFlag(word, words, &index)
        }
        arguments.append(word)
    }

    private mutating func readFlag(_ word: String, _ words: [String], _ index: inout Int) {
        if let flag = Flag.named(word) {
            guard flag.row.value != nil else { return flags.append((flag, [word])) }
            guard index < words.count else { return pending = flag }
            flags.append((flag, [word, words[index]]))
            index += 1
        } else if word.hasPrefix("--"), let flag = Flag.named(String(word.prefix { $0 != "=" })) {
            flags.append((flag, [word]))
        } else if let flag = Flag.named(String(word.prefix(2))), flag.row.value != nil {
            flags.append((flag, [word]))
        } else {
            unknown = unknown ?? word
        }
    }
}
