/// Stands in for a connection of Apple's interprocess calls, which don't exist here.
///
/// Corresponds to Foundation's type of that name, so that declarations that name it compile; it has
/// no values.
public final class NSXPCConnection {
    private init() {}
}

@available(*, unavailable)
extension NSXPCConnection: Sendable {}
