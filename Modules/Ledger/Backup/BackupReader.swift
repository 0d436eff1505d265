import TernStorage

/// Reads a backup from its beginning to its end, and trusts no byte of it.
///
/// Every section carries a checksum that goes on from the one before, ranges must follow each other
/// without a gap, rows must be in order, and the numbers at the end must be those that were read: a
/// backup that is cut, damaged or put together from two is an error, never a state.
public struct BackupReader {
  private let read: (Int) throws(BackupError) -> [UInt8]
  private var checksum: UInt64 = 0
  /// The number of bytes read.
  public private(set) var offset: UInt64 = 0
  /// The head, once it was read.
  public private(set) var header: BackupHeader?
  fileprivate var progress = Progress()

  /// The state of what was read so far.
  fileprivate struct Progress {
    /// The end of the last block; empty at the beginning, `nil` behind the last key.
    var upper: [UInt8]? = []
    var blocks: [BackupRange] = []
    var ranges: [BackupRange] = []
    var rows: UInt64 = 0
    var bytes: UInt64 = 0
    var contents = RowDigest()
    var isDone = false
  }

  /// A reader at the beginning of a backup.
  ///
  /// - Parameter read: Returns the next bytes: as many as it is asked for, fewer only at the end.
  public init(_ read: @escaping (Int) throws(BackupError) -> [UInt8]) {
    self.read = read
  }

  /// Reads the next section; `nil` behind the last one.
  ///
  /// - Throws: ``BackupError/foreign``, ``BackupError/newerFormat(found:supported:)``,
  ///   ``BackupError/cut(at:)``, ``BackupError/corrupt(at:)``, and what `read` throws.
  public mutating func next() throws(BackupError) -> BackupSection? {
    if progress.isDone { return nil }
    if offset == 0 { try readMagic() }
    let start = offset
    let bytes = try take(SectionHead.bytes)
    guard let head = SectionHead(bytes), head.count <= BackupLimits.sectionBytes else {
      throw .corrupt(at: start)
    }
    let payload = try take(Int(head.count))
    guard SectionHead.checksum(head.kind, payload, after: checksum) == head.checksum else {
      throw .corrupt(at: start)
    }
    checksum = head.checksum
    guard let section = section(head.kind, payload) else { throw .corrupt(at: start) }
    if case .end = section {
      guard try read(1).isEmpty else { throw .corrupt(at: offset) }
      progress.isDone = true
    }
    return section
  }

  /// The ranges of the backup, once it was read to its end.
  public var index: BackupIndex? {
    guard progress.isDone, let header else { return nil }
    return BackupIndex(
      base: BackupHeader.Base(digest: checksum, version: header.version), ranges: progress.ranges)
  }

  private mutating func readMagic() throws(BackupError) {
    let bytes = try read(BackupMagic.bytes.count)
    offset += UInt64(bytes.count)
    let name = BackupMagic.bytes.dropLast()
    guard bytes.starts(with: name.prefix(bytes.count)), !bytes.isEmpty else { throw .foreign }
    guard bytes.count == BackupMagic.bytes.count, let format = bytes.last else {
      throw .cut(at: offset)
    }
    guard format > 0 else { throw .corrupt(at: offset - 1) }
    guard Int(format) <= BackupLimits.format else {
      throw .newerFormat(found: Int(format), supported: BackupLimits.format)
    }
  }

  private mutating func take(_ count: Int) throws(BackupError) -> [UInt8] {
    let bytes = try read(count)
    offset += UInt64(bytes.count)
    guard bytes.count == count else { throw .cut(at: offset) }
    return bytes
  }

  private mutating func section(_ kind: UInt8, _ payload: [UInt8]) -> BackupSection? {
    guard let header else {
      guard kind == SectionKind.header, let found = SectionText.header(payload) else { return nil }
      header = found
      return .header(found)
    }
    switch kind {
    case SectionKind.block:
      guard let block = SectionText.block(payload), progress.takes(block, header) else {
        return nil
      }
      return .block(block)
    case SectionKind.ranges:
      guard let ranges = SectionText.ranges(payload), progress.takes(ranges) else { return nil }
      return .ranges(ranges)
    case SectionKind.end:
      guard let summary = SectionText.summary(payload, digest: checksum),
        progress.agrees(with: summary, header)
      else { return nil }
      return .end(summary)
    default: return nil
    }
  }
}

extension BackupReader.Progress {
  /// Takes the next block in; `false` when it cannot be the next one.
  fileprivate mutating func takes(_ block: BackupBlock, _ header: BackupHeader) -> Bool {
    guard let upper, ranges.isEmpty else { return false }
    let follows =
      header.base == nil
      ? block.range.lower == upper : !bytesPrecede(block.range.lower, upper)
    guard follows, !block.range.isEmpty else { return false }
    self.upper = block.range.upper
    var (digest, size) = (RowDigest(), UInt64(0))
    for row in block.rows {
      digest.add(key: row.key.span, value: row.value.span)
      contents.add(key: row.key.span, value: row.value.span)
      size += UInt64(row.key.count + row.value.count)
    }
    rows += UInt64(block.rows.count)
    bytes += size
    blocks.append(BackupRange(upper: block.range.upper, digest: digest.value, bytes: size))
    return true
  }

  /// Takes ranges in; `false` when they cannot be the next ones.
  fileprivate mutating func takes(_ next: [BackupRange]) -> Bool {
    for range in next {
      if let last = ranges.last {
        guard let before = last.upper else { return false }
        if let upper = range.upper, !bytesPrecede(before, upper) { return false }
      }
      ranges.append(range)
    }
    return !next.isEmpty
  }

  /// Returns true when what was read is what the end says.
  fileprivate func agrees(with summary: BackupSummary, _ header: BackupHeader) -> Bool {
    guard let last = ranges.last, last.upper == nil,
      ranges.reduce(0, { $0 &+ $1.bytes }) == summary.bytes
    else { return false }
    if header.base == nil {
      return upper == nil && blocks == ranges && rows == summary.rows && bytes == summary.bytes
        && contents.value == summary.contents
    }
    // The blocks of an increment are some of its ranges.
    var rest = ranges[...]
    for block in blocks {
      guard let index = rest.firstIndex(of: block) else { return false }
      rest = rest[(index + 1)...]
    }
    return true
  }
}

extension BackupReader {
  /// Reads a backup to its end.
  ///
  /// - Parameter onSection: Called with each section, when it is known to be whole.
  /// - Returns: The head, the end and the ranges.
  public static func verify(
    _ read: @escaping (Int) throws(BackupError) -> [UInt8],
    onSection: (BackupSection) throws(BackupError) -> Void = { _ in }
  ) throws(BackupError) -> (header: BackupHeader, summary: BackupSummary, index: BackupIndex) {
    var reader = BackupReader(read)
    var summary: BackupSummary?
    while let section = try reader.next() {
      if case .end(let found) = section { summary = found }
      try onSection(section)
    }
    guard let header = reader.header, let summary, let index = reader.index else {
      throw .cut(at: reader.offset)
    }
    return (header, summary, index)
  }
}
