import ArgumentParser
import TernCore

/// The output form of a command without a server.
struct JSONFlag: ParsableArguments {
  @Flag(help: "Print JSON, one object a line.")
  var json = false

  /// Prints a line: words, or an object.
  func print(_ words: @autoclosure () -> String, _ members: KeyValuePairs<String, JSONValue>) {
    printLine(json ? jsonLine(members) : words())
  }
}

/// An object on one line, with members in the order given.
func jsonLine(_ members: KeyValuePairs<String, JSONValue>) -> String {
  JSONValue.object(members.map { JSONValue.Member($0.key, $0.value) }).json
}
