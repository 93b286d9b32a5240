import MCPApps
import MCPCore

/// A reader of the events of a host for the terminal and the history, until the host is closed or the work is
/// cancelled. When events come faster than it reads them, it begins again, and misses only lines of the log.
struct HostFollower {
    private let host: AppHost
    /// The ids of the entries of the history that are written.
    private var known: Set<String>
    /// The number of ids from which those are forgotten that the host has forgotten.
    private static let maxKnown = 4_096

    /// - Parameter known: the entries of the history that are written already.
    init(_ host: AppHost, known: [HistoryEntry]) {
        self.host = host
        self.known = Set(known.map(\.id))
    }

    /// Passes on the events as they come, and each entry of the history once.
    mutating func run(_ take: (HostEvent) async -> Void) async {
        var hasBegun = false
        while !Task.isCancelled, await !host.isClosed {
            let (snapshot, events) = await host.eventsWithSnapshot()
            if hasBegun {
                await take(.log(HostLogEntry("host", .warning, "lines of the log were left out")))
            }
            hasBegun = true
            for case .history(let entry) in snapshot { await pass(entry, take) }
            for await event in events {
                if case .history(let entry) = event {
                    await pass(entry, take)
                } else {
                    await take(event)
                }
            }
        }
    }

    private mutating func pass(_ entry: HistoryEntry, _ take: (HostEvent) async -> Void) async {
        guard known.insert(entry.id).inserted else { return }
        await take(.history(entry))
        guard known.count > Self.maxKnown else { return }
        let kept = await host.history().map(\.id)
        known.formIntersection(kept)
    }
}
