/// A view of an `AppHost`: a server's user interface in a sandbox.
public struct HostedView: Sendable, Identifiable {
    /// The id of the view, also the first label of its origin's host name: letters and digits that cannot be
    /// guessed.
    public let id: HostID<HostedView>
    /// The server that it came from; it can reach no other.
    public let server: HostedServer.ID
    /// The name of the server, for a person.
    public let serverName: String
    /// The call that it shows.
    public let call: HostedCall.ID
    /// The tool of that call.
    public let tool: String
    /// The document and its metadata.
    public let resource: UIResource
    /// The policy that applies to its document.
    public let csp: UICSP
    /// The device features that it may use: those that it requested and the user granted.
    public let permissions: Set<UIPermission>
    /// Whether the document differs from the one that was shown the last time.
    public let hasChanged: Bool
    /// The display mode.
    public internal(set) var mode: DisplayMode = .inline
    /// Whether the view is active: its document was loaded and has begun.
    public internal(set) var isReady = false
    /// The display modes that it declared, of those that the host has.
    public internal(set) var modes: Set<DisplayMode> = []
    /// Whether the user allowed all its calls of tools, until it is closed or loaded again.
    public internal(set) var allowsCalls = false
    /// Whether it is refused without asking, because the user declined too many of its questions in a row.
    public internal(set) var isSilenced = false
    /// Whether it asked for another mode since it was put back, and was refused.
    package internal(set) var isHeld = false
    /// The number of its questions that wait behind the one that is open.
    public internal(set) var waitingQuestions = 0
    /// Whether it has used WebRTC, which no policy limits. Only an honest view shows this.
    public internal(set) var usesWebRTC = false
}

/// A reason why a front end removed the frame of a view.
public enum ViewStop: String, Sendable, Hashable, CaseIterable {
    /// It sent so many messages, or such large ones, that it could have blocked the front end.
    case flood
    /// It took the keyboard away from the user again and again.
    case keyboard

    var explanation: String {
        switch self {
        case .flood: "The view was stopped: it sent more messages than the page can take."
        case .keyboard: "The view was stopped: it kept taking the keyboard, or another view did so for it."
        }
    }
}

/// The user's surroundings, as a page or another front end knows them. A value that is `nil` is left as it
/// was.
public struct HostEnvironment: Sendable {
    /// The theme: `light` or `dark`.
    public var theme: String?
    /// The locale, as a BCP 47 tag.
    public var locale: String?
    /// The time zone, as an IANA name.
    public var timeZone: String?
    /// The platform: `web`, `desktop` or `mobile`.
    public var platform: String?
    /// Whether a finger can touch the view.
    public var touch: Bool?
    /// Whether a pointer can hover over the view.
    public var hover: Bool?

    /// Creates an environment with nothing new.
    public init() {}
}

/// The space available to a frame, in CSS pixels.
public struct ViewBounds: Sendable, Hashable {
    /// The width, which the host fixes.
    public var width: Double
    /// The maximum height; the view may be shorter.
    public var maxHeight: Double?
    /// The height, if the host fixes it (fullscreen).
    public var height: Double?

    /// Creates the bounds.
    public init(width: Double, maxHeight: Double? = nil, height: Double? = nil) {
        self.width = width
        self.maxHeight = maxHeight
        self.height = height
    }
}
