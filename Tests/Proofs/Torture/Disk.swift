import Glibc
import TestTrees

/// The file systems on which the power fails, and how they are made.
struct FileSystem: Sendable {
    let name: String
    fileprivate let size: Int
    fileprivate let maker: [String]

    static let all = [
        FileSystem(name: "ext4", size: 64 << 20, maker: ["mkfs.ext4", "-q", "-F"]),
        FileSystem(name: "xfs", size: 320 << 20, maker: ["mkfs.xfs", "-q", "-f"]),
    ]

    /// Why the power can't fail here; `nil` if it can.
    func reasonToSkip(_ tools: Tools) -> String? {
        for program in [maker[0], "losetup"] where !Tools.has(program) {
            return "there is no \(program)"
        }
        do {
            let disk = try Disk(self, tools.scratch / "trial")
            defer { disk.remove() }
            try disk.shutDown(.nothing)
            return nil
        } catch {
            return "this machine can't do it: \(error)"
        }
    }
}

/// A file system in a file, which forgets unsynchronized data when its power fails.
struct Disk: Sendable {
    /// The data that reaches the disk when the power fails.
    enum Survivors: UInt32, Sendable {
        /// The journal, and no file contents.
        case journal = 1
        case nothing = 2
    }

    let mountPoint: BytePath
    private let directory: BytePath
    private let system: FileSystem
    private let device: String

    /// Makes the disk in a new directory, and mounts it.
    init(_ system: FileSystem, _ directory: BytePath) throws {
        (self.system, self.directory) = (system, directory)
        mountPoint = directory / "mounted"
        try directory.makeDirectory()
        try mountPoint.makeDirectory()
        let image = directory / "image"
        try image.write("")
        try image.truncate(to: system.size)
        try Tools.call(system.maker + [image.text])
        device =
            try Tools.call(["losetup", "--find", "--show", image.text])
            .split(separator: "\n").map(String.init).first ?? ""
        do {
            try mount()
        } catch {
            _ = try? Tools.call(["losetup", "--detach", device])
            throw error
        }
    }

    private func mount() throws {
        guard Glibc.mount(device, mountPoint.text, system.name, 0, nil) == 0 else {
            throw CallFailure("mount \(device)")
        }
    }

    func remove() {
        do {
            try Self.unmount(mountPoint)
            try Tools.call(["losetup", "--detach", device])
            try directory.removeAll()
        } catch {
            print("  \(directory) can't be removed: \(error)")
        }
    }

    /// Unmounts a file system that a killed process may keep busy for a moment.
    static func unmount(_ path: BytePath) throws {
        for _ in 0..<100 {
            if umount2(path.text, 0) == 0 { return }
            guard errno == EBUSY else { break }
            usleep(50_000)
        }
        throw CallFailure("umount \(path)")
    }

    private func withMountPoint(_ call: String, _ body: (Int32) -> Int32) throws {
        let descriptor = open(mountPoint.text, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CallFailure("open \(mountPoint)") }
        defer { close(descriptor) }
        guard body(descriptor) == 0 else { throw CallFailure("\(call) \(mountPoint)") }
    }

    func makeLast() throws {
        try Tools.call(["sync", "--file-system", mountPoint.text])
    }

    /// Cuts the power.
    func shutDown(_ survivors: Survivors) throws {
        // EXT4_IOC_SHUTDOWN, XFS_IOC_GOINGDOWN: _IOR('X', 125, unsigned).
        var flags = survivors.rawValue
        try withMountPoint("ioctl") { ioctl($0, 0x8004_587D, &flags) }
    }

    /// Mounts the file system again, as after the power is back.
    func restart() throws {
        try Self.unmount(mountPoint)
        try mount()
    }
}
