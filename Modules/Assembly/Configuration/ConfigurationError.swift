public import TernClient
public import TernCore

/// The problem with a configuration. Nothing has been opened when one of these is thrown.
///
/// Every case calls for a correction of the configuration; trying again without a change gives the
/// same error.
public enum ConfigurationError: Error, Hashable, Sendable {
  /// The file could not be read; `reason` is the system's message.
  case unreadable(file: String, reason: String)
  /// The file is not a JSON object of objects.
  case malformed(file: String, at: TextPosition, reason: String)
  /// `key` is not a section, `origin` says who asked for it.
  case unknownSection(String, known: [String], origin: String)
  /// The part that reads `section` has no such key.
  case unknownKey(String, section: String, known: [String])
  /// No plugin of this program has that kind; `known` are those it was built with.
  case unknownKind(String, section: String, known: [String])
  /// The section names no kind; `known` are those this program was built with.
  case missingKind(section: String, known: [String])
  /// A key the part cannot do without.
  case missingKey(String, section: String)
  /// The value under `key` has another type than the part reads.
  case wrongType(key: String, section: String, expected: String, found: String)
  /// The part read its section and refused it; `reason` is its own message.
  case refused(section: String, reason: String)
}

extension ConfigurationError: TernError {
  public var description: String {
    switch self {
    case .unreadable(let file, let reason):
      "cannot read the configuration file \(file): \(reason)"
    case .malformed(let file, let position, let reason):
      "\(file):\(position.line):\(position.column): \(reason)"
    case .unknownSection(let name, let known, let origin):
      "\(origin): there is no section \"\(name)\"; known sections: \(list(known))"
    case .unknownKey(let key, let section, let known):
      "\(section): unknown key \"\(key)\"; known keys: \(list(known))"
    case .unknownKind(let kind, let section, let known):
      "\(section): unknown kind \"\(kind)\"; this program was built with: \(list(known))"
    case .missingKind(let section, let known):
      "\(section): no kind is given; this program was built with: \(list(known))"
    case .missingKey(let key, let section):
      "\(section): the key \"\(key)\" is missing"
    case .wrongType(let key, let section, let expected, let found):
      "\(section): \"\(key)\" must be \(expected), not \(found)"
    case .refused(let section, let reason):
      "\(section): \(reason)"
    }
  }

  private func list(_ names: [String]) -> String {
    names.isEmpty ? "none" : names.joined(separator: ", ")
  }
}
