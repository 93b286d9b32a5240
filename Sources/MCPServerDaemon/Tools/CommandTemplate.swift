/// The argv of a tool: each string of `exec` is one element, never split and never passed to a shell.
struct CommandTemplate: Sendable, Hashable {
    enum Item: Sendable, Hashable {
        case element(TemplateText)
        /// A nested array: left out as a whole if one of its arguments is absent.
        case optional([TemplateText])
        /// `{"when": "all", "args": ["--all"]}`: kept if the boolean is true.
        case when(String, [TemplateText])

        var elements: [TemplateText] {
            switch self {
            case .element(let element): [element]
            case .optional(let elements), .when(_, let elements): elements
            }
        }
    }

    /// The program, which never comes from an argument of the caller.
    var program: String
    var items: [Item]
}

/// The reason why a call's arguments do not yield a command; the text is sent to the caller.
struct ArgumentFailure: Error {
    var text: String
}

extension CommandTemplate {
    /// The largest argument of a program: what Linux accepts (MAX_ARG_STRLEN, with its NUL).
    static let maxArgumentBytes = 131_071

    /// Returns the argv for one call.
    ///
    /// An element that would begin with `-` because of an argument is refused, because it would be read as an
    /// option (CVE-2025-68143 and similar ones). It is accepted if a literal `--` came before it, or if its
    /// parameter has `"dash": true`.
    func argv(_ values: ArgumentValues) throws(ArgumentFailure) -> [String] {
        var argv = [program]
        var afterDashes = false
        for item in items {
            switch item {
            case .element(let element):
                try append(element, values, &argv, &afterDashes)
            case .optional(let elements):
                let names = elements.flatMap(\.argumentNames)
                guard names.allSatisfy(values.isPresent) else { continue }
                for element in elements { try append(element, values, &argv, &afterDashes) }
            case .when(let name, let elements):
                guard values.isTrue(name) else { continue }
                let names = elements.flatMap(\.argumentNames)
                guard names.allSatisfy(values.isPresent) else { continue }
                for element in elements { try append(element, values, &argv, &afterDashes) }
            }
        }
        return argv
    }

    private func append(
        _ element: TemplateText, _ values: ArgumentValues, _ argv: inout [String], _ afterDashes: inout Bool
    ) throws(ArgumentFailure) {
        if let name = element.splat {
            for text in try values.texts(name) {
                try guardSize(text)
                try guardDash(text, from: name, values, afterDashes)
                argv.append(text)
            }
            return
        }
        if let literal = element.literal {
            if literal == "--" { afterDashes = true }
            argv.append(literal)
            return
        }
        var text = ""
        for piece in element.pieces {
            switch piece {
            case .literal(let literal): text += literal
            case .argument(let name):
                let value = try values.text(name)
                try guardSize(value)
                // Only an argument that makes the element begin with a dash is suspect; `--author={author}`
                // is not.
                if text.isEmpty { try guardDash(value, from: name, values, afterDashes) }
                text += value
            }
        }
        if case .argument(let name)? = element.pieces.first {
            try guardDash(text, from: name, values, afterDashes)
        }
        try guardSize(text)
        argv.append(text)
    }

    private func guardSize(_ text: String) throws(ArgumentFailure) {
        guard text.utf8.count > Self.maxArgumentBytes else { return }
        throw ArgumentFailure(
            text: "an argument of the command would have \(text.utf8.count) bytes, but the system accepts "
                + "\(Self.maxArgumentBytes) at most: the tool has to take such a text from standard input")
    }

    private func guardDash(
        _ text: String, from name: String, _ values: ArgumentValues, _ afterDashes: Bool
    ) throws(ArgumentFailure) {
        guard text.utf8.first == UInt8(ascii: "-"), !afterDashes, !values.allowsDash(name) else { return }
        throw ArgumentFailure(
            text: "argument \"\(name)\" must not produce an element that begins with \"-\": "
                + "it would be read as an option (\"dash\": true in the configuration allows it)")
    }
}
