import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Variables of the environment that hold secrets. Once one is read, it is no part of the environment any
/// more, so that a program that is started does not get what is for a server or a model alone.
final class SecretVariables: Sendable {
    private let known = Mutex<[String: String]>([:])

    func value(_ name: String) -> String? {
        known.withLock { known in
            if let value = known[name] { return value }
            guard let value = SystemFile.variable(name) else { return nil }
            known[name] = value
            unsafe unsetenv(name)
            return value
        }
    }
}
