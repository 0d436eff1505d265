import TernCore
import TernDocumentWire
import TernLedger
import TernStorage

/// The outcome of a numbered batch, as the ledger stores it.
///
/// Source: Docs/Formats/document-wire.md, section 5.
///
/// Layout: a tag byte; for commits the version in 8 bytes, the number of writes as a variable
/// integer, then for each write a byte (0 no version, 1 that of the commit, 2 an own one that
/// follows in 8 bytes) and, in the whole form, the counted bytes of its transform results. For
/// rejections the code in one byte and the counted text.
enum DocumentOutcome: Equatable {
  case committed(DocumentVersion, [DocumentWriteResult])
  case rejected(DocumentStatus)

  /// More writes than any request has room for.
  ///
  /// A corrupt count must not make the server allocate an array of any size.
  private static let mostWrites: UInt64 = 1 << 22

  private enum Tag {
    /// Version, and a result for each write with what its transforms made.
    static let whole: UInt8 = 0xD1
    /// Version, and a result for each write without it.
    static let versions: UInt8 = 0xD2
    /// Version and the number of writes: all have the commit's version.
    static let brief: UInt8 = 0xD3
    static let rejected: UInt8 = 0xD4
  }

  /// At most ``LedgerLimits/outcomeBytes``: what transforms made is left out first, for the client
  /// can work it out; then the versions of single writes.
  ///
  /// The brief form takes 9 bytes and the count, whatever the commit holds, so that some form
  /// always fits.
  func encode() -> [UInt8] {
    switch self {
    case .rejected(let status):
      var writer = ByteWriter()
      writer.append(Tag.rejected)
      writer.append(UInt8(status.code.rawValue))
      writer.append(counted: status.message.beginning(bytes: LedgerLimits.outcomeBytes / 2))
      return writer.bytes
    case .committed(let version, let results):
      for tag in [Tag.whole, Tag.versions] {
        let bytes = DocumentOutcome.encode(tag, version, results)
        if bytes.count <= LedgerLimits.outcomeBytes { return bytes }
      }
      var writer = ByteWriter()
      writer.append(Tag.brief)
      writer.append(bigEndian: version.microseconds)
      writer.append(variable: UInt64(results.count))
      return writer.bytes
    }
  }

  private static func encode(
    _ tag: UInt8, _ version: DocumentVersion, _ results: [DocumentWriteResult]
  ) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(tag)
    writer.append(bigEndian: version.microseconds)
    writer.append(variable: UInt64(results.count))
    for result in results {
      switch result.version {
      case nil: writer.append(0)
      case version: writer.append(1)
      case let other?:
        writer.append(2)
        writer.append(bigEndian: other.microseconds)
      }
      if tag == Tag.versions { continue }
      writer.append(counted: PackedValue(.array(result.transformResults)).bytes)
    }
    return writer.bytes
  }

  /// Reads an outcome back; `nil` when the bytes are none.
  ///
  /// Bytes of an outcome of a tree, which may have the same number, are none.
  init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard let tag = reader.byte() else { return nil }
    if tag == Tag.rejected {
      guard let number = reader.byte(), let code = DocumentStatus.Code(rawValue: Int(number)),
        let text = reader.counted()
      else { return nil }
      self = .rejected(DocumentStatus(code, String(decoding: text, as: UTF8.self)))
      return
    }
    guard Tag.whole...Tag.brief ~= tag, let number = reader.bigEndian(Int64.self),
      let count = reader.variable(), count <= DocumentOutcome.mostWrites
    else { return nil }
    let version = DocumentVersion(microseconds: number)
    if tag == Tag.brief {
      let result = DocumentWriteResult(version: version)
      self = .committed(version, Array(repeating: result, count: Int(count)))
      return
    }
    var results: [DocumentWriteResult] = []
    for _ in 0..<count {
      guard let result = DocumentOutcome.result(tag, version, &reader) else { return nil }
      results.append(result)
    }
    self = .committed(version, results)
  }

  private static func result(
    _ tag: UInt8, _ version: DocumentVersion, _ reader: inout ByteReader
  ) -> DocumentWriteResult? {
    var own: DocumentVersion?
    switch reader.byte() {
    case 0: own = nil
    case 1: own = version
    case 2:
      guard let number = reader.bigEndian(Int64.self) else { return nil }
      own = DocumentVersion(microseconds: number)
    default: return nil
    }
    if tag == Tag.versions { return DocumentWriteResult(version: own) }
    guard let packed = reader.counted(), !packed.isEmpty,
      case .array(let values) = PackedValue(copying: packed.span, at: 0).value
    else { return nil }
    return DocumentWriteResult(version: own, transformResults: values)
  }
}

extension String {
  /// The UTF-8 of the longest beginning that fits, no character cut.
  fileprivate func beginning(bytes limit: Int) -> [UInt8] {
    var end = Swift.min(utf8.count, limit)
    let bytes = Array(utf8)
    while end > 0, end < bytes.count, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    return Array(bytes[..<end])
  }
}

extension DocumentOutcome {
  /// A 64-bit fingerprint of a batch as it was sent, the same in every process: it tells a
  /// repetition from another batch under the same name. FNV-1a over its canonical bytes.
  static func payloadHash(_ writes: [DocumentMutation], in database: DocumentDatabase) -> UInt64 {
    let request = DocumentRequest(.commit(writes, transaction: [], nil), in: database)
    return request.encode().reduce(0xCBF2_9CE4_8422_2325) { hash, byte in
      (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }
  }
}
