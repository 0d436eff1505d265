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
  ///   - environment: The variables of the process; only those named `TERN_…` count.
  ///   - flags: Section, key and text of each flag; the last one wins.
  /// - Throws: ``ConfigurationError``; it names the source that is wrong.
  public init(
    file: String?, environment: [String: String] = [:],
    flags: [(section: String, key: String, text: String)] = []
  ) throws(ConfigurationError) {
    self.init()
    if let file { try apply(json: Self.contents(of: file), named: file) }
    try apply(environment: environment)
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
  /// - Throws: ``ConfigurationError/malformed(file:offset:reason:)``,
  ///   ``ConfigurationError/unknownSection(_:known:origin:)``.
  public mutating func apply(json: [UInt8], named name: String) throws(ConfigurationError) {
    var reader = ConfigurationReader(json, name: name)
    guard case .object(let sections) = try reader.read() else {
      throw .malformed(file: name, offset: 0, reason: "the file must be an object of sections")
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

/// Turns JSON text into configuration values; a name that comes twice is an error.
private struct ConfigurationReader {
  private var reader: JSONReader
  private let name: String

  init(_ bytes: [UInt8], name: String) {
    reader = JSONReader(bytes)
    self.name = name
  }

  mutating func read() throws(ConfigurationError) -> ConfigurationValue {
    do {
      let value = try value()
      try reader.finish()
      return value
    } catch let error as ConfigurationError {
      throw error
    } catch let error as JSONError {
      throw .malformed(file: name, offset: error.offset, reason: "\(error.reason)")
    } catch {
      throw .malformed(file: name, offset: reader.offset, reason: String(describing: error))
    }
  }

  private mutating func value() throws -> ConfigurationValue {
    switch try reader.peek() {
    case .null, .bool: return try reader.boolOrNull().map { .bool($0) } ?? .null
    case .string: return .string(try reader.string())
    case .number: return number(try reader.number())
    case .array:
      var elements: [ConfigurationValue] = []
      try reader.beginArray()
      while try reader.nextElement() { elements.append(try value()) }
      return .array(elements)
    case .object:
      return .object(try members())
    }
  }

  private mutating func members() throws -> [String: ConfigurationValue] {
    var members: [String: ConfigurationValue] = [:]
    try reader.beginObject()
    while let key = try reader.nextKey() {
      guard members.updateValue(try value(), forKey: key) == nil else {
        throw ConfigurationError.malformed(
          file: name, offset: reader.offset, reason: "the key \"\(key)\" comes twice")
      }
    }
    return members
  }

  private func number(_ scalar: TreeScalar) -> ConfigurationValue {
    switch scalar {
    case .integer(let value): .integer(value)
    case .double(let value): .double(value)
    case .bool, .string, .serverValue: .null
    }
  }
}
