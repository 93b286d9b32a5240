import MCPCore

/// A parsed JSON-RPC message from a view.
enum ViewMessage {
    case request(id: JSONValue, method: String, params: JSONValue?)
    case notification(method: String, params: JSONValue?)
    case response(id: Int, Result<JSONValue, MCPError>)
    /// None of these; with the id for a response, if it has a usable one.
    case malformed(String, id: JSONValue?)

    /// The longest id that is repeated in a response: 256 bytes.
    private static let maxIDBytes = 256
    /// The length to which an error's text is truncated.
    static let maxErrorText = 2_000

    init(_ json: JSONValue) {
        guard case .object(let object) = json else {
            self = .malformed("not an object", id: nil)
            return
        }
        let id = object["id"].flatMap(Self.id)
        guard object["jsonrpc"]?.stringValue == "2.0" else {
            self = .malformed("not JSON-RPC 2.0", id: id)
            return
        }
        guard let method = object["method"] else {
            self = Self.response(object, id)
            return
        }
        guard let method = method.stringValue, method.utf8.count <= 256 else {
            self = .malformed("the method is not a string of at most 256 bytes", id: id)
            return
        }
        if object["id"] == nil {
            self = .notification(method: method, params: object["params"])
        } else if let id {
            self = .request(id: id, method: method, params: object["params"])
        } else {
            self = .malformed("the id of \(method) is neither a short string nor an integer", id: nil)
        }
    }

    private static func response(_ object: JSONObject, _ id: JSONValue?) -> ViewMessage {
        guard let number = id?.intValue else { return .malformed("neither a method nor an id", id: nil) }
        switch (object["result"], object["error"]) {
        case (let result?, nil): return .response(id: number, .success(result))
        case (nil, let error?):
            let text = error["message"]?.stringValue ?? "The view gave no reason."
            return .response(
                id: number,
                .failure(
                    MCPError(
                        code: error["code"]?.intValue ?? MCPError.internalErrorCode,
                        message: String(text.prefix(maxErrorText)), data: error["data"])))
        default: return .malformed("a response needs either a result or an error", id: nil)
        }
    }

    /// Returns an id that can be repeated in a response; nil for any other value.
    static func id(_ json: JSONValue) -> JSONValue? {
        switch json {
        case .string(let text): text.utf8.count <= maxIDBytes ? json : .none
        case .number(let number): number.text.utf8.count <= maxIDBytes && number.int64 != nil ? json : .none
        default: .none
        }
    }
}
