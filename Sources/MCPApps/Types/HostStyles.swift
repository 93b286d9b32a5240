public import MCPCore

/// How the host looks: the variables and fonts that a view takes over (MCP Apps 2026-01-26 "Theming").
public struct HostStyles: Sendable, Hashable {
    /// A CSS custom property and its value.
    public struct Variable: Sendable, Hashable {
        /// The name, with `--` in front.
        public let name: String
        /// The value, for both themes: `light-dark(…, …)` where they differ.
        public let value: String

        /// Sets a variable.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The variables. Give all of a group or none: a view's own values for the others would clash.
    public var variables: [Variable]
    /// Rules `@font-face` and `@import`; nil for none.
    public var fonts: String?

    /// Looks.
    public init(variables: [Variable], fonts: String? = nil) {
        self.variables = variables
        self.fonts = fonts
    }

    /// `hostContext.styles`.
    public var json: JSONObject {
        var object: JSONObject = [
            "variables": .object(JSONObject(variables.map { (key: $0.name, value: .string($0.value)) }))
        ]
        if let fonts { object["css"] = ["fonts": .string(fonts)] }
        return object
    }
}
