import TernCore

/// One line of a shell.
enum ShellCommand: Equatable {
  case set(String, TreeNode)
  case update(String, [String: TreeNode])
  case push(String, TreeNode)
  case remove(String)
  case get(String)
  case watch(String)
  case unwatch(String)
  case document(ShellDocumentCommand)
  case pending, offline, online, settle, exit
  case nothing

  /// Reads a line: a word, a path if the word needs one, and JSON up to the end.
  ///
  /// - Throws: ``Failure`` with ``Outcome/usage``.
  init(_ line: String) throws(Failure) {
    let parts = line.split(separator: " ", maxSplits: 2).map(String.init)
    guard let word = parts.first else {
      self = .nothing
      return
    }
    func path() throws(Failure) -> String {
      guard parts.count > 1 else { throw Failure(.usage, "\(word) needs a path") }
      return parts[1]
    }
    func json() throws(Failure) -> String {
      guard parts.count > 2 else { throw Failure(.usage, "\(word) needs a path and a JSON value") }
      return parts[2]
    }
    switch word {
    case "set": self = .set(try path(), try node(try json()))
    case "update": self = .update(try path(), try updateValues(try json()))
    case "push": self = .push(try path(), try node(try json()))
    case "remove": self = .remove(try path())
    case "get": self = .get(try path())
    case "watch": self = .watch(try path())
    case "unwatch": self = .unwatch(try path())
    case "doc":
      self = .document(try ShellDocumentCommand(line.drop { $0 == " " }.dropFirst(word.count)))
    case "pending": self = .pending
    case "offline": self = .offline
    case "online": self = .online
    case "settle": self = .settle
    case "exit": self = .exit
    default: throw Failure(.usage, "there is no command \"\(word)\"; see: tern shell --help")
    }
  }
}
