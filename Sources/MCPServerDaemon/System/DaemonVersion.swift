/// The version of the program.
enum DaemonVersion {
    static let current = "0.1.0"
}
