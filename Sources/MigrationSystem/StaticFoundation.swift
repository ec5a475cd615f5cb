#if os(Linux)
internal import Foundation

/// Types whose bridging to Foundation's classes a statically linked program would lack.
///
/// The linker takes from `libFoundation.a` only what something refers to, and nothing refers to the
/// objects that hold these conformances. Without them `[1] as? NSArray` is `nil`, an `NSArray` isn't
/// `[Any]`, and Foundation writes no property list that holds an array.
// Safe because it is never changed.
package nonisolated(unsafe) let typesBridgedWhenLinkedStatically: [any _ObjectiveCBridgeable.Type] =
    [
        [Any].self, Set<AnyHashable>.self,
    ]
#endif
