import MCPCore
import TestSupport
import Testing

/// Threads of Dispatch have 512 KiB of stack on Apple platforms: what a peer can nest fits there, also in a debug
/// build.
@Suite struct SmallStackTests {
    private static let stackBytes = 512 * 1_024
    private static let deepest = JSONLimits(maxDepth: 128)

    /// Schemas that apply themselves until a limit ends it, one for each keyword that leads to the next level.
    static let endless: [String: JSONValue] = [
        "allOf": ["allOf": [["$ref": "#"]]],
        "anyOf": ["anyOf": [["$ref": "#"]]],
        "oneOf": ["oneOf": [["$ref": "#"], false]],
        "not": ["not": ["$ref": "#"]],
        "if": ["if": ["$ref": "#"], "then": ["type": "null"]],
        "then": ["if": true, "then": ["$ref": "#"]],
        "$dynamicRef": ["$dynamicAnchor": "a", "allOf": [["$dynamicRef": "#a"]]],
        "unevaluated": ["unevaluatedProperties": false, "unevaluatedItems": false, "anyOf": [["$ref": "#"]]],
        "dependentSchemas": ["dependentSchemas": ["a": ["$ref": "#"]]],
        "properties": ["properties": ["a": ["anyOf": [["$ref": "#"]]]], "required": ["a"]],
        "patternProperties": ["patternProperties": ["a": ["anyOf": [["$ref": "#"]]]], "maxProperties": 9],
        "additionalProperties": ["additionalProperties": ["oneOf": [["$ref": "#"]]], "propertyNames": true],
        "unevaluatedProperties": ["unevaluatedProperties": ["anyOf": [["$ref": "#"]]]],
        "items": ["items": ["anyOf": [["$ref": "#"]]], "uniqueItems": true],
        "prefixItems": ["prefixItems": [["anyOf": [["$ref": "#"]]]], "minItems": 1],
        "contains": ["contains": ["anyOf": [["$ref": "#"]]]],
    ]

    private static func nested(
        _ depth: Int, _ opening: String, _ closing: String, around inside: String = "1"
    ) -> [UInt8] {
        let open = String(repeating: opening, count: depth), close = String(repeating: closing, count: depth)
        return Array((open + inside + close).utf8)
    }

    @Test(arguments: endless.keys.sorted())
    func aSchemaThatAppliesItselfEnds(_ name: String) async throws {
        let source = try #require(Self.endless[name])
        let results = try await onThread(stackBytes: Self.stackBytes) {
            let schema = try CompiledSchema(source)
            var results = schema.validate(["a": ["a": 1]])
            for (opening, closing) in [("{\"a\":", "}"), ("[", "]")] {
                let value = try JSONValue(
                    parsing: Self.nested(127, opening, closing), limits: Self.deepest)
                _ = schema.isValid(value)
                results += schema.validate(value)
            }
            return results
        }
        #expect(!results.isEmpty)
    }

    private final class Chain: Codable, Sendable {
        let a: Chain?
        init(_ a: Chain?) { self.a = a }
    }

    @Test func theDeepestDocumentIsReadComparedAndWritten() async throws {
        let text = Self.nested(127, "{\"a\":", "}")
        let isEqual = try await onThread(stackBytes: Self.stackBytes) {
            let value = try JSONValue(parsing: text, limits: Self.deepest)
            let again = try JSONValue(parsing: value.serialized(), limits: Self.deepest)
            return value == again && value.hashValue == again.hashValue
        }
        #expect(isEqual)
    }

    @Test func theDeepestTypeIsDecodedAndEncoded() async throws {
        let chain = (0 ..< 120).reduce(Chain(nil)) { chain, _ in Chain(chain) }
        let depth = try await onThread(stackBytes: Self.stackBytes) {
            var chain: Chain? = try RawJSON(encoding: chain).decode(Chain.self)
            var depth = 0
            while let next = chain?.a { (chain, depth) = (next, depth + 1) }
            return depth
        }
        #expect(depth == 120)
    }

    @Test func theDeepestSchemaIsCompiled() async throws {
        let text = Self.nested(63, "{\"properties\":{\"a\":", "}}", around: "true")
        let schema = try JSONValue(parsing: text, limits: Self.deepest)
        let isValid = try await onThread(stackBytes: Self.stackBytes) {
            try CompiledSchema(schema).isValid(["a": ["a": [:]]])
        }
        #expect(isValid)
    }
}
