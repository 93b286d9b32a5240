import MCPCore

/// A failure in the forms that a person and a program read.
enum FailureText {
    private static let maxDetails = 16

    static func lines(_ failure: Failure, style: Style) -> String {
        // At the left edge, a peer's line could pass for one of ours.
        let message = failure.message.replacing("\n", with: "\n  ")
        var lines = [(failure.hasPrefix ? style.red(style.bold("error:")) + " " : "") + message]
        lines += failure.details.prefix(maxDetails).map { "  " + $0 }
        if let usage = failure.usage { lines.append(usage) }
        if let hint = failure.hint { lines.append(style.cyan("hint:") + " " + hint) }
        return lines.joined(separator: "\n") + "\n"
    }

    /// `{"error":{"kind":"auth_required","code":4,"message":…,"status":401,"hint":…}}`
    static func json(_ failure: Failure) -> String {
        TerminalText.json(JSONValue.object(["error": value(failure)]).serialized()) + "\n"
    }

    static func value(_ failure: Failure) -> JSONValue {
        var error: JSONObject = [
            "kind": .string(failure.kind.rawValue), "code": JSONValue(failure.code.rawValue),
            "message": .string(failure.message),
        ]
        if !failure.details.isEmpty { error["details"] = .array(failure.details.map { .string($0) }) }
        if let status = failure.status { error["status"] = JSONValue(status) }
        if let rpc = failure.rpc {
            error["rpcCode"] = JSONValue(rpc.code)
            error["rpcMessage"] = .string(rpc.message)
            if let data = rpc.data { error["rpcData"] = data }
        }
        if let hint = failure.hint { error["hint"] = .string(hint) }
        return .object(error)
    }
}
