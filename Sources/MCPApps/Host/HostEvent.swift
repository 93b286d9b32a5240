public import MCPCore

/// What happens at an `AppHost`; a front end shows it.
///
/// Events of one kind replace what was told before of the same id: a front end keeps the last one.
public enum HostEvent: Sendable {
    /// A server, as it is now.
    case server(HostedServer)
    /// A server is gone.
    case serverRemoved(server: HostedServer.ID)
    /// The tools of a server, all of them.
    case tools(server: HostedServer.ID, [Tool])
    /// A call, as it is now.
    case call(HostedCall)
    /// A view is to be shown: a frame for it is to be made.
    case viewOpened(HostedView)
    /// A message for the frame of a view.
    case viewMessage(view: HostedView.ID, JSONValue)
    /// The size that a view wants, in CSS pixels, clamped to what it was offered; nil: not told.
    case viewSize(view: HostedView.ID, width: Double?, height: Double?)
    /// How a view is shown from now on.
    case viewMode(view: HostedView.ID, DisplayMode)
    /// Something is wrong with a view, in words; nil: no longer.
    case viewProblem(view: HostedView.ID, String?)
    /// The tools that a view offers; none when it is closed.
    case viewTools(view: HostedView.ID, [Tool])
    /// A view is over: its frame is to be removed.
    case viewClosed(view: HostedView.ID)
    /// Somebody has to decide.
    case question(HostQuestion)
    /// A question was answered, or nobody waits for the answer any more.
    case questionClosed(id: HostQuestion.ID)
    /// A link that the user agreed to open in a browser.
    case openLink(url: String)
    /// A file that the user agreed to save.
    case download(HostedDownload)
    /// A piece of the conversation, as it is now.
    case conversation(ConversationItem)
    /// Text that a piece of the conversation goes on with.
    case conversationDelta(id: ConversationItem.ID, String)
    /// A line for the log.
    case log(HostLogEntry)
    /// A call that is over, for the history.
    case history(HistoryEntry)
}

/// A line for the log of a host.
public struct HostLogEntry: Sendable {
    /// Who says it, for a person: a server's name, `view CLOCK`, `host`.
    public let source: String
    /// How grave it is.
    public let level: LoggingLevel
    /// What it says: a text, or any JSON.
    public let data: JSONValue

    /// A line.
    public init(_ source: String, _ level: LoggingLevel, _ data: JSONValue) {
        self.source = source
        self.level = level
        self.data = data
    }
}

/// A file that a view wants the user to save.
public struct HostedDownload: Sendable {
    /// The view.
    public let view: HostedView.ID
    /// The file's name: the last segment of the resource's address, without anything that is no part of a
    /// name.
    public let name: String
    /// The media type that the resource claims.
    public let mimeType: String
    /// The content, at most `AppHost.maxDownloadBytes`.
    public let bytes: [UInt8]
}

/// A piece of the conversation of a host.
public struct ConversationItem: Sendable, Identifiable {
    /// Whose words they are.
    public enum Author: Sendable, Hashable {
        /// The user typed them.
        case user
        /// A view said them in the user's name (`ui/message`).
        case view(String)
        /// The model.
        case model
        /// A view's context for the turns to come (`ui/update-model-context`): only the last one counts.
        case context(String)
        /// The host, about something that failed.
        case host
    }

    /// Names the piece.
    public let id: HostID<ConversationItem>
    /// Whose words they are.
    public let author: Author
    /// The content; text of the model grows by `conversationDelta`.
    public internal(set) var content: [ContentBlock]
    /// The size of the content as JSON.
    var bytes = 0

    init(id: ConversationItem.ID, author: Author, content: [ContentBlock]) {
        self.id = id
        self.author = author
        self.content = content
    }

    /// The text of the content.
    public var text: String { content.compactMap(\.text).joined(separator: "\n") }
}
