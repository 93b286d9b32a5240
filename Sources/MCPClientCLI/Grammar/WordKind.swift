/// What a word on the command line stands for: an operand, or the value of a flag. Completion proposes words
/// of this kind.
enum WordKind: Sendable, Hashable {
    /// Any text; nothing can be proposed.
    case text
    case file
    case directory
    /// The name of an environment variable.
    case variable
    case choices([String])
    /// A server: a configured name or an address.
    case server
    /// A tool, a prompt or a resource of the server that TARGET names.
    case tool, prompt, resource
    /// What `complete` is about: a prompt or a resource template, and one of its arguments.
    case completionSubject, completionArgument, completionValue
    /// A command of `mcp-client`.
    case command

    /// Returns the kind that a placeholder in the help text describes.
    init(placeholder: String) {
        switch placeholder {
        case "FILE": self = .file
        case "DIR", "DIR|memory": self = .directory
        case "VAR": self = .variable
        case "TARGET", "NAME=TARGET": self = placeholder == "TARGET" ? .server : .text
        case "TOOL": self = .tool
        case "URI": self = .resource
        case "COMMAND": self = .command
        default:
            let words = placeholder.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            let areLiteral = words.allSatisfy { word in
                !word.isEmpty
                    && word.utf8.allSatisfy { byte in
                        byte.isASCIIAlphanumeric && !(UInt8(ascii: "A") ... UInt8(ascii: "Z")).contains(byte)
                            || byte == UInt8(ascii: "-")
                    }
            }
            self = areLiteral ? .choices(words) : .text
        }
    }
}
