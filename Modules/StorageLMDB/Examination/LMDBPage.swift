/// Sizes and flags of LMDB's pages. Source: LMDB 0.9, `mdb.c`, "Page header" and `MDB_node`.
enum LMDBLayout {
  static let headerBytes = 16
  static let nodeBytes = 8
  /// The value of a leaf's node lies in pages of its own.
  static let isElsewhere = 0x01

  enum Kind {
    static let branch = 0x01
    static let leaf = 0x02
    static let overflow = 0x04
    static let meta = 0x08
  }
}

/// A page of an LMDB file in memory of our own.
///
/// Every load is of bytes inside the page as long as its offset is at most ``bytes`` - 8.
@unsafe
struct LMDBPage {
  let base: UnsafeRawPointer
  let bytes: Int

  @inline(__always)
  func half(_ offset: Int) -> Int {
    unsafe Int(base.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }
  @inline(__always)
  func word(_ offset: Int) -> Int {
    unsafe Int(base.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }
  /// A number of 64 bits; negative when it has more than 63.
  @inline(__always)
  func long(_ offset: Int) -> Int {
    unsafe Int(bitPattern: base.loadUnaligned(fromByteOffset: offset, as: UInt.self))
  }

  var number: Int { unsafe long(0) }
  var kind: Int { unsafe half(10) }
  /// The end of the node pointers.
  var lower: Int { unsafe half(12) }
  /// The begin of the nodes.
  var upper: Int { unsafe half(14) }
  /// The pages of an overflow run, this one included.
  var runPages: Int { unsafe word(12) }
  var count: Int { unsafe (lower - LMDBLayout.headerBytes) / 2 }

  /// The offset of a node. Its header and key lie in the page once ``LMDBTiling`` has said so.
  @inline(__always)
  func node(_ index: Int) -> Int { unsafe half(LMDBLayout.headerBytes + 2 * index) }
  @inline(__always)
  func keyBytes(_ node: Int) -> Int { unsafe half(node + 6) }
  @inline(__always)
  func flags(_ node: Int) -> Int { unsafe half(node + 4) }
  /// The bytes of a leaf's value.
  @inline(__always)
  func valueBytes(_ node: Int) -> Int { unsafe word(node) }
  /// The page a branch's node leads to.
  @inline(__always)
  func child(_ node: Int) -> Int { unsafe word(node) | flags(node) << 32 }
  @inline(__always)
  func key(_ node: Int) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: base + node + LMDBLayout.nodeBytes, count: keyBytes(node))
  }
}
