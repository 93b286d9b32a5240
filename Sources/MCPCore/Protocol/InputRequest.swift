/// One input that a server requests from its client: an answer from the user, an answer from the model, or
/// the roots (basic/patterns/mrtr "InputRequests").
public struct InputRequest: Sendable, Hashable {
    /// The request by its type.
    enum Kind: Sendable, Hashable {
        case elicit(ElicitRequest)
        case sample(CreateMessageRequest)
        case roots
    }

    let kind: Kind

    /// Creates a request to the user.
    public static func elicit(_ request: ElicitRequest) -> InputRequest {
        InputRequest(kind: .elicit(request))
    }
    /// Creates a request that shows the user a form.
    public static func elicit(_ message: String, _ schema: ElicitationSchema) -> InputRequest {
        .elicit(ElicitRequest(message, schema))
    }
    /// Creates a request to the client's model.
    public static func sample(_ request: CreateMessageRequest) -> InputRequest {
        InputRequest(kind: .sample(request))
    }
    /// A request for the client's roots.
    public static let roots = InputRequest(kind: .roots)

    /// The JSON-RPC method.
    public var method: String {
        switch kind {
        case .elicit: "elicitation/create"
        case .sample: "sampling/createMessage"
        case .roots: "roots/list"
        }
    }

    private init(kind: Kind) { self.kind = kind }

    /// Reads an entry of `inputRequests`, or a server's request, from its method and params.
    init(method: String, params: JSONValue) throws(JSONError) {
        switch method {
        case "elicitation/create": kind = .elicit(try ElicitRequest(json: params))
        case "sampling/createMessage": kind = .sample(try CreateMessageRequest(json: params))
        case "roots/list": kind = .roots
        default:
            let known = #""elicitation/create", "sampling/createMessage" or "roots/list""#
            let name = TerminalText.quoted(method.cleanedLine(maxBytes: 128))
            throw JSONError(
                .invalidValue(
                    "expected \(known), found \(name)"
                ),
                path: "/method")
        }
    }

    /// Reads an entry of `inputRequests`.
    init(json: JSONValue) throws(JSONError) {
        let members = try MemberReader(json, as: "InputRequest")
        let method = try members.string("method")
        do {
            try self.init(method: method, params: members["params"] ?? [:])
        } catch {
            throw error.path == "/method" ? error : error.prefixed(by: "/params")
        }
    }

    /// Writes `params` in the form that a revision defines.
    func writeParams(to writer: inout JSONWriter, for revision: Revision) {
        switch kind {
        case .elicit(let request): request.write(to: &writer, for: revision)
        case .sample(let request): request.write(to: &writer, for: revision)
        case .roots:
            writer.beginObject()
            writer.endObject()
        }
    }

    /// Writes an entry of `inputRequests`, without `jsonrpc` and `id` (MRTR-04).
    func write(to writer: inout JSONWriter, for revision: Revision) {
        writer.beginObject()
        writer.member("method", method)
        writer.key("params")
        writeParams(to: &writer, for: revision)
        writer.endObject()
    }

    /// The capabilities that a client must have declared to receive this request.
    var needs: ClientCapabilities {
        switch kind {
        case .elicit(let request):
            ClientCapabilities(elicitation: request.url == nil, elicitationURL: request.url != nil)
        case .sample(let request):
            ClientCapabilities(
                sampling: true, samplingTools: !request.tools.isEmpty || request.toolChoice != nil)
        case .roots: ClientCapabilities(roots: true)
        }
    }

    /// Describes why an answer does not fit the request; nil when it does (ELIC-24).
    func problem(with answer: JSONValue) -> String? {
        do {
            switch kind {
            case .elicit(let request):
                let result = try ElicitResult(json: answer)
                guard result.action == .accept, let schema = request.schema else { return nil }
                let violations = schema.violations(of: result.content ?? [:])
                return violations.isEmpty ? nil : violations.map(\.description).joined(separator: "; ")
            case .sample: _ = try CreateMessageResult(json: answer)
            case .roots: _ = try InputResponses.roots(in: answer)
            }
            return nil
        } catch {
            return "\(error)"
        }
    }
}

/// A client's answers, by the keys of the requests (basic/patterns/mrtr "InputResponses").
public struct InputResponses: Sendable, Hashable {
    private let answers: [String: JSONValue]

    init(_ answers: [String: JSONValue]) { self.answers = answers }

    /// The answer to the request with this key, as received.
    public subscript(key: String) -> JSONValue? { answers[key] }

    private func answer(_ key: String) throws(MCPError) -> JSONValue {
        guard let answer = answers[key] else { throw .invalidParams("There is no answer for \"\(key)\"") }
        return answer
    }

    private func read<T: WireType>(_ key: String, as type: T.Type) throws(MCPError) -> T {
        let answer = try answer(key)
        do {
            return try T(json: answer)
        } catch {
            throw .invalidParams("The answer for \"\(key)\" does not fit its request: \(error)")
        }
    }

    /// Returns the user's answer.
    ///
    /// - Throws: `MCPError` -32602 when there is no answer, or it has a different shape.
    public func elicitation(_ key: String) throws(MCPError) -> ElicitResult {
        try read(key, as: ElicitResult.self)
    }

    /// Returns the model's answer.
    ///
    /// - Throws: `MCPError` -32602 when there is no answer, or it has a different shape.
    public func sampling(_ key: String) throws(MCPError) -> CreateMessageResult {
        try read(key, as: CreateMessageResult.self)
    }

    /// Returns the client's roots.
    ///
    /// - Throws: `MCPError` -32602 when there is no answer, or it has a different shape.
    public func roots(_ key: String) throws(MCPError) -> [Root] {
        let answer = try answer(key)
        do {
            return try Self.roots(in: answer)
        } catch {
            throw .invalidParams("The answer for \"\(key)\" does not fit its request: \(error)")
        }
    }

    static func roots(in answer: JSONValue) throws(JSONError) -> [Root] {
        try MemberReader(answer, as: "ListRootsResult").array("roots", required: true)
    }
}
