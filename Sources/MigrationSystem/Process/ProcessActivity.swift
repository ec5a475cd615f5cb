internal import Foundation
internal import Glibc

/// How much processes have read and written so far, and whether they wait for a device, according
/// to the kernel.
package struct ProcessActivity: Sendable, Equatable {
    /// The bytes that were written by calls, to any file or pipe.
    package private(set) var writtenByCalls: UInt64 = 0

    /// The bytes that were changed in files on a disk, including by calls.
    package private(set) var writtenToDisks: UInt64 = 0

    /// The bytes that were read.
    package private(set) var read: UInt64 = 0

    /// Whether a thread is in uninterruptible sleep (state D), such as in `fsync`.
    package private(set) var waitsForDevice = false

    private mutating func add(_ other: ProcessActivity) {
        writtenByCalls.addSaturating(other.writtenByCalls)
        writtenToDisks.addSaturating(other.writtenToDisks)
        read.addSaturating(other.read)
        waitsForDevice = waitsForDevice || other.waitsForDevice
    }
}

extension ProcessActivity {
    /// The activity of the process `root` and all its descendants, including those that ended;
    /// `nil` if the kernel shows it for none of them.
    static func ofFamily(_ root: pid_t) -> ProcessActivity? {
        var sum = ProcessActivity()
        var isKnown = false
        for process in family(of: root) {
            if let counted = counted(in: BytePath("/proc/\(process)")) {
                sum.add(counted)
                isKnown = true
            }
            sum.waitsForDevice = sum.waitsForDevice || waits(process)
        }
        return isKnown ? sum : nil
    }

    /// The directory of `/proc` for the calling thread; `nil` if there is none.
    package static var placeOfThread: BytePath? {
        do throws(SystemError) {
            return try BytePath(resolvingWhole: "/proc/thread-self")
        } catch {
            return nil
        }
    }

    /// The activity of the thread with this directory of `/proc`; `nil` if the kernel doesn't show
    /// it.
    package static func ofThread(at place: BytePath) -> ProcessActivity? {
        guard var activity = counted(in: place) else { return nil }
        activity.waitsForDevice = fields(in: place)?.state == UInt8(ascii: "D")
        return activity
    }

    /// Whether a thread of the process waits for a device.
    private static func waits(_ process: pid_t) -> Bool {
        let tasks = BytePath("/proc/\(process)/task")
        return numbers(in: tasks).contains { thread in
            fields(in: tasks / "\(thread)")?.state == UInt8(ascii: "D")
        }
    }

    /// The process `root` and its descendants.
    private static func family(of root: pid_t) -> [pid_t] {
        var children: [pid_t: [pid_t]] = [:]
        for process in numbers(in: "/proc") {
            guard let parent = fields(in: BytePath("/proc/\(process)"))?.parent else { continue }
            children[parent, default: []].append(process)
        }
        var family = [root]
        var next = 0
        while next < family.count {
            // A process that ends meanwhile may give its number to another one, but no number is
            // visited twice.
            family += children.removeValue(forKey: family[next]) ?? []
            next += 1
        }
        return family
    }

    /// Reads the counts in a directory of `/proc` (proc_pid_io(5)); `nil` if they can't be read.
    private static func counted(in place: BytePath) -> ProcessActivity? {
        guard let text = text(at: place / "io") else { return nil }
        var activity = ProcessActivity()
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let words = String(decoding: line, as: UTF8.self).split(separator: ": ")
            guard words.count == 2, let count = UInt64(words[1]) else { continue }
            switch words[0] {
            case "wchar": activity.writtenByCalls = count
            case "write_bytes": activity.writtenToDisks = count
            case "rchar", "read_bytes": activity.read.addSaturating(count)
            default: break
            }
        }
        return activity
    }

    /// Reads the state and the parent in a directory of `/proc` (proc_pid_stat(5)).
    private static func fields(in place: BytePath) -> (state: UInt8, parent: pid_t)? {
        guard let text = text(at: place / "stat"),
            // The name before them, in parentheses, may contain any character.
            let end = text.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let words = text[(end + 1)...].split(separator: UInt8(ascii: " "))
        guard words.count > 1, let state = words[0].first,
            let parent = pid_t(String(decoding: words[1], as: UTF8.self))
        else { return nil }
        return (state, parent)
    }

    private static func numbers(in directory: BytePath) -> [pid_t] {
        do throws(SystemError) {
            let opened = try FileDescriptor.open(directory, .directory)
            return try DirectoryListing(of: opened).compactMap {
                pid_t(String(decoding: $0, as: UTF8.self))
            }
        } catch {
            return []
        }
    }

    private static func text(at path: BytePath) -> [UInt8]? {
        do throws(SystemError) {
            return try FileDescriptor.open(path, .reading).readAll(limit: 4 << 10)
        } catch {
            return nil
        }
    }
}

// MARK: - Of a child

extension ChildProcess {
    /// The activity of the program and all processes that it started; `nil` if the kernel doesn't
    /// show it.
    package var activity: ProcessActivity? { .ofFamily(supervisor) }

    /// The bytes of output that wait to be read.
    package var waitingOutput: UInt64 {
        var count: CInt = 0
        let result = unsafe ioctl(output.descriptor.rawValue, UInt(FIONREAD), &count)
        return result == 0 && count > 0 ? UInt64(count) : 0
    }
}
