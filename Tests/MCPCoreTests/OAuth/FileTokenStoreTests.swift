import Synchronization
import TestSupport
import Testing

@testable import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

@Suite(.timeLimit(.minutes(5))) struct FileTokenStoreTests {
    private static let key = TokenKey(issuer: "https://id.example", resource: "https://mcp.example/mcp")

    private static func entry(_ token: String = "access-1") -> StoredAuthorization {
        var entry = StoredAuthorization(
            registration: OAuthClientIdentity(
                clientID: "client-1", clientSecret: "secret-1", secretExpiresAt: 9,
                authenticationMethod: "none", redirectURI: "http://127.0.0.1:4711/callback"))
        entry.tokens = StoredTokens(
            accessToken: token, refreshToken: "refresh-1", scheme: "DPoP", expiresAt: 1_800_000_000,
            requestedScopes: ["a", "b"], grantedScopes: ["a"], dpopKey: [1, 2, 255])
        entry.generation = 3
        entry.isDoubtful = true
        return entry
    }

    /// A store in a directory that does not exist yet.
    private struct Place {
        let directory = TemporaryDirectory()
        var path: String { directory.path + "/state/auth" }
        var store: FileTokenStore { FileTokenStore(directory: path) }
        var file: String { "\(path)/\(FileTokenStore.name(of: key)).json" }
        var names: [String] { (try? Files.names(in: path).names.sorted()) ?? [] }

        func text() throws -> String {
            String(decoding: try Files.read(file, maxBytes: 1 << 20), as: UTF8.self)
        }
        func put(_ text: String, mode: UInt32 = 0o600) throws {
            try Files.replace(file, with: Array(text.utf8), mode: mode, isExact: true)
        }
    }

    private static func store(_ entry: StoredAuthorization?, in store: some TokenStore) async throws {
        try await store.update(key) { $0 = entry }
    }

    /// The message of the error with which reading fails; the update fails with the same one.
    private static func refusal(_ store: FileTokenStore) async throws -> String {
        let error = await #expect(throws: AuthorizationError.self) { try await store.read(key) }
        let other = await #expect(throws: AuthorizationError.self) {
            try await store.update(key) { $0 = entry("other") }
        }
        #expect(error?.kind == .store)
        #expect(error?.message == other?.message)
        return error?.message ?? ""
    }

    // MARK: Content

    @Test(arguments: [true, false]) func keepsEverything(_ inFiles: Bool) async throws {
        let place = Place()
        let store: any TokenStore = inFiles ? place.store : MemoryTokenStore()
        #expect(try await store.read(Self.key) == nil)
        try await Self.store(Self.entry(), in: store)
        let read = try #require(try await store.read(Self.key))
        let same = inFiles ? try #require(try await place.store.read(Self.key)) : read
        for found in [read, same] {
            #expect(try RawJSON(encoding: found).bytes == RawJSON(encoding: Self.entry()).bytes)
        }
        #expect(try await store.read(TokenKey(issuer: Self.key.issuer, resource: "")) == nil)
        try await Self.store(nil, in: store)
        #expect(try await store.read(Self.key) == nil)
    }

    @Test(arguments: [true, false]) func remembersServers(_ inFiles: Bool) async throws {
        let place = Place()
        let store: any TokenStore = inFiles ? place.store : MemoryTokenStore()
        #expect(try await store.servers().isEmpty)
        try await store.setKey(Self.key, forServer: "https://b.example/mcp")
        let other = TokenKey(issuer: "https://id.example", resource: "", client: "mine")
        try await store.setKey(other, forServer: "https://a.example/mcp")
        #expect(try await store.key(forServer: "https://b.example/mcp") == Self.key)
        #expect(try await store.servers().map(\.url) == ["https://a.example/mcp", "https://b.example/mcp"])
        try await store.setKey(nil, forServer: "https://b.example/mcp")
        #expect(try await store.servers().map(\.key) == [other])
    }

    @Test func readingCreatesNothing() async throws {
        let place = Place()
        #expect(try await place.store.read(Self.key) == nil)
        #expect(try await place.store.servers().isEmpty)
        try await place.store.setKey(nil, forServer: "https://a.example/mcp")
        #expect(throws: IOError.self) { try Files.info(place.directory.path + "/state") }
    }

    // AUTH-39
    @Test func onlyTheOwnerCanReadWhatIsStored() async throws {
        let place = Place()
        try await Self.store(Self.entry(), in: place.store)
        try await place.store.setKey(Self.key, forServer: "https://a.example/mcp")
        #expect(try Files.info(place.path).permissions == 0o700)
        let names = place.names
        #expect(names.count == 4)
        for name in names { #expect(try Files.info("\(place.path)/\(name)").permissions == 0o600) }
    }

    @Test func keysNeverShareAnEntry() {
        let keys = [
            TokenKey(issuer: "a", resource: "bc"), TokenKey(issuer: "ab", resource: "c"),
            TokenKey(issuer: "a", resource: "b", client: "c"), TokenKey(issuer: "a", resource: "b1:c"),
        ]
        #expect(Set(keys.map(FileTokenStore.name)).count == keys.count)
    }

    @Test(arguments: [true, false]) func whatTheBodyChangedIsStoredEvenIfItThrows(_ inFiles: Bool)
        async throws
    {
        let place = Place()
        let store: any TokenStore = inFiles ? place.store : MemoryTokenStore()
        let error = await #expect(throws: AuthorizationError.self) {
            try await store.update(Self.key) { entry throws(AuthorizationError) in
                entry = Self.entry("rotated")
                throw AuthorizationError(.unreachable, "later")
            }
        }
        #expect(error?.kind == .unreachable)
        #expect(try await store.read(Self.key)?.tokens?.accessToken == "rotated")
    }

    // MARK: Refused files

    /// A refresh token that is used once stays where its successor could not be stored.
    @Test func whatCannotBeWrittenIsNotChanged() async throws {
        let place = Place()
        try await Self.store(Self.entry(), in: place.store)
        // In the place of the temporary file.
        place.directory.makeDirectory("state/auth/\(FileTokenStore.name(of: Self.key)).json.tmp")
        let isSpent = Atomic(false)
        let error = await #expect(throws: AuthorizationError.self) {
            try await place.store.update(Self.key) { _ in isSpent.store(true, ordering: .relaxed) }
        }
        #expect(error?.kind == .store && !isSpent.load(ordering: .relaxed))
        #expect(try await place.store.read(Self.key)?.tokens?.refreshToken == "refresh-1")
    }

    @Test func aFileThatOthersCanReadIsRefused() async throws {
        let place = Place()
        try await Self.store(Self.entry(), in: place.store)
        let text = try place.text()
        #expect(unsafe chmod(place.file, 0o640) == 0)
        #expect(
            try await Self.refusal(place.store)
                == "\(place.file) can be used by other users (mode 640); it was not read")
        #expect(try place.text() == text)
    }

    @Test func aDirectoryThatOthersCanUseIsRefused() async throws {
        let place = Place()
        try await Self.store(Self.entry(), in: place.store)
        #expect(unsafe chmod(place.path, 0o755) == 0)
        #expect(
            try await Self.refusal(place.store)
                == "\(place.path) can be used by other users (mode 755); it was not read")
        #expect(place.names.count == 2)
    }

    @Test func aSymbolicLinkIsRefused() async throws {
        let place = Place()
        try await Self.store(Self.entry(), in: place.store)
        try place.directory.write("elsewhere", try place.text())
        try #require(unsafe unlink(place.file) == 0)
        place.directory.link("state/auth/\(FileTokenStore.name(of: Self.key)).json", to: "../../elsewhere")
        #expect(
            try await Self.refusal(place.store) == "\(place.file) is a symbolic link; it was not used")
        #expect(try Files.info(place.file).kind == .symlink)
    }

    /// The lock of an entry is never a file elsewhere.
    @Test func aLinkInPlaceOfTheLockIsRefused() async throws {
        let place = Place()
        try await Self.store(Self.entry(), in: place.store)
        let name = FileTokenStore.name(of: Self.key) + ".lock"
        try #require(unsafe unlink("\(place.path)/\(name)") == 0)
        place.directory.link("state/auth/\(name)", to: "../../elsewhere")
        let error = await #expect(throws: AuthorizationError.self) {
            try await place.store.update(Self.key) { $0 = nil }
        }
        #expect(error?.message == "\(place.path)/\(name) is a symbolic link; nothing was changed")
        #expect(throws: IOError.self) { try Files.info("\(place.directory.path)/elsewhere") }
        #expect(try await place.store.read(Self.key) != nil)
    }

    @Test func aLinkInPlaceOfTheDirectoryIsRefused() async throws {
        let place = Place()
        place.directory.makeDirectory("real")
        place.directory.link("link", to: "real")
        let store = FileTokenStore(directory: place.directory.path + "/link")
        #expect(
            try await Self.refusal(store)
                == "\(place.directory.path)/link is a symbolic link; nothing was read")
    }

    @Test func aFileOfAnotherUserIsRefused() async throws {
        let place = Place()
        try await Self.store(Self.entry(), in: place.store)
        let store = FileTokenStore(directory: place.path, user: geteuid() + 1, clock: SystemClock())
        #expect(
            try await Self.refusal(store)
                == "\(place.path) belongs to another user (\(geteuid())); it was not used")
    }

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"version":1}"#, #"{"version":"1"}"#,
        #"{"version":1,"issuer":"https://id.example","resource":"","client":"","authorization":7}"#,
    ])
    func aDamagedFileIsRefused(_ text: String) async throws {
        let place = Place()
        try await Self.store(Self.entry(), in: place.store)
        try place.put(text)
        #expect(
            try await Self.refusal(place.store)
                == "\(place.file) is damaged; it was neither used nor overwritten")
        #expect(try place.text() == text)
    }

    @Test func anUnknownVersionIsRefused() async throws {
        let place = Place()
        try await Self.store(Self.entry(), in: place.store)
        let text = #"{"version":2,"else":{}}"#
        try place.put(text)
        #expect(
            try await Self.refusal(place.store) == "\(place.file) has version 2, and this program knows "
                + "version 1; it was not used")
        #expect(try place.text() == text)
    }

    @Test func aFileUnderTheNameOfAnotherIsRefused() async throws {
        let place = Place()
        try await Self.store(Self.entry(), in: place.store)
        let other = TokenKey(issuer: "https://evil.example", resource: "")
        try Files.replace(
            "\(place.path)/\(FileTokenStore.name(of: other)).json", with: Array(try place.text().utf8))
        let error = await #expect(throws: AuthorizationError.self) { try await place.store.read(other) }
        #expect(error?.message.hasSuffix("is about another authorization; it was not used") == true)
    }

    @Test func aFIFOIsRefused() async throws {
        let place = Place()
        try await Self.store(nil, in: place.store)
        try #require(unsafe mkfifo(place.file, 0o600) == 0)
        #expect(
            try await Self.refusal(place.store) == "\(place.file) is not a regular file; it was not read")
    }

    @Test func errorsShowNoSecret() async throws {
        let place = Place()
        try await Self.store(Self.entry(), in: place.store)
        try place.put(try place.text().replacing("\"generation\":3", with: "\"generation\":\"secret-1\""))
        let error = await #expect(throws: AuthorizationError.self) { try await place.store.read(Self.key) }
        let text = try #require(error).description
        #expect(!text.contains("secret-1"))
    }

    // MARK: Several users of one directory

    @Test(arguments: [1, 8]) func updatesExcludeEachOther(_ stores: Int) async throws {
        let place = Place()
        let all = (0 ..< stores).map { _ in place.store }
        let busy = Users()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0 ..< 8 {
                group.addTask {
                    for _ in 0 ..< 10 {
                        try await all[index % stores].update(Self.key) { entry in
                            #expect(busy.add(1) == 1)
                            var new = entry ?? StoredAuthorization()
                            await Task.yield()
                            new.generation += 1
                            entry = new
                            #expect(busy.add(-1) == 0)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await place.store.read(Self.key)?.generation == 80)
        #expect(place.names.count == 2)
    }

    private final class Users: Sendable {
        private let count = Mutex(0)

        func add(_ step: Int) -> Int {
            count.withLock { count in
                count += step
                return count
            }
        }
    }

    @Test func updatesOfDifferentEntriesDoNotWait() async throws {
        let place = Place()
        let store = place.store
        try await store.update(Self.key) { entry throws(AuthorizationError) in
            entry = Self.entry()
            try await store.update(TokenKey(issuer: "https://other.example", resource: "")) {
                $0 = Self.entry("second")
            }
        }
        #expect(try await store.servers().isEmpty)
        #expect(place.names.count == 4)
    }

    @Test(arguments: [true, false]) func aCancelledUpdateLeavesTheLockToOthers(_ inFiles: Bool) async throws {
        let place = Place()
        let store: any TokenStore = inFiles ? place.store : MemoryTokenStore()
        let (isHeld, isOver) = (Gate(), Gate())
        let first = Task {
            try await store.update(Self.key) { _ in
                isHeld.open()
                await isOver.wait()
            }
        }
        await isHeld.wait()
        let second = Task { try await store.update(Self.key) { $0 = Self.entry("second") } }
        second.cancel()
        await #expect(throws: AuthorizationError.self) { try await second.value }
        isOver.open()
        try await first.value
        try await store.update(Self.key) { $0 = Self.entry("third") }
        #expect(try await store.read(Self.key)?.tokens?.accessToken == "third")
    }

    #if os(Linux)
    /// A process that was killed while it held the lock and had written half of an entry.
    @Test func aProcessThatIsKilledInTheMiddleOfAWriteLeavesTheOldEntry() async throws {
        let place = Place()
        try await Self.store(Self.entry(), in: place.store)
        let name = FileTokenStore.name(of: Self.key)
        let script = #"exec 9<>"$1.lock"; flock 9; printf '{"vers' >"$1.json.tmp"; echo held; cat"#
        let child = try ChildProcess(ProcessLaunch("bash", ["-c", script, "bash", "\(place.path)/\(name)"]))
        let output = try unwrap(child.takeOutput()).release()
        defer { close(output) }
        #expect(try readOnce(output) == Array("held\n".utf8))
        #expect(try await place.store.read(Self.key)?.tokens?.accessToken == "access-1")

        let clock = ManualClock()
        let store = FileTokenStore(directory: place.path, user: geteuid(), clock: clock)
        let update = Task { try await store.update(Self.key) { $0?.generation += 1 } }
        #expect(await comesTrue { clock.scheduledCount == 1 })
        child.signal(SIGKILL)
        #expect(await child.wait() == .signaled(SIGKILL))
        clock.advance(by: .seconds(1))
        try await update.value
        #expect(try await place.store.read(Self.key)?.generation == 4)
        #expect(place.names == ["\(name).json", "\(name).lock"])
    }

    @Test func anEntryThatAnotherProcessHoldsIsNotWaitedForWithoutEnd() async throws {
        let place = Place()
        try await Self.store(Self.entry(), in: place.store)
        let lock = "\(place.path)/\(FileTokenStore.name(of: Self.key)).lock"
        let child = try ChildProcess(
            ProcessLaunch("bash", ["-c", #"exec 9<>"$1"; flock 9; echo held; cat"#, "bash", lock]))
        let output = try unwrap(child.takeOutput()).release()
        defer { close(output) }
        #expect(try readOnce(output) == Array("held\n".utf8))
        let clock = ManualClock()
        let store = FileTokenStore(directory: place.path, user: geteuid(), clock: clock)
        let update = Task { try await store.update(Self.key) { $0 = nil } }
        #expect(await comesTrue { clock.scheduledCount == 1 })
        clock.advance(by: FileTokenStore.lockTimeout)
        let error = await #expect(throws: AuthorizationError.self) { try await update.value }
        #expect(error?.message == "\(lock) is locked by another process; nothing was changed")
        #expect(await child.terminate() != .exited(1))
        #expect(try await place.store.read(Self.key) != nil)
    }
    #endif

    // MARK: The environment

    @Test func theEnvironmentNamesTheStore() throws {
        func directory(_ variables: [String: String], _ name: String? = nil) throws -> String? {
            (try FileTokenStore.named(name) { variables[$0] } as? FileTokenStore)?.directory
        }
        #expect(try directory(["HOME": "/h"]) == "/h/.local/state/mcpcore/auth")
        #expect(try directory(["HOME": "/h", "XDG_STATE_HOME": "/s"]) == "/s/mcpcore/auth")
        #expect(try directory(["HOME": "/h", "XDG_STATE_HOME": "s"]) == "/h/.local/state/mcpcore/auth")
        #expect(try directory(["HOME": "/h", "MCP_AUTH_STORE": "/a"]) == "/a")
        #expect(try directory(["HOME": "/h", "MCP_AUTH_STORE": "/a"], "/b") == "/b")
        #expect(try directory(["HOME": "/h", "MCP_AUTH_STORE": "memory"]) == nil)
        #expect(throws: AuthorizationError.self) { try directory([:]) }
    }
}
