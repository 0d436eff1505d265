package import TernCore

/// A 64-bit fingerprint of a write as it was sent, the same in every process.
///
/// It tells a retry from another write under the same name, but it does not resist a deliberate
/// collision. FNV-1a over a tagged walk of the write.
package struct PayloadHash {
  /// The fingerprint so far.
  package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  /// The fingerprint of a write and of the hash it expects.
  package init(_ write: TreeWrite, expectedHash: String?) {
    switch write {
    case .set: mark(1)
    case .merge: mark(2)
    }
    add(expectedHash ?? "-")
    for entry in write.assignments {
      for key in entry.path.keys { add(key.text) }
      mark(0xFE)
      add(entry.node)
    }
  }

  private mutating func add(_ node: TreeNode) {
    if let priority = node.priority {
      mark(3)
      add(priority)
    }
    if let scalar = node.scalar {
      add(scalar)
    } else {
      mark(4)
      for (key, child) in node.children {
        add(key.text)
        add(child)
      }
      mark(5)
    }
  }

  private mutating func add(_ scalar: TreeScalar) {
    switch scalar {
    case .bool(let value): mark(value ? 6 : 7)
    case .integer(let value): mark(8, UInt64(bitPattern: value))
    case .double(let value): mark(9, value.bitPattern)
    case .string(let text):
      mark(10)
      add(text)
    case .serverValue(.timestamp): mark(11)
    case .serverValue(.increment(let delta)):
      mark(12)
      add(delta)
    }
  }

  private mutating func add(_ text: String) {
    for byte in text.utf8 { mark(byte) }
    mark(0xFF)
  }

  private mutating func mark(_ tag: UInt8, _ bits: UInt64) {
    mark(tag)
    for shift in stride(from: 56 as UInt64, through: 0, by: -8) {
      mark(UInt8(truncatingIfNeeded: bits >> shift))
    }
  }

  private mutating func mark(_ byte: UInt8) {
    value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
  }
}
