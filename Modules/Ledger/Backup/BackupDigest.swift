import TernStorage

/// A checksum of 64 bits over rows in their order.
///
/// Source: Docs/Formats/backup.md, section 5.
struct RowDigest: Hashable, Sendable {
  private(set) var value: UInt64 = 0

  mutating func add(key: Span<UInt8>, value other: Span<UInt8>) {
    // Safe: both buffers live through the call, which keeps no pointer.
    let sum = unsafe key.withUnsafeBytes { key in
      unsafe other.withUnsafeBytes { unsafe RecordChecksum.of(key: key, value: $0) }
    }
    value = (value ^ UInt64(sum)) &* 0x9E37_79B9_7F4A_7C15
    value ^= value >> 29
  }
}

/// The head of a section in a file: its kind, its size and its checksum, which goes on from that of
/// the section before.
struct SectionHead: Hashable {
  static let bytes = 13

  var kind: UInt8
  var count: UInt32
  var checksum: UInt64

  init(kind: UInt8, payload: [UInt8], after previous: UInt64) {
    self.kind = kind
    count = UInt32(payload.count)
    checksum = Self.checksum(kind, payload, after: previous)
  }

  init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard let kind = reader.byte(), let count = reader.bigEndian(UInt32.self),
      let checksum = reader.bigEndian(UInt64.self)
    else { return nil }
    (self.kind, self.count, self.checksum) = (kind, count, checksum)
  }

  /// Two checksums of 32 bits that begin differently.
  static func checksum(_ kind: UInt8, _ payload: [UInt8], after previous: UInt64) -> UInt64 {
    var sum: UInt64 = 0
    for half: UInt8 in [0, 1] {
      var seed = ByteWriter()
      seed.append(half)
      seed.append(kind)
      seed.append(bigEndian: previous)
      // Safe: both buffers live through the call, which keeps no pointer.
      let part = unsafe seed.bytes.withUnsafeBytes { seed in
        unsafe payload.withUnsafeBytes { unsafe RecordChecksum.of(key: seed, value: $0) }
      }
      sum = sum << 32 | UInt64(part)
    }
    return sum
  }

  func append(to writer: inout ByteWriter) {
    writer.append(kind)
    writer.append(bigEndian: count)
    writer.append(bigEndian: checksum)
  }
}

/// The first byte of a section.
enum SectionKind {
  static let header = UInt8(ascii: "H")
  static let block = UInt8(ascii: "R")
  static let ranges = UInt8(ascii: "X")
  static let end = UInt8(ascii: "E")
}

/// The first bytes of a backup.
enum BackupMagic {
  static let bytes = Array("tern backup\n".utf8) + [UInt8(BackupLimits.format)]
}

/// Payloads, to and fro.
enum SectionText {
  static func encode(_ header: BackupHeader) -> [UInt8] {
    var writer = ByteWriter()
    for number in [header.version, UInt64(bitPattern: header.time)] {
      writer.append(bigEndian: number)
    }
    writer.append(bigEndian: header.lived)
    writer.append(header.base == nil ? 0 : 1)
    if let base = header.base {
      writer.append(bigEndian: base.digest)
      writer.append(bigEndian: base.version)
    }
    return writer.bytes
  }

  static func header(_ bytes: [UInt8]) -> BackupHeader? {
    var reader = ByteReader(bytes)
    guard let version = reader.bigEndian(UInt64.self), let time = reader.bigEndian(Int64.self),
      let lived = reader.bigEndian(Int64.self), let hasBase = reader.byte(), hasBase < 2
    else { return nil }
    var header = BackupHeader(version: version, time: time, lived: lived)
    if hasBase == 1 {
      guard let digest = reader.bigEndian(UInt64.self), let version = reader.bigEndian(UInt64.self)
      else { return nil }
      header.base = BackupHeader.Base(digest: digest, version: version)
    }
    return reader.isAtEnd ? header : nil
  }

