public import MCPCore

/// An event at an `AppHost`, for a front end to show.
///
/// An event replaces earlier events of the same kind and id: a front end keeps the last one.
public enum HostEvent: Sendable {
    /// A server in its current state.
    case server(HostedServer)
    /// A server was removed.
    case serverRemoved(server: HostedServer.ID)
    /// All tools of a server.
    case tools(server: HostedServer.ID, [Tool])
    /// A call in its current state.
    case call(HostedCall)
    /// A view is to be shown: a frame must be created for it.
    case viewOpened(HostedView)
    /// A message for the frame of a view.
    case viewMessage(view: HostedView.ID, JSONValue)
    /// The size that a view requests, in CSS pixels, clamped to what it was offered; `nil` if not specified.
    case viewSize(view: HostedView.ID, width: Double?, height: Double?)
    /// The display mode of a view from now on.
    case viewMode(view: HostedView.ID, DisplayMode)
    /// A view in its current state.
    case view(HostedView)
    /// A problem with a view, in words; `nil` when there is none any more.
    case viewProblem(view: HostedView.ID, String?)
    /// The tools that a view offers; none when it is closed.
    case viewTools(view: HostedView.ID, [Tool])
    /// A view has ended: its frame must be removed.
    case viewClosed(view: HostedView.ID)
    /// The user has to decide.
    case question(HostQuestion)
    /// A question was answered, or no caller waits for the answer any more.
    case questionClosed(id: HostQuestion.ID)
    /// A link that the user agreed to open in a browser.
    case openLink(url: String)
    /// A file that the user agreed to save.
    case download(HostedDownload)
    /// An item of the conversation in its current state.
    case conversation(ConversationItem)
    /// Text that continues an item of the conversation. Once its text is complete, the item comes again.
    case conversationDelta(id: ConversationItem.ID, String)
    /// Whether the model is answering; `AppHost.stopTalking` stops it.
    case turn(isRunning: Bool)
    /// A line for the log.
    case log(HostLogEntry)
    /// A call that has ended, for the history.
    case history(HistoryEntry)
}

/// A line for the log of a host.
public struct HostLogEntry: Sendable {
    /// The source of the line, for a person: a server's name, `view CLOCK`, `host`.
    public let source: String
    /// The severity of the line.
    public let level: LoggingLevel
    /// The content of the line: a text, or any JSON.
    public let data: JSONValue
    /// The time at which it was logged: a page that is reloaded shows it again.
    package let time = WallTime.now
    /// The size of the content.
    let bytes: Int

    /// Creates a line.
    public init(_ source: String, _ level: LoggingLevel, _ data: JSONValue) {
        self.source = source
        self.level = level
        self.data = data
        bytes = data.stringValue?.utf8.count ?? data.serialized().utf8.count
    }
}

/// A file that a view asks the user to save.
public struct HostedDownload: Sendable {
    /// The view that requested the download.
    public let view: HostedView.ID
    /// The file's name: the last segment of the resource's address, without anything that is not part of a
    /// name.
    public let name: String
    /// The media type that the resource declares.
    public let mimeType: String
    /// The content, at most `AppHost.maxDownloadBytes`.
    public let bytes: [UInt8]
}

/// An item of a host's conversation.
public struct ConversationItem: Sendable, Identifiable {
    /// The author of an item.
    public enum Author: Sendable, Hashable {
        /// The user, who typed the words.
        case user
        /// A view, in the user's name (`ui/message`).
        case view(String)
        /// The model.
        case model
        /// A view, with context for later turns (`ui/update-model-context`): only the last one counts.
        case context(String)
        /// The host, about something that failed.
        case host
    }

    /// The id of the item.
    public let id: HostID<ConversationItem>
    /// The author of the item.
    public let author: Author
    /// The content; the model's text grows through `conversationDelta`.
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
