/// An open file or directory that several holders may keep; it is closed when the last one lets go.
package final class OpenFile: Sendable {
    package let descriptor: FileDescriptor

    package init(_ descriptor: consuming FileDescriptor) {
        self.descriptor = descriptor
    }
}
