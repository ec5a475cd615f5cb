internal import CMigrationShims
internal import Foundation
internal import Glibc

/// A cgroup of version 2 that bounds one program and all processes that it starts together.
///
/// It is made in the nearest cgroup above this process that delegates its controllers and that this
/// user may write to: the root of the hierarchy for root, a delegated slice for other users.
package final class ControlGroup: Sendable {
    /// The limits of a cgroup.
    package struct Limits: Sendable, Equatable {
        /// The bytes of memory, including the page cache of its files.
        package var memory: UInt64?
        /// The number of processes and threads.
        package var tasks: UInt64?

        package init(memory: UInt64?, tasks: UInt64?) {
            (self.memory, self.tasks) = (memory, tasks)
        }
    }

    private static let prefix = [UInt8](utf8: "migration-")

    /// The limits that are in effect, which depends on the controllers that exist.
    package let limits: Limits

    /// The file to which a process writes `0` to join the cgroup.
    let entrance: OpenFile

    private let directory: OpenFile
    private let path: BytePath

    /// Makes a cgroup with as many of `limits` as possible; `nil` if none is possible.
    package static func make(_ limits: Limits) -> ControlGroup? {
        for place in places() {
            guard let available = available(of: limits, at: place) else { continue }
            // If no parent works, the report lists the missing bounds.
            if let group = try? ControlGroup(in: place, available) { return group }
        }
        return nil
    }

    /// Makes a cgroup in `parent`, with the limits whose controllers `parent` delegates.
    ///
    /// - Throws: ``SystemError`` if it can't be made, or can't get a limit.
    init(in parent: BytePath, _ limits: Limits) throws(SystemError) {
        let above = try FileDescriptor.open(parent, .directory)
        Self.removeAbandoned(in: above, at: parent)
        let number = UInt64.random(in: 0...UInt64.max)
        let name = Self.prefix + [UInt8](utf8: "\(getpid())-\(number)")
        try above.makeDirectory(name, permissions: 0o755)
        path = parent / name
        self.limits = limits
        do throws(SystemError) {
            directory = OpenFile(try above.open(name, .directory))
            entrance = OpenFile(
                try directory.descriptor.open([UInt8](utf8: "cgroup.procs"), .writing)
            )
            if let memory = limits.memory {
                try Self.write("\(memory)", to: "memory.max", in: directory)
                // Without swap there is no such file; older kernels lack the second one.
                try? Self.write("0", to: "memory.swap.max", in: directory)
                try? Self.write("1", to: "memory.oom.group", in: directory)
            }
            if let tasks = limits.tasks {
                try Self.write("\(tasks)", to: "pids.max", in: directory)
            }
        } catch {
            // The caller needs this error, not one about cleaning up.
            _ = try? above.removeDirectory(name)
            throw error
        }
    }

    deinit {
        remove()
    }

    /// Removes the cgroup, which must have no process.
    package func remove() {
        do throws(SystemError) {
            try FileDescriptor.open(path.parent, .directory).removeDirectory(path.lastComponent)
        } catch {
            // Best effort: the next process that makes a cgroup here tries again.
        }
    }

    /// How often the kernel killed a process because the memory limit was reached.
    package var memoryKills: UInt64 { count("oom_kill", in: "memory.events") }

    /// How often a process or a thread was refused because of the limit.
    package var refusedTasks: UInt64 { count("max", in: "pids.events") }

    private func count(_ key: String, in file: String) -> UInt64 {
        guard let text = Self.text(of: path / BytePath(file)) else { return 0 }
        let line = text.split(separator: "\n").first { $0.hasPrefix(key + " ") }
        return line?.split(separator: " ").last.flatMap { UInt64($0) } ?? 0
    }
}

// MARK: - Processors

extension ControlGroup {
    /// How many processors this process may use: those that its affinity mask allows, but at most
    /// the processor time that its cgroups grant, rounded up.
    ///
    /// They are counted once, so that all stages of an operation have the same number.
    package static let availableProcessors: Int = {
        // Foundation counts the processors that are online, whatever the mask says.
        let mask = Int(migration_allowed_processors())
        let allowed = mask > 0 ? mask : ProcessInfo.processInfo.activeProcessorCount
        return max(1, min(allowed, processorLimit(at: places()) ?? allowed))
    }()

