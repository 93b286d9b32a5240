import MCPCore

/// The counts of what a server offers, for the banner.
struct ServedContents: Sendable, Hashable {
    var tools = 0
    /// Directories of files. Counting the files would delay the start.
    var directories = 0
    var resources = 0
    var prompts = 0
    /// Other servers, whatever they offer.
    var servers = 0

    /// A text such as `3 tools, 1 directory of files, 2 prompts`; kinds without any entry are left out.
    var description: String {
        var parts: [String] = []
        if tools > 0 { parts.append(Diagnostics.counted(tools, "tool")) }
        if directories > 0 {
            parts.append(directories == 1 ? "1 directory of files" : "\(directories) directories of files")
        }
        if resources > 0 { parts.append(Diagnostics.counted(resources, "resource")) }
        if prompts > 0 { parts.append(Diagnostics.counted(prompts, "prompt")) }
        if servers > 0 { parts.append(Diagnostics.counted(servers, "server")) }
        return parts.isEmpty ? "nothing to offer" : parts.joined(separator: ", ")
    }
}