  static func encode(_ ranges: ArraySlice<BackupRange>) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(variable: UInt64(ranges.count))
    for range in ranges {
      writer.append(range.upper == nil ? 0 : 1)
      if let upper = range.upper { writer.append(counted: upper) }
      writer.append(bigEndian: range.digest)
      writer.append(variable: range.bytes)
    }
    return writer.bytes
  }

  static func ranges(_ bytes: [UInt8]) -> [BackupRange]? {
    var reader = ByteReader(bytes)
    guard let count = reader.variable() else { return nil }
    var ranges: [BackupRange] = []
    for _ in 0..<count {
      guard let hasUpper = reader.byte(), hasUpper < 2 else { return nil }
      var upper: [UInt8]?
      if hasUpper == 1 {
        guard let key = reader.counted() else { return nil }
        upper = key
      }
      guard let digest = reader.bigEndian(UInt64.self), let size = reader.variable() else {
        return nil
      }
      ranges.append(BackupRange(upper: upper, digest: digest, bytes: size))
    }
    return reader.isAtEnd ? ranges : nil
  }

  static func encode(_ summary: BackupSummary) -> [UInt8] {
    var writer = ByteWriter()
    for number in [summary.rows, summary.bytes, summary.contents] {
      writer.append(bigEndian: number)
    }
    return writer.bytes
  }

  static func summary(_ bytes: [UInt8], digest: UInt64) -> BackupSummary? {
    var reader = ByteReader(bytes)
    guard let rows = reader.bigEndian(UInt64.self), let size = reader.bigEndian(UInt64.self),
      let contents = reader.bigEndian(UInt64.self), reader.isAtEnd
    else { return nil }
    return BackupSummary(rows: rows, bytes: size, contents: contents, digest: digest)
  }

  static func block(_ bytes: [UInt8]) -> BackupBlock? {
    var reader = ByteReader(bytes)
    guard let lower = reader.counted(), let hasUpper = reader.byte(), hasUpper < 2 else {
      return nil
    }
    var range = KeyRange(from: lower)
    if hasUpper == 1 {
      guard let upper = reader.counted() else { return nil }
      range.upper = upper
    }
    guard let count = reader.variable(), count <= UInt64(bytes.count) else { return nil }
    var rows: [Row] = []
    // What shares a long key takes few bytes here, and many as rows.
    var bytesLeft = BackupLimits.sectionBytes
    var key: [UInt8] = []
    for _ in 0..<count {
      guard let shared = reader.variable(), shared <= UInt64(key.count),
        let rest = reader.counted(), let value = reader.counted()
      else { return nil }
      bytesLeft -= Int(shared) + rest.count + value.count
      guard bytesLeft >= 0 else { return nil }
      let next = key.prefix(Int(shared)) + rest
      guard rows.isEmpty || bytesPrecede(key, Array(next)), range.contains(next.span) else {
        return nil
      }
      key = Array(next)
      rows.append(Row(key: key, value: value))
    }
    return reader.isAtEnd ? BackupBlock(range: range, rows: rows) : nil
  }
}

extension ArraySlice<UInt8> {
  static func + (left: ArraySlice, right: [UInt8]) -> [UInt8] { Array(left) + right }
}

extension BackupIndex {
  /// The index as bytes, for the server that makes an increment.
  public func encode() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(bigEndian: base.digest)
    writer.append(bigEndian: base.version)
    writer.append(SectionText.encode(ranges[...]))
    return writer.bytes
  }

  /// Reads an index back; `nil` when the bytes are none.
  public init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard let digest = reader.bigEndian(UInt64.self), let version = reader.bigEndian(UInt64.self),
      let ranges = SectionText.ranges(Array(bytes.dropFirst(16))), ranges.last?.upper == nil,
      !ranges.isEmpty
    else { return nil }
    for (index, range) in ranges.dropLast().enumerated() {
      guard let upper = range.upper else { return nil }
      if let next = ranges[index + 1].upper, !bytesPrecede(upper, next) { return nil }
    }
    self.init(base: BackupHeader.Base(digest: digest, version: version), ranges: ranges)
  }
}