    /// The minimum that `cpu.max` grants in the cgroups at `places`; `nil` without a limit.
    static func processorLimit(at places: [BytePath]) -> Int? {
        places.compactMap { place in
            text(of: place / "cpu.max").flatMap(processorLimit(granting:))
        }
        .min()
    }

    /// The processors in the text of `cpu.max`, which is the time granted in each period, or `max`.
    private static func processorLimit(granting text: String) -> Int? {
        let fields = text.split { $0 == " " || $0 == "\n" }.map { Int($0) }
        guard fields.count == 2, let granted = fields[0], let period = fields[1],
            granted > 0, period > 0
        else { return nil }
        return (granted - 1) / period + 1
    }
}

// MARK: - Where

extension ControlGroup {
    /// The cgroups from this process's own upward; none without a hierarchy of version 2.
    private static func places() -> [BytePath] {
        guard let own = text(of: "/proc/self/cgroup"),
            let mounts = text(of: "/proc/self/mountinfo")
        else { return [] }
        return places(ownGroups: own, mounts: mounts)
    }

    /// The same, from the text of `/proc/self/cgroup` and `/proc/self/mountinfo`.
    static func places(ownGroups: String, mounts: String) -> [BytePath] {
        let line = ownGroups.split(separator: "\n").first { $0.hasPrefix("0::/") }
        guard let own = line?.dropFirst(3), !own.contains("/../") else { return [] }
        for mount in mounts.split(separator: "\n") {
            let fields = mount.split(separator: " ")
            guard let end = fields.firstIndex(of: "-"), fields.count > end + 1, end >= 5,
                fields[end + 1] == "cgroup2"
            else { continue }
            let (root, point) = (fields[3] == "/" ? "" : String(fields[3]), String(fields[4]))
            guard own == root || own.hasPrefix(root + "/") else { continue }
            var names = own.dropFirst(root.utf8.count).split(separator: "/")
            var places = [BytePath(([Substring(point)] + names).joined(separator: "/"))]
            while names.popLast() != nil {
                places.append(BytePath(([Substring(point)] + names).joined(separator: "/")))
            }
            return places
        }
        return []
    }

    /// The limits whose controllers the cgroup at `place` delegates; `nil` if it delegates none.
    private static func available(of limits: Limits, at place: BytePath) -> Limits? {
        let text = text(of: place / "cgroup.subtree_control") ?? ""
        let controllers = text.split { $0 == " " || $0 == "\n" }
        let available = Limits(
            memory: controllers.contains("memory") ? limits.memory : nil,
            tasks: controllers.contains("pids") ? limits.tasks : nil
        )
        return available == Limits(memory: nil, tasks: nil) ? nil : available
    }

    /// Removes the cgroups of killed hosts, which are named after processes that are gone.
    private static func removeAbandoned(
        in above: borrowing FileDescriptor,
        at path: BytePath
    ) {
        // Best effort; the next session tries again.
        guard let listing = try? DirectoryListing(of: above) else { return }
        for name in listing where name.starts(with: prefix) {
            let rest = String(decoding: name.dropFirst(prefix.count), as: UTF8.self)
            guard let process = rest.split(separator: "-").first.flatMap({ pid_t($0) }),
                process > 0, kill(process, 0) != 0, errno == ESRCH
            else { continue }
            // A cgroup that still has processes stays.
            _ = try? above.removeDirectory(name)
        }
    }

    private static func text(of path: BytePath) -> String? {
        do throws(SystemError) {
            let file = try FileDescriptor.open(path, .reading)
            guard let bytes = try file.readAll(limit: 1 << 20) else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            return nil
        }
    }

    private static func write(
        _ text: String,
        to name: String,
        in directory: OpenFile
    ) throws(SystemError) {
        let file = try directory.descriptor.open([UInt8](utf8: name), .writing)
        try file.writeAll([UInt8](utf8: text).span)
    }
}
