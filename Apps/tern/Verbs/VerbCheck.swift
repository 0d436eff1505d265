import ArgumentParser

/// Finds words in the place of a command that are none, before anything else is read.
///
/// The parser takes such a word for a stray argument of the command above, and complains about
/// whatever follows it.
enum VerbCheck {
  /// Checks the words of a command line, without the program's name.
  ///
  /// - Throws: ``Failure`` with ``Outcome/usage``, naming the command that is most alike.
  static func check(_ words: [String]) throws(Failure) {
    let isHelp = words.first == "help"
    var command: any ParsableCommand.Type = TernCommand.self
    var parents: [String] = []
    for word in words.dropFirst(isHelp ? 1 : 0) {
      let children = command.children
      guard !children.isEmpty, !word.hasPrefix("-") else { return }
      guard let child = children.first(where: { $0.names.contains(word) }) else {
        if parents.isEmpty, word == "help" { return }
        throw unknown(word, below: parents, among: children)
      }
      parents.append(word)
      command = child
    }
  }

  /// The words at the start of a command line that name a command.
  static func verbs(in words: [String]) -> [String] {
    var command: any ParsableCommand.Type = TernCommand.self
    var verbs: [String] = []
    for word in words {
      guard let child = command.children.first(where: { $0.names.contains(word) }) else { break }
      verbs.append(word)
      command = child
    }
    return verbs
  }

  private static func unknown(
    _ word: String, below parents: [String], among children: [any ParsableCommand.Type]
  ) -> Failure {
    let known = children.map { $0._commandName }
    let above = (["tern"] + parents).joined(separator: " ")
    let named = (parents + [word]).joined(separator: " ")
    guard let near = nearest(to: word, among: known) else {
      return Failure(
        .usage, "no command '\(named)'; \(above) has \(known.joined(separator: ", "))")
    }
    return Failure(
      .usage, "no command '\(named)'; did you mean \((parents + [near]).joined(separator: " "))?")
  }

  /// The known word that is most alike: at most two letters are wrong, missing, extra or swapped,
  /// or one word is the beginning of the other.
  static func nearest(to word: String, among known: [String]) -> String? {
    let distances = known.map { (word: $0, distance: distance(word, $0)) }
    if let best = distances.min(by: { $0.distance < $1.distance }),
      best.distance <= (word.count < 3 ? 1 : 2)
    {
      return best.word
    }
    return word.count < 2
      ? nil : known.first { $0.hasPrefix(word) || word.hasPrefix($0) && $0.count > 2 }
  }

  /// The number of letters to change, add, remove or swap with their neighbor.
  private static func distance(_ one: String, _ other: String) -> Int {
    let (a, b) = (Array(one), Array(other))
    var rows = [Array(0...b.count)]
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          least = min(least, rows[i - 1][j - 1] + 1)
        }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}

extension ParsableCommand {
  /// The commands below this one, in the order of its help.
  fileprivate static var children: [any ParsableCommand.Type] {
    configuration.subcommands
  }

  /// The words that name this command.
  fileprivate static var names: [String] { [_commandName] + configuration.aliases }
}
