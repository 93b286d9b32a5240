/// A record of what a type requests from its decoder.
final class ProbeNode {
    enum Shape {
        case unknown
        case object
        case array(ProbeNode)
        case dictionary(ProbeNode)
        case fixed(JSONValue)
    }

    private struct Member {
        let name: String
        let node: ProbeNode
        var isRequired: Bool
    }

    var shape = Shape.unknown
    var isNullable = false
    var hasUniqueElements = false
    private var members: [Member] = []

    var isUnknown: Bool {
        if case .unknown = shape { true } else { false }
    }

    func member(_ name: String) -> ProbeNode {
        shape = .object
        if let known = members.first(where: { $0.name == name }) { return known.node }
        members.append(Member(name: name, node: ProbeNode(), isRequired: true))
        return members[members.count - 1].node
    }

    func setOptional(_ name: String) {
        _ = member(name)
        for place in members.indices where members[place].name == name { members[place].isRequired = false }
    }

    func schema(path: String, describe: [String: String]) -> JSONValue {
        var result: JSONObject
        switch shape {
        case .unknown: result = [:]
        case .fixed(let schema):
            guard case .object(let object) = schema else { return schema }
            result = object
        case .array(let element):
            result = ["type": "array", "items": element.schema(path: path, describe: describe)]
            if hasUniqueElements { result["uniqueItems"] = true }
        case .dictionary(let value):
            result = [
                "type": "object", "additionalProperties": value.schema(path: path + ".*", describe: describe),
            ]
        case .object: result = objectSchema(path: path, describe: describe)
        }
        if isNullable { result = Self.nullable(result) }
        if !path.isEmpty, let text = describe[path] { result["description"] = .string(text) }
        return .object(result)
    }

    private func objectSchema(path: String, describe: [String: String]) -> JSONObject {
        var properties = JSONObject()
        for member in members {
            let inner = path.isEmpty ? member.name : "\(path).\(member.name)"
            properties[member.name] = member.node.schema(path: inner, describe: describe)
        }
        var result: JSONObject = ["type": "object", "properties": .object(properties)]
        let required = members.filter(\.isRequired).map { JSONValue.string($0.name) }
        if !required.isEmpty { result["required"] = .array(required) }
        return result
    }

    private static func nullable(_ schema: JSONObject) -> JSONObject {
        guard case .string(let type)? = schema["type"], schema["enum"] == nil, schema["const"] == nil else {
            return schema.isEmpty ? schema : ["anyOf": [.object(schema), ["type": "null"]]]
        }
        var result = schema
        result["type"] = [.string(type), "null"]
        return result
    }
}
