import MCPCore
import MCPHarness

/// The answers of a scripted model.
///
/// Each line is one answer: `{"text": …}`, `{"calls": [{"name": …, "arguments": {…}}]}`, or both. The last
/// line is repeated for each further answer.
enum ModelScript {
    private static let form =
        #"script:FILE has one answer per line: {"text":"…"} or {"calls":[{"name":"…","arguments":{…}}]}"#

    static func read(_ path: String) throws(Failure) -> ScriptedModel {
        let bytes: [UInt8]
        do {
            bytes = try SystemFile.read(path)
        } catch {
            var failure = error
            failure.hint = form
            throw failure
        }
        var steps: [ScriptedModel.Step] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            guard let json = try? JSONValue(parsing: ByteSlice(line)), let step = step(json) else {
                throw .usage(
                    "line \(index + 1) of \(inlineText(path)) is not a model's answer",
                    hint: form)
            }
            steps.append(step)
        }
        guard !steps.isEmpty else {
            throw .usage("\(inlineText(path)) contains no answer of a model", hint: form)
        }
        return ScriptedModel(steps)
    }

    private static func step(_ json: JSONValue) -> ScriptedModel.Step? {
        guard has(json, only: ["text", "calls"]) else { return nil }
        let text = json["text"]?.stringValue
        if json["text"] != nil, text == nil { return nil }
        guard let calls = json["calls"] else { return text.map(ScriptedModel.Step.text) }
        guard let calls = calls.arrayValue, !calls.isEmpty else { return nil }
        var made: [(name: String, arguments: String)] = []
        for call in calls {
            guard has(call, only: ["name", "arguments"]), let name = call["name"]?.stringValue else {
                return nil
            }
            made.append((name, (call["arguments"] ?? [:]).serialized()))
        }
        return .events { [made] request in
            (text.map { [.textDelta($0)] } ?? [])
                + made.enumerated().map { index, call in
                    .toolCall(
                        ModelToolCall(
                            callID: "call_\(request.messages.count)_\(index + 1)", name: call.name,
                            arguments: call.arguments))
                } + [.stop("tool_calls")]
        }
    }

    /// Whether an object has no other members than these: a misspelt one would otherwise be ignored.
    private static func has(_ json: JSONValue, only names: Set<String>) -> Bool {
        json.objectValue?.allSatisfy { names.contains($0.key) } ?? false
    }
}
