public import MCPCore
public import MCPHarness

/// A decision that only the user can make. Questions appear in the host's own surface, never in a view.
public struct HostQuestion: Sendable, Identifiable {
    /// The subject of a question.
    public enum Subject: Sendable {
        /// Whether a tool may run.
        case approval(ApprovalRequest)
        /// A request from a server for input through a form, or for a visit to a page.
        case elicitation(ElicitRequest)
        /// A view's request to open this address in a browser.
        case link(String)
        /// A view's request to save files.
        case download([HostedFile])
        /// A view's request to send this to the model in the user's name: the exact text that the model
        /// receives.
        case message(String)
        /// A request of a view, or a server, for an answer from the model to this: the system prompt and all
        /// messages.
        case sampling(String)
    }

    /// The id of the question.
    public let id: HostID<HostQuestion>
    /// The subject of the question.
    public let subject: Subject
    /// The name of the server that it concerns, for a person.
    public let server: String
    /// The view that asks; `nil` when it is the model, the user or the server.
    public let view: HostedView.ID?
    /// Whether the tool that is to run is one that a view offers.
    package let isForViewTool: Bool
}

/// A file that a view wants to save.
public struct HostedFile: Sendable, Hashable {
    /// The name under which it is saved.
    public let name: String
    /// The media type, `type/subtype`.
    public let mimeType: String
    /// The size in bytes; `nil` for a file that is still on the server.
    public let bytes: Int?
    /// The address of the resource.
    public let uri: String
}

/// The user's decision.
public enum QuestionAnswer: Sendable {
    /// Yes.
    case allow(remember: RememberScope = .once)
    /// Yes, and the same for every later call of the view that asks, until it is closed or loaded again. For
    /// anything but the call of a view, this is `allow`.
    case allowView
    /// No.
    case deny
    /// The form, filled in.
    case accept(JSONObject)
    /// The user left the question unanswered.
    case cancel

    var isYes: Bool {
        switch self {
        case .allow, .allowView, .accept: true
        case .deny, .cancel: false
        }
    }
}
