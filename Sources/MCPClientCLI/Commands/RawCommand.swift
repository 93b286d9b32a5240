import MCPCore

/// `raw`: sends any request and prints the result as received.
struct RawCommand {
    let session: Session

    func run(_ method: String, _ json: String?) async throws(Failure) {
        let params = try Self.params(json, session.environment.input)
        if try session.isOnlyShown(method, params) { return }
        let result = try await session.request(method, params)
        if try !session.printer.printJSON(result) { session.printer.printWire(result) }
    }

    /// Returns the params, checked as far as possible before anything is read or sent.
    static func checkedText(_ json: String?) throws(Failure) -> JSONObject? {
        guard let json, !json.hasPrefix("@") else { return nil }
        return try object(Array(json.utf8), from: "JSON")
    }

    static func params(_ json: String?, _ input: ArgumentInput) throws(Failure) -> JSONObject {
        guard let json else { return [:] }
        if let object = try checkedText(json) { return object }
        let path = String(json.dropFirst())
        if path == "-" { return try object(input.stdin(), from: "stdin") }
        let bytes: [UInt8]
        do throws(Failure) { bytes = try input.file(path) } catch {
            throw error.hinting("@FILE is a file with the params, a JSON object; @- reads them from stdin")
        }
        return try object(bytes, from: inlineText(path))
    }

    private static func object(_ bytes: [UInt8], from source: String) throws(Failure) -> JSONObject {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw .usage("the params are not JSON", details: ["\(source): \(error)"])
        }
        guard case .object(let object) = value else {
            throw .usage("the params are not a JSON object", hint: "for example '{\"cursor\":\"\"}'")
        }
        return object
    }
}
