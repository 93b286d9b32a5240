import LimitPages
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
            LimitProof("subschemas of one schema", LimitText.grouped(limits.maxSubschemas), subschemas),
        ]
    }()

    @Sendable private static func schemaLimits() async throws {
        try SchemaLimitsTests().stopsEndlessApplication()
        try SchemaLimitsTests().stopsExponentialWork()
        try SchemaLimitsTests().givesAFewViolations()
        try SchemaLimitsTests().goesDownToTheDepthOfJSON()
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
