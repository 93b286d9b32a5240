public import MCPCore

/// The appearance of the host: the variables and fonts that a view adopts (MCP Apps 2026-01-26 "Theming").
public struct HostStyles: Sendable, Hashable {
    /// A CSS custom property and its value.
    public struct Variable: Sendable, Hashable {
        /// The name, with a leading `--`.
        public let name: String
        /// The value for both themes: `light-dark(…, …)` if they differ.
        public let value: String

        /// Creates a variable.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The variables. Set all variables of a group or none: a view's own values for the others would clash.
    public var variables: [Variable]
    /// The `@font-face` and `@import` rules; nil for none.
    public var fonts: String?

    /// Creates styles.
    public init(variables: [Variable], fonts: String? = nil) {
        self.variables = variables
        self.fonts = fonts
    }

    /// The value of `hostContext.styles`.
    public var json: JSONObject {
        var object: JSONObject = [
            "variables": .object(JSONObject(variables.map { (key: $0.name, value: .string($0.value)) }))
        ]
        if let fonts { object["css"] = ["fonts": .string(fonts)] }
        return object
    }
}
