import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The configuration that is used when none is specified.
///
/// It is never one in the current directory: hosts start the server in the directory of a project, and a
/// project must not decide which commands run.
enum DefaultFile {
    /// Returns the first default file that exists, or `nil` if there is none.
    static func find(_ environment: [String: String]) -> String? {
        candidates(environment).first(where: exists)
    }

    /// Returns the places where it may be, in the order in which they are searched.
    static func candidates(_ environment: [String: String]) -> [String] {
        var directories: [String] = []
        if let directory = environment["XDG_CONFIG_HOME"], directory.hasPrefix("/") {
            directories.append(directory)
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            directories.append("\(home)/.config")
        }
        directories.append("/etc")
        return directories.map { "\($0)/mcp-server/mcp.jsonc" }
    }

    /// Returns whether a default file exists.
    ///
    /// A directory that cannot be read counts as one that has the file: loading it then reports why it cannot
    /// be used, instead of the file from another place being served.
    private static func exists(_ path: String) -> Bool {
        do throws(IOError) {
            return try Files.names(in: Paths.parent(of: path)).names.contains("mcp.jsonc")
        } catch { return error.errno != ENOENT && error.errno != ENOTDIR }
    }
}
