/// A type whose schema is known without probing its `init(from:)`.
protocol ProbedValue {
    static func probed(_ probe: Probe, _ node: ProbeNode) -> Self
}

extension Bool: ProbedValue {
    static func probed(_: Probe, _ node: ProbeNode) -> Bool {
        node.shape = .fixed(["type": "boolean"])
        return false
    }
}

extension String: ProbedValue {
    static func probed(_: Probe, _ node: ProbeNode) -> String {
        node.shape = .fixed(["type": "string"])
        return ""
    }
}

extension ProbedValue where Self: BinaryFloatingPoint {
    static func probed(_: Probe, _ node: ProbeNode) -> Self {
        node.shape = .fixed(["type": "number"])
        return 0
    }
}

extension ProbedValue where Self: FixedWidthInteger {
    static func probed(_: Probe, _ node: ProbeNode) -> Self {
        var schema: JSONObject = ["type": "integer"]
        // The bounds of 64-bit integers would only be noise to readers of the schema.
        if !isSigned || bitWidth < 64 { schema["minimum"] = JSONValue(min) }
        if bitWidth < 64 { schema["maximum"] = JSONValue(max) }
        node.shape = .fixed(.object(schema))
        return 0
    }
}

extension Double: ProbedValue {}
extension Float: ProbedValue {}
extension Int: ProbedValue {}
extension Int8: ProbedValue {}
extension Int16: ProbedValue {}
extension Int32: ProbedValue {}
extension Int64: ProbedValue {}
extension UInt: ProbedValue {}
extension UInt8: ProbedValue {}
extension UInt16: ProbedValue {}
extension UInt32: ProbedValue {}
extension UInt64: ProbedValue {}

extension JSONValue: ProbedValue {
    static func probed(_: Probe, _ node: ProbeNode) -> JSONValue {
        node.shape = .fixed([:])
        return .null
    }
}

extension RawJSON: ProbedValue {
    static func probed(_: Probe, _ node: ProbeNode) -> RawJSON {
        node.shape = .fixed([:])
        return .null
    }
}

extension JSONNumber: ProbedValue {
    static func probed(_: Probe, _ node: ProbeNode) -> JSONNumber {
        node.shape = .fixed(["type": "number"])
        return JSONNumber(0)
    }
}

extension JSONObject: ProbedValue {
    static func probed(_: Probe, _ node: ProbeNode) -> JSONObject {
        node.shape = .fixed(["type": "object"])
        return [:]
    }
}

// MARK: Containers

/// Containers return an empty sample, so that recursion through them ends.
extension Optional: ProbedValue where Wrapped: Decodable {
    static func probed(_ probe: Probe, _ node: ProbeNode) -> Wrapped? {
        _ = try? probe.value(Wrapped.self, node)
        node.isNullable = true
        return nil
    }
}

extension Array: ProbedValue where Element: Decodable {
    static func probed(_ probe: Probe, _ node: ProbeNode) -> [Element] {
        let element = ProbeNode()
        node.shape = .array(element)
        _ = try? probe.value(Element.self, element)
        return []
    }
}

extension Set: ProbedValue where Element: Decodable {
    static func probed(_ probe: Probe, _ node: ProbeNode) -> Set<Element> {
        let element = ProbeNode()
        node.shape = .array(element)
        node.hasUniqueElements = true
        _ = try? probe.value(Element.self, element)
        return []
    }
}

extension Dictionary: ProbedValue where Key: Decodable, Value: Decodable {
    static func probed(_ probe: Probe, _ node: ProbeNode) -> [Key: Value] {
        let value = ProbeNode()
        // Codable encodes keys other than strings and integers as an array of alternating keys and values.
        let isObject =
            Key.self == String.self || Key.self == Int.self || Key.self is any CodingKeyRepresentable.Type
        node.shape = isObject ? .dictionary(value) : .array(ProbeNode())
        if isObject { _ = try? probe.value(Value.self, value) }
        return [:]
    }
}
