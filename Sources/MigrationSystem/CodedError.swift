/// An error of this project: a code for a program, a message for a person, and what helps.
package protocol CodedError: Error {
    associatedtype Code: CustomStringConvertible

    /// The kind of failure.
    var code: Code { get }

    /// The error beneath this one, if there is one.
    var underlying: (any Error)? { get }

    /// The path of the file, directory or entry that it is about, if it names one.
    var pathBytes: [UInt8]? { get }

    /// What is known to help.
    var remedies: [Remedy] { get }
}
