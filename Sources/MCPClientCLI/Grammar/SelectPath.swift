import MCPCore

/// The path of `--select`: `.a.b[0]`, `.["odd name"]`.
struct SelectPath: Sendable, Hashable {
    enum Step: Sendable, Hashable {
        case member(String)
        case element(Int)
    }

    let steps: [Step]
    let text: String

    init(parsing text: String) throws(Failure) {
        self.text = text
        var steps: [Step] = []
        var rest = Substring(text)
        if let first = rest.first, first != ".", first != "[" { rest = "." + rest }
        while let first = rest.first {
            rest = rest.dropFirst()
            if first == "." {
                if rest.isEmpty, steps.isEmpty { break }
                if rest.first == "[" { continue }
                let name = rest.prefix { $0 != "." && $0 != "[" }
                guard !name.isEmpty, !name.contains("]") else { throw Self.invalid(text) }
                steps.append(.member(String(name)))
                rest = rest.dropFirst(name.count)
            } else if first == "[" {
                let (step, after) = try Self.bracket(rest, in: text)
                steps.append(step)
                rest = after
            } else {
                throw Self.invalid(text)
            }
        }
        guard steps.count <= 64 else { throw Self.invalid(text) }
        self.steps = steps
    }

    private static func bracket(_ rest: Substring, in text: String) throws(Failure) -> (Step, Substring) {
        if rest.first == "\"" {
            let name = rest.dropFirst().prefix { $0 != "\"" }
            let after = rest.dropFirst(name.count + 2)
            guard after.first == "]" else { throw invalid(text) }
            return (.member(String(name)), after.dropFirst())
        }
        let digits = rest.prefix { $0 != "]" }
        let after = rest.dropFirst(digits.count)
        guard after.first == "]", let index = Int(digits), index >= 0 else { throw invalid(text) }
        return (.element(index), after.dropFirst())
    }

    private static func invalid(_ text: String) -> Failure {
        .usage("--select \(quoted(text)) is not a path", hint: "for example .structuredContent.items[0].name")
    }

    /// Returns the part of `value` at the path.
    ///
    /// - Throws: a failure that names how far the path could be followed.
    func select(from value: RawJSON) throws(Failure) -> RawJSON {
        var current = value
        var walked = ""
        for step in steps {
            let next: RawJSON?
            let name: String
            switch step {
            case .member(let key):
                next = current[key]
                name = "." + key
            case .element(let index):
                next = current[index]
                name = "[\(index)]"
            }
            guard let next else { throw missing(name, in: current, after: walked) }
            walked += name
            current = next
        }
        return current
    }

    private func missing(_ name: String, in value: RawJSON, after walked: String) -> Failure {
        let place = walked.isEmpty ? "the result" : inlineText(walked)
        var detail: String?
        if case .object(let object) = value.value {
            let keys = object.keys.prefix(12).map { inlineText($0) }.joined(separator: ", ")
            detail = "\(place) has: \(keys.isEmpty ? "no members" : keys)"
        } else if case .array(let elements) = value.value {
            detail = "\(place) is an array of \(elements.count)"
        }
        return Failure(
            code: .protocolError, kind: .notFound,
            message: "--select \(inlineText(text)): \(place) has no \(inlineText(name))",
            details: detail.map { [$0] } ?? [])
    }
}
