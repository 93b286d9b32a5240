import Synchronization
import TestSupport
import Testing

@testable import MCPCore

/// The servers of channels, of which there are so many.
@Suite struct ChannelServersTests {
    private final class Listener: ChangeSubscriber {
        func take(_ changes: [Change]) {}
    }

    private static func servers(_ made: Counter = Counter()) -> ChannelServers {
        ChannelServers(defaultChannel: "main") { _ in
            made.increment()
            return MCPServer("s", version: "1")
        }
    }

    private static func hold(_ server: MCPServer) { _ = server.dispatcher.subscriptions.bus.add(Listener()) }

    // C26: whoever needs no token takes half of the places at most, however long it holds them.
    @Test func thereIsRoomForThoseWithAToken() throws {
        let servers = Self.servers()
        for number in 0 ..< ClientToolLimits.openChannels {
            Self.hold(try servers.server(for: "open\(number)", isReserved: false))
        }
        #expect(throws: RegistrationError.self) { try servers.server(for: "one more", isReserved: false) }
        for number in 0 ..< ClientToolLimits.channels - ClientToolLimits.openChannels {
            Self.hold(try servers.server(for: "reserved\(number)"))
        }
        #expect(throws: RegistrationError.self) { try servers.server(for: "too many") }
        // Those that are there stay.
        #expect(try servers.server(for: "open0", isReserved: false) === servers.server(for: "open0"))
        #expect(servers.all.count == ClientToolLimits.channels)
        // It counts among the others now, which leaves a place that the table does not have.
        #expect(throws: RegistrationError.self) { try servers.server(for: "one more", isReserved: false) }
    }

    // The idle one that was used the longest ago makes room, and no other.
    @Test func oneIdleChannelMakesRoom() throws {
        let made = Counter()
        let servers = Self.servers(made)
        let main = try servers.server(for: "main")
        let held = try servers.server(for: "held")
        Self.hold(held)
        for number in 2 ..< ClientToolLimits.channels { _ = try servers.server(for: "c\(number)") }
        let second = try servers.server(for: "c2")
        #expect(made.value == ClientToolLimits.channels)
        _ = try servers.server(for: "new")
        #expect(servers.all.count == ClientToolLimits.channels)
        #expect(try servers.server(for: "main") === main)
        #expect(try servers.server(for: "held") === held)
        #expect(try servers.server(for: "c2") === second)
        #expect(try servers.server(for: "c4") === servers.server(for: "c4"))
        #expect(made.value == ClientToolLimits.channels + 1)
        _ = try servers.server(for: "c3")
        #expect(made.value == ClientToolLimits.channels + 2)
    }
}
