/// What a handler keeps of one request of a connection for the next ones. It ends with the connection.
///
/// Confined to the connection's loop.
class ConnectionMemory {}
