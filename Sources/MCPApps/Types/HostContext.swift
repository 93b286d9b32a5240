public import MCPCore

/// The environment of a view (MCP Apps 2026-01-26 "Host Context"). A value that is nil is not sent.
public struct HostContext: Sendable, Hashable {
    /// The tool call that the view shows.
    public struct ToolInfo: Sendable, Hashable {
        /// The id of the call.
        public var id: JSONValue?
        /// The tool.
        public var tool: Tool

        /// Creates the description of a call.
        public init(id: JSONValue? = nil, tool: Tool) {
            self.id = id
            self.tool = tool
        }
    }

    /// The capabilities of the device.
    public struct Device: Sendable, Hashable {
        /// Whether the device has touch input.
        public var touch: Bool?
        /// Whether a pointer can hover over it.
        public var hover: Bool?

        /// Creates the description of a device.
        public init(touch: Bool? = nil, hover: Bool? = nil) {
            self.touch = touch
            self.hover = hover
        }
    }

    /// The length of one side of the view in CSS pixels, and the party that decides about it.
    public enum Extent: Sendable, Hashable {
        /// The host decides; the view fills this length.
        case fixed(Double)
        /// The view decides, up to this length.
        case flexible(Double)
    }

    /// The space that the view has; a nil side is unbounded.
    public struct Dimensions: Sendable, Hashable {
        /// The width.
        public var width: Extent?
        /// The height.
        public var height: Extent?

        /// Creates the description of a space.
        public init(width: Extent? = nil, height: Extent? = nil) {
            self.width = width
            self.height = height
        }
    }

    /// The space at the edges that is covered by something else, in CSS pixels.
    public struct Insets: Sendable, Hashable {
        /// The inset of each edge.
        public var top, right, bottom, left: Double

        /// Creates insets.
        public init(top: Double = 0, right: Double = 0, bottom: Double = 0, left: Double = 0) {
            (self.top, self.right, self.bottom, self.left) = (top, right, bottom, left)
        }
    }

    /// The tool call that the view shows.
    public var toolInfo: ToolInfo?
    /// `light` or `dark`.
    public var theme: String?
    /// The appearance of the host.
    public var styles: HostStyles?
    /// The mode in which the view is shown.
    public var displayMode: DisplayMode?
    /// The modes in which the host can show views.
    public var availableDisplayModes: [DisplayMode]?
    /// The space that the view has.
    public var containerDimensions: Dimensions?
    /// The user's language (BCP 47).
    public var locale: String?
    /// The user's time zone (IANA).
    public var timeZone: String?
    /// The host's program.
    public var userAgent: String?
    /// `web`, `desktop` or `mobile`.
    public var platform: String?
    /// The capabilities of the device.
    public var deviceCapabilities: Device?
    /// The space at the edges that is covered by something else.
    public var safeAreaInsets: Insets?

    /// Creates an empty context.
    public init() {}
}

/// The JSON form.
extension HostContext {
    /// The `hostContext` member of the response to `ui/initialize`.
    public var json: JSONObject {
        var object = JSONObject()
        if let toolInfo {
            var info = JSONObject()
            info["id"] = toolInfo.id
            info["tool"] = toolInfo.tool.json
            object["toolInfo"] = .object(info)
        }
        object["theme"] = theme.map(JSONValue.string)
        object["styles"] = styles.map { .object($0.json) }
        object["displayMode"] = displayMode.map { .string($0.rawValue) }
        object["availableDisplayModes"] = availableDisplayModes.map {
            .array($0.map { .string($0.rawValue) })
        }
        object["containerDimensions"] = containerDimensions.map { .object($0.json) }
        object["locale"] = locale.map(JSONValue.string)
        object["timeZone"] = timeZone.map(JSONValue.string)
        object["userAgent"] = userAgent.map(JSONValue.string)
        object["platform"] = platform.map(JSONValue.string)
        if let device = deviceCapabilities {
            var members = JSONObject()
            members["touch"] = device.touch.map(JSONValue.bool)
            members["hover"] = device.hover.map(JSONValue.bool)
            object["deviceCapabilities"] = .object(members)
        }
        if let insets = safeAreaInsets {
            object["safeAreaInsets"] = [
                "top": JSONValue(finite: insets.top) ?? 0, "right": JSONValue(finite: insets.right) ?? 0,
                "bottom": JSONValue(finite: insets.bottom) ?? 0,
                "left": JSONValue(finite: insets.left) ?? 0,
            ]
        }
        return object
    }

    /// Returns the members that have changed: the params of `ui/notifications/host-context-changed`. A field
    /// that is now nil is not included, since the protocol has no way to express that.
    public func difference(from old: HostContext) -> JSONObject {
        guard self != old else { return [:] }
        let before = old.json
        return JSONObject(json.filter { before[$0.key] != $0.value })
    }
}

extension HostContext.Dimensions {
    var json: JSONObject {
        var object = JSONObject()
        switch width {
        case .fixed(let value): object["width"] = JSONValue(finite: value)
        case .flexible(let most): object["maxWidth"] = JSONValue(finite: most)
        case nil: break
        }
        switch height {
        case .fixed(let value): object["height"] = JSONValue(finite: value)
        case .flexible(let most): object["maxHeight"] = JSONValue(finite: most)
        case nil: break
        }
        return object
    }
}
