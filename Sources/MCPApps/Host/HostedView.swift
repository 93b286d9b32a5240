/// A view of an `AppHost`: a server's user interface in a sandbox.
public struct HostedView: Sendable, Identifiable {
    /// Names the view; also the first label of its origin's host name: letters and digits, not to be guessed.
    public let id: HostID<HostedView>
    /// The server it came from; it reaches no other.
    public let server: HostedServer.ID
    /// What a person reads of the server.
    public let serverName: String
    /// The call that it shows.
    public let call: HostedCall.ID
    /// The tool of that call.
    public let tool: String
    /// The document and its metadata.
    public let resource: UIResource
    /// The policy that its document is under.
    public let csp: UICSP
    /// What it may use of the device: what it asked for and the user granted.
    public let permissions: Set<UIPermission>
    /// The document is not the one that was shown the last time.
    public let hasChanged: Bool
    /// How it is shown.
    public internal(set) var mode: DisplayMode = .inline
}

/// What a page, or another front end, knows of the user's surroundings. What is nil is left as it was.
public struct HostEnvironment: Sendable {
    /// `light` or `dark`.
    public var theme: String?
    /// BCP 47 tag.
    public var locale: String?
    /// IANA name.
    public var timeZone: String?
    /// `web`, `desktop` or `mobile`.
    public var platform: String?
    /// A finger can touch it.
    public var touch: Bool?
    /// A pointer can hover over it.
    public var hover: Bool?

    /// Nothing new.
    public init() {}
}

/// The room that a frame has, in CSS pixels.
public struct ViewBounds: Sendable, Hashable {
    /// The width, which the host fixes.
    public var width: Double
    /// The greatest height; the view may be lower.
    public var maxHeight: Double?
    /// The height, where the host fixes it (fullscreen).
    public var height: Double?

    /// Room.
    public init(width: Double, maxHeight: Double? = nil, height: Double? = nil) {
        self.width = width
        self.maxHeight = maxHeight
        self.height = height
    }
}
