import MCPCore
import TestSupport

/// One line of the table in docs/json.md: a text, and what becomes of it.
struct JSONDecision: Sendable, CustomStringConvertible {
    enum Verdict: Sendable {
        /// Read and written again, the text is this; the same text where nothing is given.
        case accept(String?)
        case reject(JSONError.Reason)
    }

    let id: String
    let input: [UInt8]
    let verdict: Verdict
    let why: String
    /// How the input is shown where it is too long to be spelled out.
    let shown: String?

    var description: String { id }

    static func accept(_ id: String, _ text: String, as written: String? = nil, _ why: String) -> JSONDecision
    {
        JSONDecision(id: id, input: Array(text.utf8), verdict: .accept(written), why: why, shown: nil)
    }

    static func reject(_ id: String, _ text: String, _ reason: JSONError.Reason, _ why: String)
        -> JSONDecision
    {
        JSONDecision(id: id, input: Array(text.utf8), verdict: .reject(reason), why: why, shown: nil)
    }

    static func reject(_ id: String, _ bytes: [UInt8], _ reason: JSONError.Reason, _ why: String)
        -> JSONDecision
    {
        JSONDecision(id: id, input: bytes, verdict: .reject(reason), why: why, shown: nil)
    }

    static func accept(_ id: String, shown: String, _ text: String, _ why: String) -> JSONDecision {
        JSONDecision(id: id, input: Array(text.utf8), verdict: .accept(nil), why: why, shown: shown)
    }

    static func reject(
        _ id: String, shown: String, _ text: String, _ reason: JSONError.Reason, _ why: String
    ) -> JSONDecision {
        JSONDecision(id: id, input: Array(text.utf8), verdict: .reject(reason), why: why, shown: shown)
    }
}
