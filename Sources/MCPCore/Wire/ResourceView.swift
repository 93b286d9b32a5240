/// What decides which resources there are for somebody.
protocol ResourceView {
    /// Whether every URI is among them.
    var showsAllNames: Bool { get }

    /// Returns whether every URI that begins with this text is among them.
    func showsAll(beginning: String) -> Bool

    /// Returns whether a URI is among them.
    func shows(uri: String) -> Bool

    /// Returns whether a URI that begins with this text may be among them.
    func mayShow(beginning: String) -> Bool
}

extension ResourceView {
    /// Returns whether a URI that matches a template may be among them.
    func shows(template: String) -> Bool { mayShow(beginning: String(template.prefix { $0 != "{" })) }
}
