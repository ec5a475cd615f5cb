/// An error whose description is written for a person, with nothing that only a developer can use.
package protocol DescribedError: Error, CustomStringConvertible {}
