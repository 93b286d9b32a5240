import MCPCore

/// A file of tests for `test`: which server, and what it must do.
struct TestFile: Sendable {
    /// The largest number of tests in one file.
    static let maxTests = 10_000

    /// A file for hints.
    static let example = #"{"server": "localhost:3000", "tests": [{"call": "add", "arguments": {"a": 1}}]}"#

    enum Server: Sendable {
        case target(String)
        case program([String])
    }

    /// What a test asks for.
    enum Action: Sendable {
        case request(method: String, params: JSONObject)
        /// These tools exist.
        case tools([String])
        /// The definitions are those of the lock file.
        case locked
    }

    struct Test: Sendable {
        let name: String
        let action: Action
        let expectation: TestExpectation
    }

    let server: Server?
    let tests: [Test]

    /// Reads a file.
    ///
    /// - Throws: with the place of everything that is unknown or has the wrong type.
    init(_ text: SourceText) throws(Failure) {
        let shown = text.name
        let diagnostics = Diagnostics()
        guard let root = JSONCParser.parse(text, into: diagnostics, acceptsMark: true), !diagnostics.hasErrors
        else {
            throw .usage(
                "\(shown) is not a file of tests",
                details: diagnostics.sorted.prefix(3).map { inlineText($0.rendered) })
        }
        var problems: [String] = []
        for member in root.members ?? [] where !["server", "tests", "$schema"].contains(member.key) {
            problems.append("\(member.value.position): unknown member \(quoted(member.key))")
        }
        switch root["server"]?.kind {
        case nil: server = nil
        case .string(let target): server = .target(target.value)
        case .array(let words) where !words.isEmpty && words.allSatisfy({ $0.string != nil }):
            server = .program(words.compactMap(\.string))
        default:
            server = nil
            problems.append("\(shown): \"server\" is a TARGET, or an array with a program and its arguments")
        }
        guard let nodes = root["tests"]?.elements else {
            throw .usage(
                "\(shown) has no array \"tests\"",
                hint: Self.example)
        }
        guard !nodes.isEmpty else { throw .usage("\(shown) has no test: \"tests\" is empty") }
        guard nodes.count <= Self.maxTests else {
            throw .usage("\(shown) has more than \(Self.maxTests) tests")
        }
        var tests: [Test] = []
        for node in nodes {
            if let test = Self.test(node, &problems) { tests.append(test) }
        }
        guard problems.isEmpty else {
            throw .usage("\(shown) cannot be used", details: Array(problems.prefix(8)))
        }
        self.tests = tests
    }

    private static let actions = ["call", "read", "prompt", "request", "tools", "locked"]
    /// What belongs to each of them besides `name`. Anything else would have no effect, and a test that
    /// checks less than it says would pass.
    private static let members = [
        "call": ["arguments", "expect"], "prompt": ["arguments", "expect"], "read": ["expect"],
        "request": ["params", "expect"], "tools": [], "locked": [],
    ]

    private static func test(_ node: ConfigNode, _ problems: inout [String]) -> Test? {
        let place = "\(node.position)"
        let members = node.members ?? []
        let known = actions + ["name", "arguments", "params", "expect"]
        for member in members where !known.contains(member.key) {
            let best = Suggestion.best(for: member.key, among: known).map { "; did you mean \($0)?" } ?? ""
            problems.append("\(member.value.position): unknown member \(quoted(member.key))\(best)")
        }
        let given = members.map(\.key).filter(actions.contains)
        guard given.count == 1, let kind = given.first, let value = node[kind] else {
            problems.append("\(place): a test has one of: \(actions.joined(separator: ", "))")
            return nil
        }
        let own = ["name", kind] + (Self.members[kind] ?? [])
        for member in members where known.contains(member.key) && !own.contains(member.key) {
            problems.append("\(member.value.position): \(member.key) has no effect on \(kind)")
        }
        func object(_ name: String) -> JSONObject {
            guard let member = node[name] else { return [:] }
            if let object = member.json.objectValue { return object }
            problems.append("\(member.position): \(name) is not an object")
            return [:]
        }
        let action: Action
        switch kind {
        case "locked":
            if value.json != true { problems.append("\(value.position): locked is true, or left out") }
            action = .locked
        case "tools":
            let names = value.elements?.compactMap(\.string) ?? []
            if names.isEmpty || names.count != value.elements?.count {
                problems.append("\(value.position): tools is not an array of names")
            }
            action = .tools(names)
        default:
            guard let text = value.string else {
                problems.append("\(value.position): \(kind) is not a string")
                return nil
            }
            switch kind {
            case "call":
                action = .request(
                    method: "tools/call",
                    params: ["name": .string(text), "arguments": .object(object("arguments"))])
            case "prompt":
                action = .request(
                    method: "prompts/get",
                    params: ["name": .string(text), "arguments": .object(object("arguments"))])
            case "read": action = .request(method: "resources/read", params: ["uri": .string(text)])
            default: action = .request(method: text, params: object("params"))
            }
        }
        let label = value.string ?? value.elements?.compactMap(\.string).joined(separator: " ") ?? ""
        let name = node["name"]?.string ?? (label.isEmpty ? kind : "\(kind) \(label)")
        let expectation = TestExpectation(node["expect"], of: kind, &problems)
        return Test(name: name, action: action, expectation: expectation)
    }
}
