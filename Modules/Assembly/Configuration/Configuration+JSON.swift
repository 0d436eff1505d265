import TernCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Configuration {
  /// The standard configuration, changed by a file, then by the environment, then by flags.
  ///
  /// - Parameters:
  ///   - file: The path of a JSON file; `nil` for none.
  ///   - environment: The variables of the process; only those named `TERN_…` after a section and
  ///     a key count; ``apply(environment:)`` tells the others.
  ///   - flags: Section, key and text of each flag; the last one wins.
  /// - Throws: ``ConfigurationError``; it names the source that is wrong.
  public init(
    file: String?, environment: [String: String] = [:],
    flags: [(section: String, key: String, text: String)] = []
  ) throws(ConfigurationError) {
    self.init()
    if let file { try apply(json: Self.contents(of: file), named: file) }
    apply(environment: environment)
    for flag in flags {
      try set(.text(flag.text), for: flag.key, in: flag.section, origin: "flag \(flag.key)")
    }
  }

  /// The standard configuration, changed by JSON text.
  public init(json: String) throws(ConfigurationError) {
    self.init()
    try apply(json: Array(json.utf8), named: "configuration")
  }

  /// Sets what a JSON object of sections says: `{"storage": {"kind": "lmdb"}}`.
  ///
  /// - Parameters:
  ///   - json: The text, UTF-8.
  ///   - name: The file it came from, for errors.
  /// - Throws: ``ConfigurationError/malformed(file:at:reason:)``,
  ///   ``ConfigurationError/unknownSection(_:known:origin:)``.
  public mutating func apply(json: [UInt8], named name: String) throws(ConfigurationError) {
    let file = try ConfigurationValue(json: json, named: name)
    guard case .object(let sections) = file else {
      throw .malformed(
        file: name, at: TextPosition(), reason: "the file must be an object of sections")
    }
    for (section, value) in sections.sorted(by: { $0.key < $1.key }) {
      guard case .object(let members) = value else {
        throw .wrongType(
          key: section, section: name, expected: "an object", found: value.typeName)
      }
      guard Self.sectionNames.contains(section) else {
        throw .unknownSection(section, known: Self.sectionNames, origin: name)
      }
      for (key, value) in members.sorted(by: { $0.key < $1.key }) {
        try set(value, for: key, in: section, origin: name)
      }
    }
  }

  private static func contents(of file: String) throws(ConfigurationError) -> [UInt8] {
    do {
      return Array(try Data(contentsOf: URL(filePath: file)))
    } catch {
      throw .unreadable(file: file, reason: Self.reason(of: error, about: file))
    }
  }

  private static func reason(of error: any Error, about file: String) -> String {
    switch (error as? CocoaError)?.code {
    case .fileReadNoSuchFile?: return "there is no such file"
    case .fileReadNoPermission?: return "permission denied"
    default:
      let attributes = try? FileManager.default.attributesOfItem(atPath: file)
      let isFolder = attributes?[.type] as? FileAttributeType == .typeDirectory
      return isFolder ? "it is a folder" : String(describing: error)
    }
  }
}

extension ConfigurationValue {
  /// Reads hand-edited JSON: comments and a trailing comma are allowed, and a duplicate name is an
  /// error.
  fileprivate init(json: [UInt8], named name: String) throws(ConfigurationError) {
    var reader = JSONReader(json, .edited)
    reader.skipByteOrderMark()
    do throws(JSONError) {
      self.init(try reader.value())
      try reader.finish()
    } catch {
      throw .malformed(
        file: name, at: TextPosition(ofByte: error.offset, in: json),
        reason: error.reason == .duplicateName
          ? "the key \"\(reader.name(at: error.offset))\" comes twice" : "\(error.reason)")
    }
  }

  private init(_ value: JSONValue) {
    switch value {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .integer(let value): self = .integer(value)
    case .double(let value): self = .double(value)
    case .string(let text): self = .string(text)
    case .array(let elements): self = .array(elements.map { ConfigurationValue($0) })
    case .object(let members):
      let pairs = members.map { ($0.name, ConfigurationValue($0.value)) }
      self = .object(Dictionary(pairs, uniquingKeysWith: { $1 }))
    }
  }
}
