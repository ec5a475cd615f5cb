internal import CMigrationShims

/// The standard output of this process.
package enum StandardOutput {
    /// Has it written as soon as something is printed.
    ///
    /// The C library would hold back what goes to a pipe, and a process that crashes would lose it.
    package static func stopBuffering() { migration_stop_buffering_output() }
}
