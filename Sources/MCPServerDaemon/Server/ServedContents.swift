/// The counts of what a server offers, for the banner.
struct ServedContents: Sendable, Hashable {
    var tools = 0
    var files = 0
    /// Whether the count of files stopped at the limit on what one directory lists.
    var filesAreMore = false
    var resources = 0
    var prompts = 0
    /// Other servers, whatever they offer.
    var servers = 0

    /// A text such as `3 tools, 41 files, 2 prompts`; kinds without any entry are left out.
    var description: String {
        var parts: [String] = []
        if tools > 0 { parts.append(Diagnostics.counted(tools, "tool")) }
        if files > 0 {
            parts.append(filesAreMore ? "more than \(files) files" : Diagnostics.counted(files, "file"))
        }
        if resources > 0 { parts.append(Diagnostics.counted(resources, "resource")) }
        if prompts > 0 { parts.append(Diagnostics.counted(prompts, "prompt")) }
        if servers > 0 { parts.append(Diagnostics.counted(servers, "server")) }
        return parts.isEmpty ? "nothing to offer" : parts.joined(separator: ", ")
    }
}
