/// An error whose description is for a person, without details for developers.
package protocol DescribedError: Error, CustomStringConvertible {}
