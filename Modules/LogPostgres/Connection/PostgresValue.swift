/// A parameter of a statement, sent in binary.
///
/// Four types suffice for all statements, and all databases of the portable profile agree on their
/// numbers and formats.
enum PostgresValue: Hashable, Sendable {
  case number(Int64)
  case bytes([UInt8])
  case byteLists([[UInt8]])
  case text(String)

  /// The number of the type in every database's catalog: int8, bytea, bytea[], text.
  var type: UInt32 {
    switch self {
    case .number: 20
    case .bytes: 17
    case .byteLists: 1_001
    case .text: 25
    }
  }

  /// Appends the value in the binary format of its type.
  ///
  /// Numbers are 8 bytes, the most significant one first. Bytes and text are sent as they are. A
  /// list is an array of one dimension: its header of five 32-bit words, then each element behind
  /// its length.
  func write(to buffer: inout [UInt8]) {
    switch self {
    case .number(let number): Self.write(UInt64(bitPattern: number), to: &buffer)
    case .bytes(let bytes): buffer += bytes
    case .text(let text): buffer += text.utf8
    case .byteLists(let lists):
      // One dimension, no nulls, the type of the elements, the count, the first index.
      for word in [1, 0, 17, UInt32(lists.count), 1] { Self.write(word, to: &buffer) }
      for bytes in lists {
        Self.write(UInt32(bytes.count), to: &buffer)
        buffer += bytes
      }
    }
  }

  private static func write<Number: FixedWidthInteger>(_ number: Number, to buffer: inout [UInt8]) {
    for shift in stride(from: Number.bitWidth - 8, through: 0, by: -8) {
      buffer.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }
}

/// The rows that a statement returned, in binary.
///
/// Cells are copied out of libpq's result, row by row. A result of an unexpected shape is an error
/// of its own, never a crash.
struct PostgresRows: Sendable {
  /// The number of rows.
  let count: Int
  private let columns: Int
  private let cells: [[UInt8]?]

  init(count: Int, columns: Int, cells: [[UInt8]?]) {
    self.count = count
    self.columns = columns
    self.cells = cells
  }

  /// Returns a cell of type `bigint`.
  func number(_ row: Int, _ column: Int) throws(PostgresFailure) -> Int64 {
    let bytes = try bytes(row, column)
    guard bytes.count == 8 else { throw .unexpected("a number has \(bytes.count) bytes") }
    return Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
  }

  /// Returns a cell of type `bigint` that is not negative.
  ///
  /// - Throws: ``PostgresFailure/unexpected(_:)`` for negative numbers, which no column of the
  ///   schema holds.
  func count(_ row: Int, _ column: Int) throws(PostgresFailure) -> UInt64 {
    let number = try number(row, column)
    guard let count = UInt64(exactly: number) else { throw .unexpected("\(number) is negative") }
    return count
  }

  /// Returns true for a cell that is null.
  func isNull(_ row: Int, _ column: Int) throws(PostgresFailure) -> Bool {
    try cell(row, column) == nil
  }

  /// Returns a cell that is not null.
  func bytes(_ row: Int, _ column: Int) throws(PostgresFailure) -> [UInt8] {
    guard let bytes = try cell(row, column) else { throw .unexpected("a cell is null") }
    return bytes
  }

  /// Returns a cell of UTF-8; `nil` for null.
  func text(_ row: Int, _ column: Int) throws(PostgresFailure) -> String? {
    try cell(row, column).map { String(decoding: $0, as: UTF8.self) }
  }

  private func cell(_ row: Int, _ column: Int) throws(PostgresFailure) -> [UInt8]? {
    guard row < count, column < columns else { throw .unexpected("a row or column is missing") }
    return cells[row * columns + column]
  }
}
