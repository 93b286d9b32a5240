/// A demonstration tool of `provide`, as named by `--tool`.
enum DemoTool: String, Sendable, CaseIterable {
    case greet, clipboard, location, notify

    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    init(parsing name: String) throws(Failure) {
        guard let tool = DemoTool(rawValue: name) else {
            throw .usage("--tool \(quoted(name)) is not known", hint: "--tool is one of \(Self.names)")
        }
        self = tool
    }
}
