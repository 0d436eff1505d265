import TernCore
import TernStorage

/// A client's resume token: the database that the client saw, and its last version.
///
/// Source: Docs/Formats/document-rows.md, section 5.
///
/// Layout: format (1), epoch and version (8 bytes each). It is no secret and no credential: a
/// client that makes one up is sent too little or everything, of what it may see.
struct WatchToken: Hashable {
  /// The first commit of the database; erasing the database changes it.
  let epoch: DocumentVersion
  /// The last commit that the client received.
  let version: DocumentVersion

  private static let format: UInt8 = 1

  init(_ state: DatabaseState) {
    epoch = state.epoch
    version = state.last
  }

  /// Reads a token back; `nil` when the bytes are none.
  init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.format, let epoch = reader.bigEndian(Int64.self),
      let version = reader.bigEndian(Int64.self), reader.isAtEnd
    else { return nil }
    self.epoch = DocumentVersion(microseconds: epoch)
    self.version = DocumentVersion(microseconds: version)
  }

  /// Returns the token as clients keep it.
  func encode() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.format)
    writer.append(bigEndian: epoch.microseconds)
    writer.append(bigEndian: version.microseconds)
    return writer.bytes
  }
}
