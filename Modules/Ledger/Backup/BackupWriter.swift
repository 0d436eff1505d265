import TernStorage

/// Turns rows in key order into the bytes of a backup, or of an increment to another one.
///
/// It holds one block and the list of ranges. Source: Docs/Formats/backup.md.
struct BackupWriter {
  private let header: BackupHeader
  /// The ranges of the backup below an increment; for a whole backup one that never matches.
  private let base: [BackupRange]
  private let emit: ([UInt8]) throws(StorageError) -> Void
  private var checksum: UInt64 = 0
  /// The range of the backup below that the next row is compared with.
  private var baseIndex = 0
  /// True if a part of that range was written already, so that the rest is too.
  private var isSplit = false
  private var ranges: [BackupRange] = []
  private var contents = RowDigest()
  private var summary = BackupSummary(rows: 0, bytes: 0, contents: 0, digest: 0)

  // The range that is being filled.
  private var lower: [UInt8] = []
  private var block = RowBytes()
  private var digest = RowDigest()

  /// Begins a backup.
  ///
  /// - Parameters:
  ///   - base: The backup that this one is an increment of.
  ///   - emit: Takes the next bytes; its error ends the backup.
  init(
    _ header: BackupHeader, on base: BackupIndex?,
    emit: @escaping ([UInt8]) throws(StorageError) -> Void
  ) throws(StorageError) {
    var header = header
    header.base = base?.base
    self.header = header
    // No range has that many bytes, so everything differs.
    self.base = base?.ranges ?? [BackupRange(upper: nil, digest: 0, bytes: .max)]
    self.emit = emit
    try emit(BackupMagic.bytes)
    try put(SectionKind.header, SectionText.encode(header))
  }

  private var isIncrement: Bool { header.base != nil }

  /// The bytes at which a block ends now.
  private var limitBytes: Int {
    BackupLimits.blockBytes << min(8, ranges.count / BackupLimits.rangesPerStep)
  }

  /// Adds the next row.
  mutating func add(key: Span<UInt8>, value: Span<UInt8>) throws(StorageError) {
    while let upper = base[baseIndex].upper, compareBytes(key, upper.span) >= 0 {
      try cut(at: upper)
      baseIndex += 1
      isSplit = false
    }
    let known = isIncrement ? base[baseIndex].bytes : 0
    if block.rawBytes >= limitBytes, isSplit || UInt64(block.rawBytes) > known {
      let upper = [UInt8](copying: key)
      isSplit = true
      try cut(at: upper)
    }
    digest.add(key: key, value: value)
    contents.add(key: key, value: value)
    block.append(key: key, value: value)
    summary.rows += 1
    summary.bytes += UInt64(key.count + value.count)
  }

  /// Ends the backup.
  ///
  /// - Returns: What it comes to.
  mutating func finish() throws(StorageError) -> BackupSummary {
    while let upper = base[baseIndex].upper {
      try cut(at: upper)
      baseIndex += 1
      isSplit = false
    }
    try cut(at: nil)
    try putIndex()
    summary.contents = contents.value
    try put(SectionKind.end, SectionText.encode(summary))
    summary.digest = checksum
    return summary
  }

  /// Ends the present range, and writes its rows unless they are those of the backup below.
  private mutating func cut(at upper: [UInt8]?) throws(StorageError) {
    let size = UInt64(block.rawBytes)
    let range = BackupRange(upper: upper, digest: digest.value, bytes: size)
    if !isIncrement || isSplit || range != base[baseIndex] {
      var writer = ByteWriter()
      writer.append(counted: lower)
      writer.append(upper == nil ? 0 : 1)
      if let upper { writer.append(counted: upper) }
      writer.append(variable: UInt64(block.count))
      writer.append(block.bytes)
      try put(SectionKind.block, writer.bytes)
    }
    ranges.append(range)
    lower = upper ?? []
    block.removeAll()
    digest = RowDigest()
  }

  private mutating func putIndex() throws(StorageError) {
    var start = 0
    var bytes = 0
    for index in ranges.indices {
      bytes += 20 + (ranges[index].upper?.count ?? 0)
      guard bytes >= BackupLimits.indexBytes || index == ranges.count - 1 else { continue }
      try put(SectionKind.ranges, SectionText.encode(ranges[start...index]))
      (start, bytes) = (index + 1, 0)
    }
  }

  private mutating func put(_ kind: UInt8, _ payload: [UInt8]) throws(StorageError) {
    let head = SectionHead(kind: kind, payload: payload, after: checksum)
    checksum = head.checksum
    var writer = ByteWriter()
    head.append(to: &writer)
    writer.append(payload)
    try emit(writer.bytes)
  }
}

/// The rows of a block as they are written: each key without what it shares with the one before.
private struct RowBytes {
  private(set) var bytes: [UInt8] = []
  private(set) var count = 0
  /// The bytes of keys and values.
  private(set) var rawBytes = 0
  private var last: [UInt8] = []

  mutating func append(key: Span<UInt8>, value: Span<UInt8>) {
    var shared = 0
    let most = min(last.count, key.count)
    while shared < most, last[shared] == key[shared] { shared += 1 }
    append(variable: shared)
    append(variable: key.count - shared)
    append(key.extracting(shared..<key.count))
    append(variable: value.count)
    append(value)
    last.removeAll(keepingCapacity: true)
    // Safe: the buffer lives through the call, which copies it.
    unsafe key.withUnsafeBufferPointer { unsafe last.append(contentsOf: $0) }
    count += 1
    rawBytes += key.count + value.count
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    last.removeAll(keepingCapacity: true)
    (count, rawBytes) = (0, 0)
  }

  private mutating func append(variable number: Int) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  private mutating func append(_ span: Span<UInt8>) {
    // Safe: the buffer lives through the call, which copies it.
    unsafe span.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
  }
}
