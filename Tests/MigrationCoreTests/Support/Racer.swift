import Foundation
import MigrationSystem
import Synchronization
import TestSupport

/// Swaps directories with links that lead out, as fast as it can, on its own thread.
///
/// Beside each directory it puts a link of its own and exchanges the two in one step, as soon as
/// their parent exists, until it is stopped.
final class Racer: Sendable {
    /// The directory in which names are swapped; it need not be there yet.
    private let place: BytePath
    private let names: [BytePath]
    private let outside: BytePath
    private let isStopped = Atomic(false)
    private let count = Atomic(0)
    private let end = DispatchSemaphore(value: 0)

    /// Begins to swap `names` in `place` with links to `outside`.
    init(in place: BytePath, swapping names: [BytePath], with outside: BytePath) {
        self.place = place
        self.names = names
        self.outside = outside
        Thread { @Sendable [self] in
            while !isStopped.load(ordering: .relaxed) { try? swapOnce() }
            end.signal()
        }.start()
    }

    /// The name that is exchanged with `name`.
    static func trap(for name: BytePath) -> BytePath {
        BytePath([UInt8]("trap-".utf8) + name.bytes)
    }

    /// Stops, and returns how many swaps were made.
    func stop() -> Int {
        isStopped.store(true, ordering: .relaxed)
        end.wait()
        return count.load(ordering: .relaxed)
    }

    private func swapOnce() throws(SystemError) {
        let directory = try FileDescriptor.open(place, .directory)
        for name in names {
            try? directory.makeSymbolicLink(Self.trap(for: name).bytes, to: outside.bytes)
        }
        // The directory may be moved meanwhile; its descriptor stays.
        for _ in 0..<20 {
            for name in names {
                do throws(SystemError) {
                    try directory.exchange(
                        name.bytes,
                        with: Self.trap(for: name).bytes,
                        in: directory
                    )
                    count.add(1, ordering: .relaxed)
                } catch {
                    continue
                }
            }
        }
    }
}
