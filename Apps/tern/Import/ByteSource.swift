/// The bytes of a file, one at a time, with a bounded part of them in memory.
struct ByteSource {
  /// Answers the next part, empty at the end.
  private let refill: () throws -> [UInt8]
  private var part: [UInt8] = []
  private var index = 0
  private var isAtEnd = false

  /// How many bytes were taken.
  private(set) var offset = 0

  init(refill: @escaping () throws -> [UInt8]) {
    self.refill = refill
  }

  /// The next byte, which stays; `nil` at the end.
  mutating func peek() throws -> UInt8? {
    if index < part.count { return part[index] }
    guard !isAtEnd else { return nil }
    part = try refill()
    index = 0
    isAtEnd = part.isEmpty
    return part.first
  }

  /// Takes the byte that ``peek()`` answered.
  mutating func take() {
    index += 1
    offset += 1
  }
}
