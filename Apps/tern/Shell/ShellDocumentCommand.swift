import ArgumentParser

/// One line of a shell about documents, behind the word `doc`: the words of `tern doc`.
enum ShellDocumentCommand: Equatable {
  case get(String)
  case set(String, fields: String, isMerge: Bool)
  case update(String, fields: String)
  case delete(String)
  /// A query with the flags of `tern doc query` that choose documents.
  case query([String])
  case collections(String)
  /// A document, or a collection with the same flags.
  case watch([String])
  case unwatch(String)

  /// Reads what stands behind `doc`.
  ///
  /// - Throws: ``Failure`` with ``Outcome/usage``.
  init(_ text: Substring) throws(Failure) {
    let (word, rest) = Self.split(text)
    func path() throws(Failure) -> String {
      let (path, more) = Self.split(rest)
      guard !path.isEmpty, more.isEmpty else { throw Failure(.usage, "doc \(word) needs a path") }
      return String(path)
    }
    func fields(of rest: Substring) throws(Failure) -> (path: String, fields: String) {
      let (path, fields) = Self.split(rest)
      guard !path.isEmpty, !fields.isEmpty else {
        throw Failure(.usage, "doc \(word) needs a path and a JSON object")
      }
      return (String(path), unquoted(String(fields)))
    }
    switch word {
    case "get": self = .get(try path())
    case "set":
      let (first, more) = Self.split(rest)
      let isMerge = first == "--merge"
      let (path, content) = try fields(of: isMerge ? more : rest)
      self = .set(path, fields: content, isMerge: isMerge)
    case "update":
      let (path, content) = try fields(of: rest)
      self = .update(path, fields: content)
    case "delete": self = .delete(try path())
    case "query": self = .query(try Self.words(rest, after: word))
    case "collections": self = .collections(rest.isEmpty ? "/" : try path())
    case "watch": self = .watch(try Self.words(rest, after: word))
    case "unwatch": self = .unwatch(try path())
    default: throw Failure(.usage, "no command 'doc \(word)'; see: help")
    }
  }

  /// The first word, and what follows it.
  private static func split(_ text: Substring) -> (word: Substring, rest: Substring) {
    let text = text.drop { $0 == " " }
    let word = text.prefix { $0 != " " }
    return (word, text.dropFirst(word.count).drop { $0 == " " })
  }

  /// Words as a command line has them: quotes keep spaces.
  private static func words(
    _ text: Substring, after verb: Substring
  ) throws(Failure) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    for character in text {
      switch character {
      case quote: quote = nil
      case "'" where quote == nil, "\"" where quote == nil:
        quote = character
        word = word ?? ""
      case " " where quote == nil:
        if let word { words.append(word) }
        word = nil
      default: word = (word ?? "") + String(character)
      }
    }
    guard quote == nil else { throw Failure(.usage, "a quote is not closed") }
    if let word { words.append(word) }
    guard let first = words.first, !first.hasPrefix("-") else {
      throw Failure(.usage, "doc \(verb) needs a path")
    }
    return words
  }
}

extension DocumentQueryOptions {
  /// Reads flags that were not given to the program itself.
  static func reading(_ flags: ArraySlice<String>) throws(Failure) -> DocumentQueryOptions {
    do { return try parse(Array(flags)) } catch {
      throw Failure(.usage, message(for: error))
    }
  }
}
