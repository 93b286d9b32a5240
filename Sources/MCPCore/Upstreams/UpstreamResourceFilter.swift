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
    private let unwanted: [Unwanted]
    /// The patterns of `unwanted` as they are written, and in their short form.
    private let unwantedTexts: (written: NamePatterns, short: NamePatterns)

    init(_ patterns: [String]) {
        let wanted = patterns.filter { !$0.hasPrefix("!") }
        self.wanted = NamePatterns(wanted.isEmpty ? ["*"] : wanted)
        let texts = patterns.filter { $0.hasPrefix("!") }.flatMap {
            URISpelling.withSchemes(pattern: String($0.dropFirst()))
        }
        unwanted = texts.map { Unwanted($0) }
        unwantedTexts = (
            NamePatterns(texts), NamePatterns(texts.map { URISpelling.forms(ofPattern: $0).short })
        )
    }

    var showsAllNames: Bool { wanted.fitAll && unwanted.isEmpty }

    /// Whether a pattern may leave something out of a scheme: nothing is offered there whose host libraries
    /// may take for another one.
    private func concerns(scheme: String) -> Bool { unwantedTexts.short.mayFit(beginning: scheme) }

    func showsAll(beginning: String) -> Bool {
        guard wanted.fitAll(beginning: beginning) else { return false }
        if unwanted.isEmpty { return true }
        let spelling = URISpelling(beginning)
        let isSafe = spelling.host.isUsual && !spelling.host.isOpen
        return (isSafe || !concerns(scheme: spelling.scheme))
            && !unwantedTexts.short.mayFit(beginning: spelling.short)
    }

    func shows(uri: String) -> Bool { wanted.fit(uri) && (unwanted.isEmpty || !leavesOut(uri)) }

    private func leavesOut(_ uri: String) -> Bool {
        let spelling = URISpelling(uri)
        guard !spelling.isUnclear, spelling.host.isUsual || !concerns(scheme: spelling.scheme) else {
            return true
        }
        let readings = spelling.readings
        return unwanted.contains { $0.matches(uri, readings) }
    }

    func mayShow(beginning: String) -> Bool {
        guard wanted.mayFit(uriBeginning: beginning) else { return false }
        if unwanted.isEmpty { return true }
        // Only the last part goes on.
        if URISpelling(beginning + "-").isUnclear { return false }
        let spelling = URISpelling(beginning)
        if let path = spelling.closedPath, leavesOut(path) { return false }
        let mayBeUsual = spelling.host.isUsual || spelling.host.isOpen
        return (mayBeUsual || !concerns(scheme: spelling.scheme))
            && !unwantedTexts.written.fitAll(beginning: beginning)
            && !unwantedTexts.short.fitAll(beginning: spelling.short)
    }
}
