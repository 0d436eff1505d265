/// The events of a run: the last lines in words, and all of them as one hash.
package struct Trace: Sendable {
  /// The lines kept to diagnose a failure.
  package private(set) var lines: [String] = []
  /// Two runs of one seed have the same.
  package private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325
  var limit = Self.usualLimit

  static let usualLimit = 2_000

  mutating func note(_ line: String) {
    add(line.utf8)
    lines.append(line)
    if limit < .max, lines.count > limit * 2 { lines.removeFirst(limit) }
  }

  mutating func add(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
  }
}
