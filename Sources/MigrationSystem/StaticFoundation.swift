#if os(Linux)
internal import Foundation

/// Types whose bridging to Foundation's classes a statically linked program would lack.
///
/// The linker takes from `libFoundation.a` only objects that are referred to, which the objects
/// with these conformances aren't. Without them `[1] as? NSArray` is `nil`, an `NSArray` isn't
/// `[Any]`, and Foundation can't write property lists that hold an array.
// Safe because it is never changed.
package nonisolated(unsafe) let typesBridgedWhenLinkedStatically: [any _ObjectiveCBridgeable.Type] =
    [
        [Any].self, Set<AnyHashable>.self,
    ]
#endif
