/// Room on the heap of this thread, made before many small allocations.
///
/// The C library of Linux grows the heap of any thread but the first page by page, with a system
/// call each. A block that is asked for and given back leaves it grown by all its pages at once.
/// Elsewhere this costs one allocation and does nothing.
struct MemoryFootprint {
  /// Just below what would be mapped apart from the heap, or given back to the system when freed.
  private static let blockBytes = 120 << 10
  /// Allocations of one node, of some 100 bytes each, that a block has room for.
  private static let usesPerBlock = 512

  private var uses = 0

  /// Notes that a node is about to be allocated.
  mutating func use() {
    uses += 1
    guard uses.isMultiple(of: Self.usesPerBlock) else { return }
    unsafe UnsafeMutableRawPointer.allocate(byteCount: Self.blockBytes, alignment: 16).deallocate()
  }
}
