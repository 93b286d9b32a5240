import MCPCore

/// What the response to a request must be. Without anything, it is a result that reports no error.
struct TestExpectation: Sendable {
    private var isError = false
    private var errorCode: Int?
    private var text: String?
    private var contains: [String] = []
    private var structured: JSONValue?
    private var parts: [(path: String, select: SelectPath, value: JSONValue)] = []
    private var maxMilliseconds: Double?

    private static let known = ["isError", "error", "text", "contains", "structured", "select", "atMostMs"]

    /// Reads `expect`; what is wrong with it is added to the problems.
    ///
    /// - Parameter kind: the kind of test: only the result of a tool reports errors.
    init(_ node: ConfigNode?, of kind: String, _ problems: inout [String]) {
        guard let node else { return }
        guard let members = node.members else {
            problems.append("\(node.position): expect is not an object")
            return
        }
        for member in members {
            let value = member.value
            var isValid = true
            switch member.key {
            case "isError":
                if case .bool(let flag) = value.kind { isError = flag } else { isValid = false }
            case "error":
                errorCode = value.json.intValue
                isValid = errorCode != nil
            case "text":
                text = value.string
                isValid = text != nil
            case "contains":
                contains = value.string.map { [$0] } ?? value.elements?.compactMap(\.string) ?? []
                isValid =
                    !contains.isEmpty && !contains.contains("")
                    && contains.count == value.elements?.count ?? 1
            case "structured": structured = value.json
            case "atMostMs":
                maxMilliseconds = value.json.doubleValue
                isValid = maxMilliseconds != nil
            case "select":
                isValid = value.members?.isEmpty == false
                for part in value.members ?? [] {
                    do throws(Failure) {
                        parts.append((part.key, try SelectPath(parsing: part.key), part.value.json))
                    } catch { problems.append("\(part.value.position): \(error.message)") }
                }
            default:
                let best =
                    Suggestion.best(for: member.key, among: Self.known).map { "; did you mean \($0)?" } ?? ""
                problems.append("\(value.position): unknown expectation \(quoted(member.key))\(best)")
            }
            if !isValid {
                let mayBeEmpty = ["contains", "select"].contains(member.key)
                problems.append(
                    "\(value.position): \(member.key) \(mayBeEmpty ? "is empty or " : "")has the wrong type")
            }
            if member.key == "isError", kind != "call" {
                problems.append("\(value.position): isError has no effect on \(kind)")
            }
        }
        // An error has none of what the others are about.
        for member in members where errorCode != nil && !["error", "atMostMs"].contains(member.key) {
            problems.append("\(member.value.position): \(member.key) has no effect beside error")
        }
    }

    /// Returns what differs; nothing when the response is as expected.
    func failures(_ outcome: Result<RawJSON, Failure>, milliseconds: Double) -> [String] {
        var failures: [String] = []
        if let maxMilliseconds, milliseconds > maxMilliseconds {
            failures.append(
                "took \(TimeSpan.decimal(milliseconds)) ms, more than \(TimeSpan.decimal(maxMilliseconds)) ms"
            )
        }
        switch outcome {
        case .failure(let failure):
            if let errorCode, failure.rpcCode == errorCode { return failures }
            let wanted = errorCode.map { "; expected the error \($0)" } ?? ""
            return failures + ["\(failure.message)\(wanted)"]
        case .success(let result):
            if let errorCode { return failures + ["there is a result; expected the error \(errorCode)"] }
            return failures + differences(result)
        }
    }

    private func differences(_ result: RawJSON) -> [String] {
        var failures: [String] = []
        let isFailed = result["isError"]?.bool == true
        let shownText = Self.texts(result).joined(separator: "\n")
        if isFailed != isError {
            failures.append(
                isFailed
                    ? "the tool failed: \(TerminalText.inline(shownText, limit: 300))"
                    : "the tool did not fail; expected isError true")
        }
        if let text, text != shownText {
            failures.append(Self.mismatch("text", .string(text), .string(shownText)))
        }
        for part in contains where !shownText.contains(part) {
            failures.append(
                "the text does not contain \(quoted(part)): "
                    + quoted(TerminalText.inline(shownText, limit: 200))
            )
        }
        if let structured {
            let value = result["structuredContent"]?.value
            if value != structured { failures.append(Self.mismatch("structuredContent", structured, value)) }
        }
        for part in parts {
            let value = (try? part.select.select(from: result))?.value
            if value != part.value { failures.append(Self.mismatch(part.path, part.value, value)) }
        }
        return failures
    }

    private static func mismatch(_ name: String, _ expected: JSONValue, _ value: JSONValue?) -> String {
        let shown = value.map { TerminalText.inline($0.serialized(), limit: 300) } ?? "missing"
        return
            "\(inlineText(name)) is \(shown); "
            + "expected \(TerminalText.inline(expected.serialized(), limit: 300))"
    }

    /// The texts of a result: of its content, of the contents of resources, of the messages of a prompt.
    private static func texts(_ result: RawJSON) -> [String] {
        let blocks = (result["content"] ?? result["contents"])?.elements ?? []
        let messages = result["messages"]?.elements?.compactMap { $0["content"] } ?? []
        return (blocks + messages).compactMap { $0["text"]?.string }
    }
}
