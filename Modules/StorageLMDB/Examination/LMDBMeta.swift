import TernStorage

/// One tree of an LMDB file, as a meta page describes it. Source: LMDB 0.9, `mdb.c`, `MDB_db`.
struct LMDBTree: Equatable {
  var flags = 0
  var depth = 0
  var branchPages = 0
  var leafPages = 0
  var overflowPages = 0
  var entries = 0
  /// The root page; -1 for a tree without a page.
  var root = -1

  /// Reads the description at `offset` of a meta page.
  init(_ page: LMDBPage, at offset: Int) {
    flags = unsafe page.half(offset + 4)
    depth = unsafe page.half(offset + 6)
    branchPages = unsafe page.long(offset + 8)
    leafPages = unsafe page.long(offset + 16)
    overflowPages = unsafe page.long(offset + 24)
    entries = unsafe page.long(offset + 32)
    root = unsafe page.long(offset + 40)
  }
}

/// One of the two meta pages. Source: LMDB 0.9, `mdb.c`, `MDB_meta`.
struct LMDBMeta {
  /// The bytes from the page's begin that are read.
  static let bytes = 152
  private static let magic = 0xBEEF_C0DE
  private static let version = 1
  /// The offset of the parts that every commit writes.
  private static let changing = 40
  /// The flags of the tree of free pages: keys are integers; the file is no directory.
  private static let freeFlags = [0x08, 0x4008]
  /// The deepest tree of LMDB.
  private static let depthLimit = 32

  let transaction: Int
  let lastPage: Int
  let free: LMDBTree
  let main: LMDBTree
  let pageBytes: Int
  /// A checksum of all that a commit writes here.
  let digest: UInt32

  /// Reads the meta page `number` from its first ``bytes`` bytes.
  ///
  /// - Throws: ``StorageError/corruptStore(reason:)``.
  init(_ page: LMDBPage, number: Int) throws(StorageError) {
    guard unsafe page.word(16) == Self.magic else {
      throw Self.damage(number, "it is not one of LMDB's")
    }
    guard unsafe page.word(20) == Self.version else {
      throw .corruptStore(reason: "the file has another version of LMDB's format")
    }
    guard unsafe page.number == number, unsafe page.kind == LMDBLayout.Kind.meta else {
      throw Self.damage(number, "its header")
    }
    pageBytes = unsafe page.word(40)
    free = unsafe LMDBTree(page, at: 40)
    main = unsafe LMDBTree(page, at: 88)
    lastPage = unsafe page.long(136)
    transaction = unsafe page.long(144)
    guard (256...65_536).contains(pageBytes), pageBytes & (pageBytes - 1) == 0 else {
      throw Self.damage(number, "the size of pages")
    }
    guard Self.freeFlags.contains(free.flags), main.flags == 0,
      free.depth <= Self.depthLimit, main.depth <= Self.depthLimit
    else { throw Self.damage(number, "the flags of a tree") }
    // Page 0 has the even transactions, page 1 the odd ones.
    guard transaction >= 0, transaction & 1 == number else {
      throw Self.damage(number, "its transaction")
    }
    guard lastPage >= 1, lastPage < 1 << 47 else { throw Self.damage(number, "the last page") }
    digest = unsafe Self.digest(UnsafeRawBufferPointer(start: page.base, count: Self.bytes))
  }

  /// A checksum of what a commit writes to a meta page with these first ``bytes`` bytes.
  static func digest(_ page: UnsafeRawBufferPointer) -> UInt32 {
    let part = unsafe UnsafeRawBufferPointer(rebasing: page[changing...])
    return unsafe RecordChecksum.of(
      key: UnsafeRawBufferPointer(start: nil, count: 0), value: part)
  }

  static func damage(_ number: Int, _ part: String) -> StorageError {
    .corruptStore(reason: "meta page \(number) is damaged: \(part)")
  }
}

extension LMDBMeta {
  /// Reads both meta pages; the newer one comes first.
  ///
  /// - Throws: ``StorageError/corruptStore(reason:)``.
  static func both(of file: borrowing LMDBFile) throws(StorageError) -> [LMDBMeta] {
    let first = try read(0, of: file, at: 0)
    let second = try read(1, of: file, at: first.pageBytes)
    guard second.pageBytes == first.pageBytes else { throw damage(1, "the size of pages") }
    // The two are written in turn.
    guard abs(first.transaction - second.transaction) == 1 else {
      throw .corruptStore(
        reason: "meta pages are damaged: transactions \(first.transaction) "
          + "and \(second.transaction) do not follow each other")
    }
    return first.transaction > second.transaction ? [first, second] : [second, first]
  }

  private static func read(
    _ number: Int, of file: borrowing LMDBFile, at offset: Int
  ) throws(StorageError) -> LMDBMeta {
    guard offset + bytes <= file.bytes else { throw LMDBFile.cutOff(bytes: file.bytes) }
    let buffer = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 16)
    defer { unsafe buffer.deallocate() }
    unsafe try file.read(bytes, at: offset, into: buffer)
    return unsafe try LMDBMeta(LMDBPage(base: buffer, bytes: bytes), number: number)
  }
}
