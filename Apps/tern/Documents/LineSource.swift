/// The lines of a file, one at a time, with a bounded part of it in memory.
struct LineSource {
  /// The most bytes of a line: more than the largest document needs.
  static let lineBytes = 16 << 20

  /// Answers the next part, empty at the end.
  private let refill: () throws -> [UInt8]
  private var part: ArraySlice<UInt8> = []
  /// The number of the last line that was taken, from 1.
  private(set) var number = 0
  /// The number of bytes taken.
  private(set) var offset = 0

  init(refill: @escaping () throws -> [UInt8]) {
    self.refill = refill
  }

  /// The next line without its end; `nil` behind the last one.
  ///
  /// - Throws: ``Failure`` for a line of more than ``lineBytes``.
  mutating func next() throws -> [UInt8]? {
    var line: [UInt8] = []
    var isPart = false
    while true {
      if part.isEmpty { part = try ArraySlice(refill()) }
      guard let end = part.firstIndex(of: UInt8(ascii: "\n")) else {
        if part.isEmpty { break }
        line += part
        part = []
        isPart = true
        guard line.count <= Self.lineBytes else {
          throw Failure(.usage, "line \(number + 1): more than \(Self.lineBytes) bytes")
        }
        continue
      }
      line += part[..<end]
      part = part[(end + 1)...]
      return take(line, end: 1)
    }
    return isPart ? take(line, end: 0) : nil
  }

  private mutating func take(_ line: [UInt8], end: Int) -> [UInt8] {
    number += 1
    offset += line.count + end
    let line = number == 1 ? line.withoutMark : line
    return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
  }
}
