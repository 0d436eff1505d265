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
  case pending, offline, online, settle, help, exit
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
    func onlyPath() throws(Failure) -> String {
      let path = try path()
      guard parts.count == 2 else {
        throw Failure(.usage, "\(word) takes a path and nothing else; see: help")
      }
      return path
    }
    func json() throws(Failure) -> String {
      guard parts.count > 2 else { throw Failure(.usage, "\(word) needs a path and a JSON value") }
      return unquoted(parts[2])
    }
    switch word {
    case "set": self = .set(try path(), try node(try json()))
    case "update": self = .update(try path(), try updateValues(try json()))
    case "push": self = .push(try path(), try node(try json()))
    case "remove": self = .remove(try onlyPath())
    case "get": self = .get(try onlyPath())
    case "watch": self = .watch(try onlyPath())
    case "unwatch": self = .unwatch(try onlyPath())
    case "doc":
      self = .document(try ShellDocumentCommand(line.drop { $0 == " " }.dropFirst(word.count)))
    case "pending": self = .pending
    case "offline": self = .offline
    case "online": self = .online
    case "settle": self = .settle
    case "help", "?": self = .help
    case "exit", "quit": self = .exit
    default:
      let near = VerbCheck.nearest(to: word, among: Self.words)
      throw Failure(
        .usage, "no command '\(word)'; " + (near.map { "did you mean \($0)?" } ?? "see: help"))
    }
  }

  private static let words = [
    "set", "update", "push", "remove", "get", "watch", "unwatch", "doc", "pending", "offline",
    "online", "settle", "help", "exit",
  ]

  /// The words of a shell, as its help shows them.
  static let helpText = """
    set PATH JSON      update PATH JSON     push PATH JSON     remove PATH
    get PATH           watch PATH           unwatch PATH       pending
    offline            online               settle             help, exit

    doc get PATH       doc set [--merge] PATH JSON             doc update PATH JSON
    doc delete PATH    doc query COLLECTION [FLAGS]            doc collections [PATH]
    doc watch PATH [FLAGS]                  doc unwatch PATH
    """
}

/// JSON without the single quotes around it that a command line needs and a shell does not.
func unquoted(_ text: String) -> String {
  let trimmed = text.drop { $0 == " " }
  guard trimmed.count > 1, trimmed.first == "'" else { return text }
  let end = trimmed.lastIndex { $0 != " " }
  guard let end, trimmed[end] == "'", end != trimmed.startIndex else { return text }
  return String(trimmed[trimmed.index(after: trimmed.startIndex)..<end])
}
