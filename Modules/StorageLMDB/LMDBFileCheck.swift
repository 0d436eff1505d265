import TernStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Looks whether a file has every page that its trees refer to.
///
/// LMDB maps the file, and whoever touches a page behind its end is stopped by the system, the whole
/// program with him. The file says which page is its last one; pages that a transaction took and
/// gave back are never written, so a healthy file may end before that. Then, and only then, the
/// trees are walked. Source: LMDB 0.9, `lmdb.c`, "Page header", "Meta-page" and `MDB_node`.
struct LMDBFileCheck: ~Copyable {
  private static let headerBytes = 16
  private static let magic = 0xBEEF_C0DE
  /// Where the parts of a meta page begin.
  private enum Meta {
    static let magic = 16
    static let pageBytes = 40
    static let freeRoot = 80
    static let mainRoot = 128
    static let lastPage = 136
    static let transaction = 144
    static let end = 152
  }
  private enum Kind {
    static let branch = 0x01
    static let leaf = 0x02
  }
  /// The node's value lies in pages of its own.
  private static let isElsewhere = 0x01

  private let file: Int32
  private let fileBytes: Int
  private let pageBytes: Int
  private let lastPage: Int
  /// Pages still to be looked at.
  private var waiting: [Int]
  private var looked = 0

  /// Checks the file at `path`; one that is not there, or no file of LMDB's, is for others to judge.
  ///
  /// - Throws: ``StorageError/corruptStore(reason:)``.
  static func check(_ path: String) throws(StorageError) {
    guard let check = LMDBFileCheck(path), check.isShort else { return }
    try check.walk()
  }

  private init?(_ path: String) {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    let fileBytes = Int(lseek(file, 0, SEEK_END))
    let first = Self.read(file, Meta.end, at: 0)
    let pageBytes = first.number(at: Meta.pageBytes, bytes: 4)
    let second = Self.read(file, Meta.end, at: pageBytes)
    let metas = [first, second].filter {
      $0.count == Meta.end && $0.number(at: Meta.magic, bytes: 4) == Self.magic
    }
    let newest = metas.max {
      $0.number(at: Meta.transaction, bytes: 8) < $1.number(at: Meta.transaction, bytes: 8)
    }
    guard let newest, (256...65_536).contains(pageBytes), MemoryLayout<Int>.size == 8 else {
      close(file)
      return nil
    }
    self.file = file
    self.fileBytes = fileBytes
    self.pageBytes = pageBytes
    lastPage = newest.number(at: Meta.lastPage, bytes: 8)
    // A tree without a page has a root of all ones.
    waiting = [Meta.freeRoot, Meta.mainRoot].map { newest.number(at: $0, bytes: 8) }
      .filter { $0 != -1 }
  }

  deinit { close(file) }

  private var isShort: Bool { lastPage < 1 || lastPage >= fileBytes / pageBytes }

  private consuming func walk() throws(StorageError) {
    while let page = waiting.popLast() {
      try require(page, 1)
      looked += 1
      // More pages than the file has: some are met twice.
      guard looked <= fileBytes / pageBytes else { throw Self.damaged(page) }
      try look(at: page)
    }
  }

  private mutating func look(at number: Int) throws(StorageError) {
    let page = Self.read(file, pageBytes, at: number * pageBytes)
    let kind = page.number(at: 10, bytes: 2)
    let end = page.number(at: 12, bytes: 2)
    guard kind & (Kind.branch | Kind.leaf) != 0, end >= Self.headerBytes, end <= pageBytes else {
      throw Self.damaged(number)
    }
    for place in stride(from: Self.headerBytes, to: end - 1, by: 2) {
      let node = page.number(at: place, bytes: 2)
      guard node + 8 <= pageBytes else { throw Self.damaged(number) }
      if kind & Kind.branch != 0 {
        waiting.append(page.number(at: node, bytes: 6))
      } else if page.number(at: node + 4, bytes: 2) & Self.isElsewhere != 0 {
        let key = page.number(at: node + 6, bytes: 2)
        guard node + 16 + key <= pageBytes else { throw Self.damaged(number) }
        let first = page.number(at: node + 8 + key, bytes: 8)
        try require(first, 1)
        let header = Self.read(file, Self.headerBytes, at: first * pageBytes)
        try require(first, max(1, header.number(at: 12, bytes: 4)))
      }
    }
  }

  /// Whether the file has some pages.
  private func require(_ page: Int, _ count: Int) throws(StorageError) {
    guard (2..<Int(Int32.max) * 256).contains(page), page + count <= fileBytes / pageBytes else {
      throw .corruptStore(
        reason: "the file has \(fileBytes) bytes, and a page in use lies behind its end")
    }
  }

  private static func damaged(_ page: Int) -> StorageError {
    .corruptStore(reason: "the file was cut off, and page \(page) makes no sense")
  }

  private static func read(_ file: Int32, _ count: Int, at offset: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = max(0, unsafe pread(file, buffer.baseAddress, count, off_t(offset)))
    }
  }
}

extension [UInt8] {
  /// An unsigned number, its least byte first; what is behind the end counts as zeros.
  fileprivate func number(at place: Int, bytes: Int) -> Int {
    (0..<bytes).reduce(0) { sum, index in
      place + index < count ? sum | Int(self[place + index]) << (8 * index) : sum
    }
  }
}
