/// A place in a rules file, as an editor shows it.
public struct RulesPosition: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The line, counted from 1.
  public let line: Int
  /// The column in Unicode scalars, counted from 1.
  public let column: Int

  /// Names a place; both numbers count from 1.
  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  /// `line:column`.
  public var description: String { "\(line):\(column)" }

  public static func < (left: RulesPosition, right: RulesPosition) -> Bool {
    (left.line, left.column) < (right.line, right.column)
  }
}

/// The text of a rules file and where its lines begin.
struct RulesSource: Sendable {
  let bytes: [UInt8]
  /// The offset at which each line begins, ascending; the first is 0. Lines end with LF only.
  private let lineStarts: [Int]

  init(bytes: [UInt8]) {
    self.bytes = bytes
    lineStarts = [0] + bytes.indices.lazy.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
  }

  /// The line and column of a byte; offsets past the end name the end.
  ///
  /// Costs a binary search over the lines and a scan of one line, so positions are computed when
  /// they are shown and not while a file is compiled.
  func position(at offset: Int) -> RulesPosition {
    let offset = min(max(offset, 0), bytes.count)
    let line = firstLine(after: offset) - 1
    let isContinuation = { (byte: UInt8) in byte & 0xC0 == 0x80 }
    let scalars = bytes[lineStarts[line]..<offset].lazy.filter { !isContinuation($0) }.count
    return RulesPosition(line: line + 1, column: scalars + 1)
  }

  /// The index of the first line that begins after `offset`.
  private func firstLine(after offset: Int) -> Int {
    var (low, high) = (0, lineStarts.count)
    while low < high {
      let middle = (low + high) / 2
      if lineStarts[middle] <= offset { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
