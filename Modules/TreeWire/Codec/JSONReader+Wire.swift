import TernCore
import TernQuery

extension JSONReader {
  /// Calls `member` for each member of the next object; it must read or skip the value.
  mutating func members<E: Error>(
    orThrow wrap: (JSONError) -> E, _ member: (String, inout JSONReader) throws(E) -> Void
  ) throws(E) {
    do throws(JSONError) { try beginObject() } catch { throw wrap(error) }
    while true {
      let name: String?
      do throws(JSONError) { name = try nextKey() } catch { throw wrap(error) }
      guard let name else { return }
      try member(name, &self)
    }
  }

  /// Reads a value of any kind.
  mutating func wireValue() throws(WireError) -> JSONValue {
    do throws(JSONError) { return try value() } catch { throw .json(error) }
  }

  /// Reads a string.
  mutating func wireText() throws(WireError) -> String {
    do throws(JSONError) { return try string() } catch { throw .json(error) }
  }

  /// Reads a number that is 0 or above.
  mutating func wireNumber() throws(WireError) -> UInt64 {
    let start = offset
    let number: TreeScalar
    do throws(JSONError) { number = try self.number() } catch { throw .json(error) }
    guard case .integer(let value) = number, value >= 0 else {
      throw .json(JSONError(.invalidNumber, at: start))
    }
    return UInt64(value)
  }

  mutating func wireSkip() throws(WireError) {
    do throws(JSONError) { try skip() } catch { throw .json(error) }
  }

  /// Reads an object of paths and nodes.
  mutating func merge(_ reading: TreeNode.Reading) throws(TreeError) -> TreeMerge {
    var entries: [TreeMerge.Entry] = []
    var before = loneSurrogates
    try members(orThrow: TreeError.json) { name, reader throws(TreeError) in
      defer { before = reader.loneSurrogates }
      if reader.loneSurrogates > before { throw .invalidKey(name) }
      let path = try TreePath(writable: name)
      let node = try TreeNode(reading: &reader, reading)
      entries.append(TreeMerge.Entry(path: path, node: node))
    }
    return try TreeMerge(entries)
  }
}
