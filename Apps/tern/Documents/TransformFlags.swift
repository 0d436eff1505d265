import ArgumentParser
import TernCore

/// Changes of fields that depend on what is there, as flags.
struct TransformFlags: ParsableArguments {
  @Option(help: ArgumentHelp("Add to a number.", valueName: "field=number"))
  var increment: [String] = []

  @Option(help: ArgumentHelp("Raise a number to at least this.", valueName: "field=number"))
  var maximum: [String] = []

  @Option(help: ArgumentHelp("Lower a number to at most this.", valueName: "field=number"))
  var minimum: [String] = []

  @Option(help: ArgumentHelp("Add what an array lacks.", valueName: "field=array"))
  var arrayUnion: [String] = []

  @Option(help: ArgumentHelp("Take out of an array.", valueName: "field=array"))
  var arrayRemove: [String] = []

  @Option(help: ArgumentHelp("Put the time of the commit there.", valueName: "field"))
  var serverTime: [String] = []

  @Option(help: ArgumentHelp("Remove a field; not for a set without --merge.", valueName: "field"))
  var delete: [String] = []

  /// Returns the transforms of the flags, in the order of the kinds above.
  func inputs(
    _ text: DocumentText
  ) throws(Failure) -> [(path: DocumentFieldPath, input: DocumentInput)] {
    var inputs: [(path: DocumentFieldPath, input: DocumentInput)] = []
    for (flag, words, make) in [
      ("--increment", increment, DocumentTransform.increment),
      ("--maximum", maximum, DocumentTransform.maximum),
      ("--minimum", minimum, DocumentTransform.minimum),
    ] {
      for word in words {
        let (path, value) = try assignment(word, flag, text)
        guard let number = DocumentNumber(value) else {
          throw Failure(.usage, "\(flag) takes a number")
        }
        inputs.append((path, .transform(make(number))))
      }
    }
    for (flag, words, make) in [
      ("--array-union", arrayUnion, DocumentTransform.arrayUnion),
      ("--array-remove", arrayRemove, DocumentTransform.arrayRemove),
    ] {
      for word in words {
        let (path, value) = try assignment(word, flag, text)
        guard case .array(let elements) = value else {
          throw Failure(.usage, "\(flag) takes an array: field=[\"a\"]")
        }
        inputs.append((path, .transform(make(elements))))
      }
    }
    for word in serverTime { inputs.append((try fieldPath(word), .transform(.serverTimestamp))) }
    for word in delete { inputs.append((try fieldPath(word), .delete)) }
    return inputs
  }

  private func assignment(
    _ word: String, _ flag: String, _ text: DocumentText
  ) throws(Failure) -> (DocumentFieldPath, DocumentValue) {
    guard let equals = word.firstIndex(of: "=") else {
      throw Failure(.usage, "\(flag) takes field=value, not \"\(word)\"")
    }
    let value = String(word[word.index(after: equals)...])
    return (try fieldPath(String(word[..<equals])), try text.value(value, flag))
  }
}

/// The flags for the precondition of a write.
struct PreconditionFlags: ParsableArguments {
  @Flag(help: "Only if the document exists.")
  var ifExists = false

  @Flag(help: "Only if there is no document.")
  var ifMissing = false

  @Option(
    help: ArgumentHelp("Only if it is of this version, as get --json says.", valueName: "time"))
  var ifVersion: String?

  func validate() throws {
    guard [ifExists, ifMissing, ifVersion != nil].count(where: { $0 }) <= 1 else {
      throw ValidationError("only one of --if-exists, --if-missing and --if-version can be given")
    }
  }

  /// The write on the condition; on its own one when no flag was given.
  func applied(to mutation: DocumentMutation) throws(Failure) -> DocumentMutation {
    if ifExists { return mutation.requiring(.exists(true)) }
    if ifMissing { return mutation.requiring(.exists(false)) }
    guard let ifVersion else { return mutation }
    guard let time = TimestampText.parse(ifVersion) else {
      throw Failure(.usage, "--if-version \"\(ifVersion)\" is no time")
    }
    return mutation.requiring(.version(DocumentVersion(microseconds: time.microseconds)))
  }
}
