/// An error of this project: a code for programs, a message for people, and remedies.
package protocol CodedError: Error {
    associatedtype Code: CustomStringConvertible

    /// The kind of failure.
    var code: Code { get }

    /// The error beneath this one, if there is one.
    var underlying: (any Error)? { get }

    /// The path of the file, directory or entry that it is about, if it names one.
    var pathBytes: [UInt8]? { get }

    /// The known remedies.
    var remedies: [Remedy] { get }
}
