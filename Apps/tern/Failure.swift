/// The outcome behind the program's exit code.
enum Outcome: Int32 {
  case done = 0
  case failed = 1
  case usage = 2
  case unreachable = 3
  case refused = 4
  case notFound = 5
  /// The server has ended after its store failed; started again, it reads what is durable. The
  /// number is that of EX_IOERR in sysexits.h.
  case storeFailed = 74
}

/// The reason a command ended early: one line of text, one code for scripts.
struct Failure: Error, Equatable {
  let code: Outcome
  let message: String
  /// Lines below the message that show the place in a text; not part of a JSON object.
  var excerpt: String?

  init(_ code: Outcome, _ message: String, excerpt: String? = nil) {
    self.code = code
    self.message = message
    self.excerpt = excerpt
  }

  /// The same, and a way out if there is one.
  func advising(_ advice: String?) -> Failure {
    Failure(code, advice.map { "\(message), \($0)" } ?? message, excerpt: excerpt)
  }
}

extension Failure {
  /// The refusal to change a store that a node keeps its copy of a shared log in.
  ///
  /// - Parameter folder: The folder of the store; `nil` when it was just named.
  static func nodeCopy(in folder: String?) -> Failure {
    Failure(
      .usage,
      (folder.map { "\($0) holds" } ?? "the store is") + " a node's copy of a shared log; "
        + "delete the folder, and the node builds its copy again")
  }
}
