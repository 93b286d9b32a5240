/// Patterns for the URIs of resources: those that match, except those that match a pattern with `!` in front.
///
/// What callers write is compared, so that another spelling of a URI reaches nothing that is left out.
struct UpstreamResourceFilter: ResourceView {
    private struct Unwanted {
        let written: Glob
        let decoded: Glob
        let short: Glob

        init(_ text: String) {
            let forms = URISpelling.forms(ofPattern: text)
            (written, decoded, short) = (Glob(text), Glob(forms.decoded), Glob(forms.short))
        }

        func matches(_ uri: String, _ readings: URISpelling.Readings) -> Bool {
            written.matches(uri) || readings.decoded.contains { decoded.matches($0) }
                || readings.short.contains { short.matches($0) }
        }
    }

    private let wanted: NamePatterns
    /// The hosts with letters outside ASCII that `wanted` names, in the one spelling that is let through.
    private let wantedHosts: Set<[UInt8]>
    private let unwanted: [Unwanted]
    /// The patterns of `unwanted` as they are written, and in their short form.
    private let unwantedTexts: (written: NamePatterns, short: NamePatterns)

    init(_ patterns: [String]) {
        let wanted = patterns.filter { !$0.hasPrefix("!") }
        self.wanted = NamePatterns(wanted.isEmpty ? ["*"] : wanted)
        wantedHosts = Set(wanted.compactMap(URISpelling.internationalHost))
        let texts = patterns.filter { $0.hasPrefix("!") }.map { String($0.dropFirst()) }
        unwanted = texts.map { Unwanted($0) }
        unwantedTexts = (
            NamePatterns(texts), NamePatterns(texts.map { URISpelling.forms(ofPattern: $0).short })
        )
    }

    var showsAllNames: Bool { wanted.fitAll && unwanted.isEmpty }

    func showsAll(beginning: String) -> Bool {
        if showsAllNames { return true }
        return wanted.fitAll(beginning: beginning) && !URISpelling.hasOpenHost(beginning: beginning)
            && hasClearHost(beginning)
            && !URISpelling.short(beginning: beginning).contains { unwantedTexts.short.mayFit(beginning: $0) }
    }

    /// Whether no server can take the host of a URI for another one, or a pattern names it.
    private func hasClearHost(_ uri: String) -> Bool {
        URISpelling.internationalHost(uri).map(wantedHosts.contains) ?? true
    }

    func shows(uri: String) -> Bool {
        if showsAllNames { return true }
        guard wanted.fit(uri), hasClearHost(uri) else { return false }
        if unwanted.isEmpty { return true }
        let spelling = URISpelling(uri)
        guard !spelling.isUnclear else { return false }
        let readings = spelling.readings
        return !unwanted.contains { $0.matches(uri, readings) }
    }

    func shows(template: String) -> Bool {
        let beginning = String(template.prefix { $0 != "{" })
        return wanted.mayFit(beginning: beginning) && !unwantedTexts.written.fitAll(beginning: beginning)
    }
}
