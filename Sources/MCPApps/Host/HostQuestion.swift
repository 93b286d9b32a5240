public import MCPCore
public import MCPHarness

/// Something that only the user can decide. Questions stand in the host's own surface, never in a view.
public struct HostQuestion: Sendable, Identifiable {
    /// What is asked.
    public enum Subject: Sendable {
        /// May this tool run?
        case approval(ApprovalRequest)
        /// A server asks, by a form or for the visit of a page.
        case elicitation(ElicitRequest)
        /// A view wants to open this address in a browser.
        case link(String)
        /// A view wants to save files: names and sizes in bytes.
        case download([(name: String, bytes: Int?)])
        /// A view wants to say this to the model in the user's name: the very text that the model gets.
        case message(String)
        /// A view, or a server, wants an answer of the model to this: the system prompt and all messages.
        case sampling(String)
    }

    /// Names the question.
    public let id: HostID<HostQuestion>
    /// What is asked.
    public let subject: Subject
    /// The server that it is about, for a person.
    public let server: String
    /// The view that asks; nil when it is the model, the user or the server.
    public let view: HostedView.ID?
}

/// What the user decided.
public enum QuestionAnswer: Sendable {
    /// Yes.
    case allow(remember: RememberScope = .once)
    /// No.
    case deny
    /// The form, filled in.
    case accept(JSONObject)
    /// The user left the question without an answer.
    case cancel

    var isYes: Bool {
        switch self {
        case .allow, .accept: true
        case .deny, .cancel: false
        }
    }
}
