/// Creates sample values and records what each type requests from its decoder.
final class Probe {
    /// An error that stops the derivation at a point where no sample value can be created.
    struct Stop: Error {}

    private let root: ObjectIdentifier
    /// The types being probed, outermost first.
    private var open: [ObjectIdentifier] = []

    /// The maximum nesting depth of types.
    private static let maxDepth = 32

    init(root: ObjectIdentifier) { self.root = root }

    /// Returns a sample of `type` and records what is learned in `node`, even when no sample can be created.
    func value<T: Decodable>(_ type: T.Type, _ node: ProbeNode) throws -> T {
        if let known = T.self as? any ToolValue.Type {
            node.shape = .fixed(known.schema)
            return try Self.sample(of: known.schema).decode(T.self)
        }
        if let known = T.self as? any ProbedValue.Type {
            guard let sample = known.probed(self, node) as? T else { throw Stop() }
            return sample
        }
        if let cases = T.self as? any CaseIterable.Type, let sample = Self.firstCase(cases, node) as? T {
            return sample
        }
        let identity = ObjectIdentifier(type)
        guard !open.contains(identity) else {
            node.shape = .fixed(identity == root ? ["$ref": "#"] : ["type": "object"])
            throw Stop()
        }
        guard open.count < Self.maxDepth else { throw Stop() }
        open.append(identity)
        defer { open.removeLast() }
        return try T(from: ProbeDecoder(probe: self, node: node))
    }

    /// Records the raw values of an enum's cases, if they are strings or integers, and returns the first
    /// case.
    private static func firstCase<C: CaseIterable>(_ type: C.Type, _ node: ProbeNode) -> C? {
        var values: [JSONValue] = []
        var isText = true
        for element in type.allCases {
            guard let raw = (element as? any RawRepresentable)?.rawValue else { return nil }
            if let text = raw as? String {
                values.append(.string(text))
            } else if let number = raw as? any BinaryInteger {
                values.append(JSONValue(Int(clamping: number)))
                isText = false
            } else {
                return nil
            }
        }
        guard let first = type.allCases.first else { return nil }
        node.shape = .fixed(["type": isText ? "string" : "integer", "enum": .array(values)])
        return first
    }

    /// Returns a value that a schema accepts, as far as one can be determined without searching.
    private static func sample(of schema: JSONValue) -> JSONValue {
        if let value = schema["examples"]?[0] ?? schema["default"] ?? schema["const"] ?? schema["enum"]?[0] {
            return value
        }
        let type = schema["type"]?.stringValue ?? schema["type"]?[0]?.stringValue
        return switch type {
        case "string": ""
        case "integer", "number": schema["minimum"] ?? 0
        case "boolean": false
        case "array": []
        case "object": [:]
        default: nil
        }
    }
}
