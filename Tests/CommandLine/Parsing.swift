import ArgumentParser
import TernCore

@testable import tern

/// Reads flags, and returns the parser's complaint in the place of its error.
func parsed<Flags: ParsableArguments>(
  _ type: Flags.Type, _ words: [String]
) -> Result<Flags, Complaint> {
  do { return .success(try Flags.parse(words)) } catch {
    return .failure(Complaint(text: Flags.message(for: error)))
  }
}

/// The message of a parser.
struct Complaint: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
}

/// The reader of documents that commands without `--typed` use.
let plainText = DocumentText(DocumentDatabase(unchecked: "demo"), isTyped: false)

/// Returns the failure of `work`; `nil` when it has none.
func failure<R>(_ work: () throws -> R) -> Failure? {
  do {
    _ = try work()
    return nil
  } catch {
    return Failure(about: error)
  }
}
