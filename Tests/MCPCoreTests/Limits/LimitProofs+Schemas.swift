import TestSupport
import Testing

@testable import MCPCore

extension LimitProofs {
    static let schemas: [LimitProof] = {
        let limits = SchemaLimits()
        return [
            LimitProof(
                "depth of validation, steps, violations reported",
                "\(limits.maxDepth), \(limits.maxWork / 1_000_000) million, \(limits.maxViolations)",
                schemaLimits
            ),
            LimitProof(
                "marks of the look-arounds of a `pattern`, a bit for each of them and each character",
                LimitText.bytes(PatternMatcher.maxMarkBytes), marks),
            LimitProof(
                "text of the places of all subschemas and the URIs of all schema resources",
                LimitText.bytes(SchemaIndex.maxNameBytes), names),
            LimitProof("subschemas of one schema", LimitText.grouped(limits.maxSubschemas), subschemas),
        ]
    }()

    @Sendable private static func schemaLimits() async throws {
        try SchemaLimitsTests().stopsEndlessApplication()
        try SchemaLimitsTests().stopsExponentialWork()
        try SchemaLimitsTests().givesAFewViolations()
        try SchemaLimitsTests().goesDownToTheDepthOfJSON()
    }

    @Sendable private static func marks() async throws {
        let program = try PatternProgram(PatternParser.parse("(?=a)(?=.)(?!b)(?=\\w)"))
        // 32 bytes for each 64 positions, of which the end is one.
        for (count, isFound) in [(511, true), (512, nil)] {
            let text = [UInt32](repeating: 0x61, count: count)
            var matcher = PatternMatcher(program, text: text, budget: 1 << 30, maxMarkBytes: 8 * 32)
            var left = 0
            #expect(matcher.search(left: &left) == isFound)
            #expect((left == 0) == (isFound == nil))
        }
        try PatternTests().looksAroundInBoundedMemory()
    }

    /// A place is the way from the root: "/properties/n", and beneath it "/anyOf/0" and so on.
    @Sendable private static func names() async throws {
        let branches = 1_023
        let ends = (0 ..< branches).reduce(0) { $0 + "/anyOf/\($1)".utf8.count }
        let prefix = "/properties/".utf8.count
        let place = (SchemaIndex.maxNameBytes - ends - 2 * prefix) / (branches + 1)
        let rest = SchemaIndex.maxNameBytes - ends - place * (branches + 1) - prefix
        func schema(_ excess: Int) -> JSONValue {
            let long = String(repeating: "n", count: place - prefix)
            let other = String(repeating: "o", count: rest + excess)
            return [
                "properties": .object([
                    long: ["anyOf": .array(Array(repeating: [:], count: branches))], other: [:],
                ])
            ]
        }
        _ = try CompiledSchema(schema(0))
        let error = #expect(throws: SchemaError.self) { try CompiledSchema(schema(1)) }
        #expect(error?.message.contains("\(SchemaIndex.maxNameBytes) bytes") == true)
        try SchemaLimitsTests().refusesPlacesThatTakeTooMuchMemory()
    }

    @Sendable private static func subschemas() async throws {
        func schema(_ count: Int) -> JSONValue {
            // The schema itself is one.
            ["allOf": .array(Array(repeating: [:], count: count - 1))]
        }
        let options = SchemaOptions(limits: SchemaLimits(maxSubschemas: 100))
        _ = try CompiledSchema(schema(100), options: options)
        #expect(throws: (any Error).self) { try CompiledSchema(schema(101), options: options) }
        SchemaLimitsTests().refusesTooManySubschemas()
    }
}
