#if DEBUG
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif
#endif

/// A count of the live instances of types that own something: descriptors, connections, children, timers.
///
/// A leak shows as a count that does not return to its previous value. Instances are counted only in debug
/// builds; in release builds, a `Counted` has no size and no code.
package enum Census {
    /// The kinds of instances that are counted.
    package enum Kind: String, CaseIterable, Sendable {
        case appBridge, appHost, appServer, appendingFile
        case childPipe, childProcess, clientConnection, clientPool, commandModel
        case deferredCall, descriptor, directoryWatch
        case eventLoop
        case handlerResponse
        case httpClientConnection, httpClientExchange, httpConnection, httpExchange, httpListener, httpServer
        case lineChannel, lineServer, listenStream, listenSubscription, logSink, loopTimer
        case mcpClient, mcpServer, messageClientTransport
        case passedDescriptor, pendingUpgrade, processSupervisor, provider, providerBridge, providerProgram,
            providerStream
        case redisLink, rootDirectory, runCancellation
        case serverTask, sessionStream, signalWatch, socketPeer, subscription
        case toolHub
        case unixSocketPath, upstream
        case watchSource
    }

    /// Adds `change` to the count of a kind: one more instance, or one less.
    @inline(__always)
    static func count(_ kind: Kind, _ change: Int) {
        #if DEBUG
        let isFirst = living.withLock { living in
            defer { living[kind, default: 0] += change }
            return living.isEmpty
        }
        if isFirst { CensusAtExit.arm() }
        #endif
    }

    /// Declares that this number of instances of a kind lives as long as the process.
    static func keep(_ kind: Kind, _ number: Int) {
        #if DEBUG
        kept.withLock { $0[kind, default: 0] += number }
        #endif
    }

    /// Declares that this descriptor stays open as long as the process lives.
    static func keep(open descriptor: Int32) {
        #if DEBUG
        _ = keptOpen.withLock { $0.insert(descriptor) }
        #endif
    }

    #if DEBUG
    static let keptOpen = Mutex<Set<Int32>>([])
    private static let living = Mutex<[Kind: Int]>([:])
    private static let kept = Mutex<[Kind: Int]>([:])

    /// The current number of instances of each kind that has any.
    package static var counts: [Kind: Int] { living.withLock { $0.filter { $0.value != 0 } } }

    /// The counts, without the instances that live as long as the process.
    package static var surplus: [Kind: Int] {
        let kept = kept.withLock { $0 }
        return counts.merging(kept.mapValues { -$0 }) { $0 + $1 }.filter { $0.value != 0 }
    }

    /// Returns the counts as text, sorted by name: `descriptor=3 eventLoop=1`.
    package static func text(_ counts: [Kind: Int]) -> String {
        counts.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue)=\($0.value)" }
            .joined(separator: " ")
    }
    #endif
}

/// A property that counts its owner for as long as the owner lives.
package struct Counted: ~Copyable, Sendable {
    #if DEBUG
    private let kind: Census.Kind

    package init(_ kind: Census.Kind) {
        self.kind = kind
        Census.count(kind, 1)
    }

    deinit { Census.count(kind, -1) }
    #else
    @inline(__always)
    package init(_ kind: Census.Kind) {}
    #endif
}
