import MCPCore

/// A request to a running server.
enum ControlRequest: Sendable, Hashable {
    case status(isJSON: Bool)
    case errors(count: Int)
    /// - Parameter atMost: the time to wait for the end of the reload; nil for as long as it takes.
    case reload(atMost: Duration?)
    case drain
}

/// The options of the commands for operators.
struct ControlFlags: Sendable, Hashable {
    /// `--json`
    var isJSON = false
    /// `-n`
    var count: Int?
    /// `--timeout`
    var timeout: Duration?
    /// `--admin`
    var address: ConfiguredAddress?
    /// The files that `init` prints.
    var files: [SetupFile] = []

    static let commands = ["status", "errors", "reload", "drain", "audit", "init"]

    mutating func setCount(_ text: String) throws(CommandLineError) {
        guard let number = Int(text), (1 ... ErrorRing.capacity).contains(number) else {
            throw CommandLineError(
                "-n \(text) is not a number from 1 to \(ErrorRing.capacity)", hint: "for example -n 20")
        }
        count = number
    }

    mutating func setTimeout(_ text: String) throws(CommandLineError) {
        guard let time = Units.duration(text) else {
            throw CommandLineError(
                "--timeout needs a time with its unit, not \"\(text)\"", hint: "for example --timeout 90s")
        }
        timeout = time
    }

    /// Returns the command of a name, or `nil` if it is not one for operators.
    func command(
        _ name: String, _ rest: ArraySlice<String>, file: String?, _ overrides: [Override]
    ) throws(CommandLineError) -> Command? {
        switch name {
        case "status": return .control(.status(isJSON: isJSON), file: file, overrides, address)
        case "errors": return .control(.errors(count: count ?? 20), file: file, overrides, address)
        case "reload": return .control(.reload(atMost: timeout), file: file, overrides, address)
        case "drain": return .control(.drain, file: file, overrides, address)
        case "audit":
            guard rest.first == "verify", rest.count > 1 else {
                throw CommandLineError(
                    "audit needs a command and a file", hint: "mcp-server audit verify FILE…")
            }
            return .verify(files: Array(rest.dropFirst()))
        case "init":
            let configuration = file
            guard let file = files.first, files.count == 1 else {
                let flags = SetupFile.allCases.map { "--\($0.rawValue)" }
                throw CommandLineError(
                    files.isEmpty ? "init needs a kind of file" : "init prints one kind of file",
                    hint: "give one of \(flags.joined(separator: ", "))")
            }
            return .setup(file, configuration: configuration, overrides)
        default: return nil
        }
    }

    /// Returns the options that a command accepts.
    static func options(of command: String) -> Set<String> {
        let file: Set<String> = ["-c", "--config", "--set"]
        switch command {
        case "status": return file.union(["--admin", "--json"])
        case "errors": return file.union(["--admin", "-n"])
        case "reload": return file.union(["--admin", "--timeout"])
        case "drain": return file.union(["--admin"])
        case "init": return file.union(SetupFile.allCases.map { "--\($0.rawValue)" })
        default: return []
        }
    }
}
