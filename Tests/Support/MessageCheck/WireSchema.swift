package import MCPCore
import Synchronization

/// Who wrote a message.
package enum Side: String, Sendable { case client, server }

/// A request that awaits its answer: what decides which type the answer must have.
package struct AskedRequest: Sendable, Hashable {
    package let method: String
    package let version: String
}

/// The official schema of one revision: which type a message must have, and whether it has it.
package final class WireSchema: Sendable {
    package let version: String
    private let base: String
    private let document: JSONValue
    private let definitions: JSONObject
    /// The names of the requests and notifications, by method.
    private let types: [String: String]
    /// The errors that have a type of their own, by code.
    private let errors: [Int: String]
    private let allowed: [Side: Set<String>]
    private let compiled = Mutex<[String: CompiledSchema]>([:])

    package init(version: String, text: String) throws {
        self.version = version
        guard var document = try JSONValue(parsing: text).objectValue else { throw NothingThere() }
        let folder = document["$defs"] == nil ? "definitions" : "$defs"
        guard var definitions = document[folder]?.objectValue else { throw NothingThere() }
        // Published as `integer`, corrected later: these bounds are numbers.
        if var number = definitions["NumberSchema"]?.objectValue,
            var properties = number["properties"]?.objectValue
        {
            for name in ["minimum", "maximum", "default"] where properties[name] != nil {
                properties[name] = ["type": "number"]
            }
            number["properties"] = .object(properties)
            definitions["NumberSchema"] = .object(number)
        }
        if var answer = definitions["ElicitResult"]?.objectValue,
            var properties = answer["properties"]?.objectValue, let content = properties["content"]
        {
            properties["content"] = Self.withNumbers(content)
            answer["properties"] = .object(properties)
            definitions["ElicitResult"] = .object(answer)
        }
        if version == "2026-07-28" {
            for (name, definition) in TaskSchema.definitions { definitions[name] = definition }
        }
        document[folder] = .object(definitions)
        self.document = .object(document)
        self.definitions = definitions
        base = "mcp:\(version)#/\(folder)/"
        var types: [String: String] = [:]
        var errors: [Int: String] = [:]
        for name in definitions.keys {
            guard let definition = definitions[name] else { continue }
            if let method = definition["properties"]?["method"]?["const"]?.stringValue,
                name.hasSuffix("Request") || name.hasSuffix("Notification"), name != "ClientNotification"
            {
                types[method] = name
            }
            for part in definition["properties"]?["error"]?["allOf"]?.arrayValue ?? [] {
                if let code = part["properties"]?["code"]?["const"]?.intValue { errors[code] = name }
            }
        }
        self.types = types
        self.errors = errors
        allowed = [
            .client: Self.methods(
                ["ClientRequest", "ClientNotification", "TaskExtensionClient"], definitions),
            .server: Self.methods(
                ["ServerRequest", "ServerNotification", "TaskExtensionServer"], definitions),
        ]
    }

    /// A schema that has `number` wherever it had `integer`.
    private static func withNumbers(_ schema: JSONValue) -> JSONValue {
        switch schema {
        case .array(let elements): .array(elements.map(withNumbers))
        case .object(let members): .object(JSONObject(members.map { ($0.key, withNumbers($0.value)) }))
        case "integer": "number"
        default: schema
        }
    }

    /// The methods that the members of these unions have.
    private static func methods(_ unions: [String], _ definitions: JSONObject) -> Set<String> {
        var methods: Set<String> = []
        for union in unions {
            guard let definition = definitions[union] else { continue }
            for member in definition["anyOf"]?.arrayValue ?? [definition] {
                let name = member["$ref"]?.stringValue?.split(separator: "/").last.map { String($0) }
                let type = name.flatMap { definitions[$0] } ?? member
                if let method = type["properties"]?["method"]?["const"]?.stringValue {
                    methods.insert(method)
                }
            }
        }
        return methods
    }

    /// The types that cannot be checked, and why.
    package func unusable() -> [String] {
        definitions.keys.flatMap { problems([:], is: $0) }.filter { $0.contains("cannot be used") }
    }

    package func knows(_ method: String) -> Bool { types[method] != nil }

    private func problems(_ value: JSONValue, is type: String, at pointer: String = "") -> [String] {
        do {
            let schema = try compiled.withLock { compiled throws -> CompiledSchema in
                if let schema = compiled[type] { return schema }
                let schema = try CompiledSchema(
                    ["$ref": .string(base + type)],
                    options: SchemaOptions(documents: ["mcp:\(version)": document]))
                compiled[type] = schema
                return schema
            }
            return schema.validate(value).map {
                "\(type) \(pointer)\($0.instancePath): \($0.message)"
            }
        } catch {
            return ["the schema of \(type) cannot be used: \(error)"]
        }
    }

    /// What is wrong with one message that is no batch; empty when nothing is.
    ///
    /// - Parameter asked: the requests that an answer may belong to.
    package func problems(_ message: JSONValue, from side: Side, asked: Set<AskedRequest>) -> [String] {
        guard message["method"] == nil else { return problemsOfCall(message, from: side) }
        if message["error"] != nil { return problemsOfError(message) }
        let envelope =
            definitions["JSONRPCResultResponse"] == nil ? "JSONRPCResponse" : "JSONRPCResultResponse"
        let found = problems(message, is: envelope)
        guard found.isEmpty, let result = message["result"], !asked.isEmpty else { return found }
        var first: [String]?
        for request in asked {
            let found = problemsOfResult(result, of: request.method)
            if found.isEmpty { return [] }
            first = first ?? found
        }
        return first ?? []
    }

    private func problemsOfCall(_ message: JSONValue, from side: Side) -> [String] {
        guard let method = message["method"]?.stringValue else { return ["/method is no string"] }
        let isRequest = message["id"] != nil
        let found = problems(message, is: isRequest ? "JSONRPCRequest" : "JSONRPCNotification")
        guard found.isEmpty else { return found }
        guard let type = types[method] else {
            // What no revision knows is an extension of whoever wrote the test.
            return WireSchemas.shared?.knows(method) == true
                ? ["\(version) has no method \(method)"] : []
        }
        guard isRequest == type.hasSuffix("Request") else { return ["\(method) is a \(type)"] }
        guard allowed[side]?.contains(method) == true else {
            return ["the \(side.rawValue) must not send \(method) in \(version)"]
        }
        return problems(message, is: type)
    }

    private func problemsOfError(_ message: JSONValue) -> [String] {
        var message = message
        let envelope = definitions["JSONRPCErrorResponse"] == nil ? "JSONRPCError" : "JSONRPCErrorResponse"
        // JRPC-12: where the id could not be read it is null, which the schemas before 2025-11-25 do not
        // know; before the handshake nobody knows that the client is so old, and the id is left out
        // (JRPC-11).
        if envelope == "JSONRPCError", message["id"] == nil || message["id"]?.isNull == true {
            var members = message.objectValue ?? JSONObject()
            members["id"] = 0
            message = .object(members)
        }
        let found = problems(message, is: envelope)
        guard found.isEmpty, let code = message["error"]?["code"]?.intValue, let type = errors[code] else {
            return found
        }
        return problems(message, is: type)
    }

    /// The type of a result follows from the method of its request and from `resultType`.
    private func problemsOfResult(_ result: JSONValue, of method: String) -> [String] {
        guard let request = types[method] else { return [] }
        let stem = request.dropLast("Request".count)
        let usual = definitions["\(stem)Result"] == nil ? "EmptyResult" : "\(stem)Result"
        var type = usual
        switch result["resultType"]?.stringValue {
        case "input_required":
            let choices = definitions["\(usual)Response"]?["properties"]?["result"]?["anyOf"]?.arrayValue
            let isAllowed = choices?.contains {
                $0["$ref"]?.stringValue?.hasSuffix("/InputRequiredResult") == true
            }
            guard isAllowed == true else { return ["\(method) must not be answered with input_required"] }
            type = "InputRequiredResult"
        case "task":
            guard method == "tools/call" else { return ["\(method) must not be answered with a task"] }
            type = "CreateTaskResult"
        case "complete": break
        case let other?: return ["\"\(other)\" is no resultType"]
        case nil: if method == "tools/call", result["task"] != nil { type = "CreateTaskResult" }
        }
        return problems(result, is: type, at: "/result")
    }
}
