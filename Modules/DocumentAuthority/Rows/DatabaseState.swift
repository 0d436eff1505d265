import TernCore
import TernStorage

/// The persistent state of a database.
struct DatabaseState: Hashable {
  /// The version of its first commit. It identifies the database among those of the same name.
  var epoch: DocumentVersion = .none
  /// The version of its last commit.
  var last: DocumentVersion = .none
  /// The number that the next collection or group gets.
  var nextScope: ScopeNumber = 1

  private static let format: UInt8 = 1

  init() {}

  /// Reads a state back; `nil` when the bytes are none.
  init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.format, let epoch = reader.bigEndian(Int64.self),
      let last = reader.bigEndian(Int64.self), let scope = reader.bigEndian(ScopeNumber.self),
      reader.isAtEnd, scope < .max
    else { return nil }
    self.epoch = DocumentVersion(microseconds: epoch)
    self.last = DocumentVersion(microseconds: last)
    nextScope = scope
    if !self.last.isTime { return nil }
  }

  func encode() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.format)
    writer.append(bigEndian: epoch.microseconds)
    writer.append(bigEndian: last.microseconds)
    writer.append(bigEndian: nextScope)
    return writer.bytes
  }

  /// The version of a commit that is made now: later than every other.
  ///
  /// - Parameter now: Microseconds since 1970.
  func nextVersion(now: Int64) -> DocumentVersion {
    DocumentVersion(microseconds: max(now, last.microseconds + 1))
  }
}

/// A document as its row holds it.
enum StoredDocument {
  /// `created`, `version`, then the packed fields.
  static func encode(_ fields: DocumentFields, _ document: Document) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(bigEndian: document.created.microseconds)
    writer.append(bigEndian: document.version.microseconds)
    writer.append(fields.bytes)
    return writer.bytes
  }

  /// The number of bytes before the fields.
  static let headBytes = 16

  /// Reads a row; `nil` when it is too short. Its fields are trusted: checksums vouch for them.
  static func decode(_ bytes: Span<UInt8>, _ key: DocumentKey) -> Document? {
    guard bytes.count > headBytes else { return nil }
    let created = Int64(bitPattern: number(bytes, from: 0))
    let version = Int64(bitPattern: number(bytes, from: 8))
    let fields = [UInt8](copying: bytes.extracting(headBytes..<bytes.count))
    return Document(
      key, .found(DocumentFields(unchecked: fields)),
      version: DocumentVersion(microseconds: version),
      created: DocumentVersion(microseconds: created))
  }

  private static func number(_ bytes: Span<UInt8>, from start: Int) -> UInt64 {
    var number: UInt64 = 0
    for index in start..<start + 8 { number = number << 8 | UInt64(bytes[index]) }
    return number
  }
}
