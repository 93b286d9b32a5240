/// The capabilities that a client offers to a server (basic/index "Per-request protocol fields").
///
/// The object is open: unknown keys are preserved in `json` (CAP-03).
public struct ClientCapabilities: WireType {
    /// The capabilities as received.
    public var json: JSONValue

    /// Creates capabilities from an object, which is kept unchanged.
    public init(json: JSONValue) throws(JSONError) {
        _ = try MemberReader(json, as: "ClientCapabilities")
        self.json = json
    }

    /// Creates capabilities with the given features.
    ///
    /// - Parameter extensions: settings by identifier; `{}` for an extension without settings.
    public init(
        roots: Bool = false, sampling: Bool = false, samplingTools: Bool = false,
        samplingContext: Bool = false, elicitation: Bool = false, elicitationURL: Bool = false,
        extensions: JSONObject = [:]
    ) {
        var object = JSONObject()
        if roots { object["roots"] = [:] }
        if sampling || samplingTools || samplingContext {
            var members = JSONObject()
            if samplingTools { members["tools"] = [:] }
            if samplingContext { members["context"] = [:] }
            object["sampling"] = .object(members)
        }
        if elicitation || elicitationURL {
            var members = JSONObject()
            if elicitation { members["form"] = [:] }
            if elicitationURL { members["url"] = [:] }
            object["elicitation"] = .object(members)
        }
        if !extensions.isEmpty { object["extensions"] = .object(extensions) }
        json = .object(object)
    }

    private func members(_ key: String) -> JSONObject? { json[key]?.objectValue }

    /// Whether the client provides its roots.
    public var hasRoots: Bool { members("roots") != nil }
    /// Whether the client can sample its model.
    public var hasSampling: Bool { members("sampling") != nil }
    /// Whether the client can sample its model with tools.
    public var hasSamplingTools: Bool { members("sampling")?["tools"] != nil }
    /// Whether the client can add the context of servers to sampling requests.
    public var hasSamplingContext: Bool { members("sampling")?["context"] != nil }
    /// Whether the client can show forms to its user; `{}` means forms (ELIC-01).
    public var hasElicitation: Bool {
        guard let modes = members("elicitation") else { return false }
        return modes["form"] != nil || modes["url"] == nil
    }
    /// Whether the client can open web pages for its user.
    public var hasElicitationURL: Bool { members("elicitation")?["url"] != nil }
    /// The declared extensions, by identifier.
    public var extensions: JSONObject { members("extensions") ?? [:] }

    /// Returns whether an extension is declared.
    public func has(extension identifier: String) -> Bool { extensions[identifier] != nil }

    /// Returns the part of `wanted` that is not declared, in the form of an error's `requiredCapabilities`;
    /// nil when nothing is missing.
    public func missing(of wanted: ClientCapabilities) -> JSONObject? {
        var missing = JSONObject()
        if wanted.hasRoots, !hasRoots { missing["roots"] = [:] }
        if wanted.hasSampling {
            let needs = [
                ("tools", wanted.hasSamplingTools && !hasSamplingTools),
                ("context", wanted.hasSamplingContext && !hasSamplingContext),
            ].filter(\.1)
            if !hasSampling || !needs.isEmpty {
                missing["sampling"] = .object(JSONObject(needs.map { (key: $0.0, value: [:]) }))
            }
        }
        if let modes = wanted.members("elicitation") {
            var needs = JSONObject()
            if modes["form"] != nil || modes["url"] == nil, !hasElicitation { needs["form"] = [:] }
            if modes["url"] != nil, !hasElicitationURL { needs["url"] = [:] }
            if !needs.isEmpty { missing["elicitation"] = .object(needs) }
        }
        let lacking = wanted.extensions.filter { !has(extension: $0.key) }
        if !lacking.isEmpty { missing["extensions"] = .object(JSONObject(lacking)) }
        return missing.isEmpty ? nil : missing
    }

    /// Returns the capabilities that are missing to answer a server's request; nil when none are.
    func missing(for request: InputRequest) -> JSONObject? { missing(of: request.needs) }
}
