/// Flags that control what is printed, and where.
enum OutputFlag: Sendable, CaseIterable {
    case json, raw, structured, select, output, quiet, verbose, wire, timings, color, images

    var row: FlagRow {
        switch self {
        case .json: FlagRow("--json", summary: "the result object exactly as on the wire")
        case .raw: FlagRow("--raw", summary: "the bytes of the single content block")
        case .structured: FlagRow("--structured", summary: "only structuredContent")
        case .select: FlagRow("--select", value: ".a.b[0]", summary: "one part of the result")
        case .output:
            FlagRow(
                "-o", "--output", value: "FILE",
                summary: "write to FILE; images and audio go to files next to it")
        case .quiet: FlagRow("-q", "--quiet", summary: "no notices and no progress")
        case .verbose: FlagRow("-v", "--verbose", summary: "one line per message, on stderr")
        case .wire: FlagRow("-vv", summary: "all traffic with headers; secrets are masked")
        case .images: FlagRow("--images", summary: "show images in the terminal (kitty and iTerm2 protocols)")
        case .timings: FlagRow("--timings", summary: "where the time went, on stderr")
        case .color:
            FlagRow(
                "--color", value: "auto|always|never",
                summary: "colour; NO_COLOR and CLICOLOR_FORCE are honoured")
        }
    }
}

extension Options {
    mutating func apply(_ flag: OutputFlag, _ value: FlagValue) throws(Failure) {
        switch flag {
        case .json: json = true
        case .raw: raw = true
        case .structured: structured = true
        case .select: select = try SelectPath(parsing: value.text)
        case .output: outputFile = value.text == "-" ? nil : try value.nonEmpty()
        case .quiet: quiet = true
        case .verbose: verbosity += 1
        case .wire: verbosity = 2
        case .timings: timings = true
        case .images: images = true
        case .color: color = try Self.colorChoice(value.text)
        }
    }

    private static func colorChoice(_ text: String) throws(Failure) -> ColorChoice {
        guard let choice = ColorChoice(rawValue: text) else {
            throw .usage("--color is auto, always or never, not \(quoted(text))")
        }
        return choice
    }
}
