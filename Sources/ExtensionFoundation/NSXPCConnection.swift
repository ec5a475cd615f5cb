/// Stands for a connection of Apple's interprocess calls, which there are none of here.
///
/// Corresponds to Foundation's type of that name, so that a declaration which speaks of it compiles;
/// there is never a value of it.
public final class NSXPCConnection {
    private init() {}
}

@available(*, unavailable)
extension NSXPCConnection: Sendable {}
