/// Reads one section into the options type of the part it belongs to.
///
/// Any `Decodable` type serves: the keys that its `init(from:)` reads are the keys that the section
/// may have, so an unknown key is reported together with the known ones.
package struct SectionReader {
  /// The section's name, for errors.
  let section: String
  /// Keys the assembler understands itself: accepted whether or not the part reads them.
  let ownKeys: [String]

  /// A reader of the section of that name.
  package init(section: String, ownKeys: [String]) {
    self.section = section
    self.ownKeys = ownKeys
  }

  /// Reads `value` as `Options`.
  ///
  /// - Throws: ``ConfigurationError``; nothing else escapes.
  package func read<Options: Decodable>(
    _ type: Options.Type, from value: ConfigurationValue
  ) throws(ConfigurationError) -> Options {
    let trace = DecodingTrace()
    do {
      let options = try Options(from: ConfigurationDecoder(value, path: [], trace: trace))
      try checkKeys(of: value, at: [], trace: trace)
      return options
    } catch {
      throw configurationError(error)
    }
  }

  /// Reads the members `keys` of `value` as `Options`; the others are not looked at.
  package func read<Options: Decodable>(
    _ type: Options.Type, ofKeys keys: [String], from value: ConfigurationValue
  ) throws(ConfigurationError) -> Options {
    try read(type, from: .object(value.members.filter { keys.contains($0.key) }))
  }

  private func checkKeys(
    of value: ConfigurationValue, at path: [String], trace: DecodingTrace
  ) throws(ConfigurationError) {
    switch value {
    case .object(let members):
      guard path.isEmpty || trace.asked[path] != nil else { return }
      let own = path.isEmpty ? ownKeys : []
      let known = own + (trace.asked[path] ?? []).filter { !own.contains($0) }
      for (key, member) in members.sorted(by: { $0.key < $1.key }) {
        guard known.contains(key) else {
          throw .unknownKey(key, section: (CollectionOfOne(section) + path).dotted, known: known)
        }
        try checkKeys(of: member, at: path + [key], trace: trace)
      }
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        try checkKeys(of: element, at: path + [String(index)], trace: trace)
      }
    case .null, .bool, .integer, .double, .string, .text:
      return
    }
  }

  /// Puts what a decoder or an options type threw into the words of a configuration.
  private func configurationError(_ error: any Error) -> ConfigurationError {
    if let error = error as? ConfigurationError { return error }
    guard let error = error as? DecodingError else {
      return .refused(section: section, reason: String(describing: error))
    }
    switch error {
    case .keyNotFound(let key, let context):
      let path = context.codingPath.map(\.stringValue) + [key.stringValue]
      return .missingKey(path.dotted, section: section)
    case .valueNotFound(_, let context):
      return .missingKey(context.codingPath.map(\.stringValue).dotted, section: section)
    case .typeMismatch(_, let context):
      return wrongType(context, expected: context.debugDescription)
    case .dataCorrupted(let context):
      let key = context.codingPath.map(\.stringValue).dotted
      let prefix = key.isEmpty ? "" : "\"\(key)\": "
      return .refused(section: section, reason: prefix + context.debugDescription)
    @unknown default:
      return .refused(section: section, reason: String(describing: error))
    }
  }

  private func wrongType(
    _ context: DecodingError.Context, expected: String
  ) -> ConfigurationError {
    let found = (context.underlyingError as? FoundType)?.name ?? "this"
    return .wrongType(
      key: context.codingPath.map(\.stringValue).dotted, section: section, expected: expected,
      found: found)
  }
}

/// The keys that were read, by the path of their object.
final class DecodingTrace {
  var asked: [[String]: [String]] = [:]

  func ask(_ key: String, at path: [String]) {
    if asked[path]?.contains(key) != true { asked[path, default: []].append(key) }
  }
}

/// Carries the type that was found inside a `DecodingError`.
struct FoundType: Error {
  let name: String
}

extension Sequence<String> {
  fileprivate var dotted: String { joined(separator: ".") }
}
