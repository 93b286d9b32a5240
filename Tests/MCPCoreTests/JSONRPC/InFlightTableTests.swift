import Dispatch
import Testing

@testable import MCPCore

@Suite struct InFlightTableTests {
    final class Entry: Sendable {}
    typealias Table = InFlightTable<Entry>

    // JRPC-03: an id is taken while its request is in flight, in its own channelID only.
    @Test func idsAreTakenWhileInFlight() {
        let table = Table()
        let (first, second) = (Entry(), Entry())
        let key = Table.Key(channelID: 1, id: RequestID(1))
        #expect(table.insert(first, at: key, limit: 9) == nil)
        #expect(table.insert(second, at: .init(channelID: 1, id: RequestID(1)), limit: 9) == .duplicate)
        #expect(table.insert(second, at: .init(channelID: 2, id: RequestID(1)), limit: 9) == nil)
        #expect(table.insert(second, at: .init(channelID: 1, id: RequestID("1")), limit: 9) == nil)
        #expect(table.count == 3)
        #expect(table.entry(at: key) === first)
        #expect(table.contains(key))
        table.remove(key)
        table.remove(key)
        #expect(table.count == 2)
        #expect(table.entry(at: key) == nil)
        #expect(table.insert(second, at: key, limit: 9) == nil)
    }

    @Test func limitPerScope() {
        let table = Table()
        for number in 0 ..< 4 {
            #expect(
                table.insert(Entry(), at: .init(channelID: 7, id: RequestID(Int64(number))), limit: 4) == nil)
        }
        #expect(table.insert(Entry(), at: .init(channelID: 7, id: RequestID(9)), limit: 4) == .full)
        #expect(table.insert(Entry(), at: .init(channelID: 8, id: RequestID(9)), limit: 4) == nil)
        #expect(table.entries(in: 7).count == 4)
        #expect(table.entries().count == 5)
        table.remove(.init(channelID: 7, id: RequestID(0)))
        #expect(table.insert(Entry(), at: .init(channelID: 7, id: RequestID(9)), limit: 4) == nil)
    }

    @Test func emptyTable() {
        let table = Table()
        #expect(table.count == 0)
        #expect(table.entries().isEmpty)
        #expect(!table.contains(.init(channelID: 0, id: RequestID(0))))
    }

    @Test func manyThreads() {
        let table = Table()
        DispatchQueue.concurrentPerform(iterations: 8) { worker in
            for round in 0 ..< 200 {
                let key = Table.Key(
                    channelID: UInt64(worker % 4), id: RequestID(Int64(worker * 1000 + round)))
                _ = table.insert(Entry(), at: key, limit: 1000)
                table.remove(key)
            }
        }
        #expect(table.count == 0)
        #expect(table.entries().isEmpty)
    }
}
