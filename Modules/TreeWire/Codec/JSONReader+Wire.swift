import TernCore
import TernQuery

extension JSONReader {
  /// Calls `member` for each member of the next object; it must read or skip the value.
  ///
  /// - Parameters:
  ///   - wrap: Makes the caller's error of a fault in the text.
  ///   - member: Gets the name and the reader in front of the value. A member may come twice;
  ///     callers take the later one.
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
  ///
  /// It allocates for every part of the value, so it serves only small members.
  mutating func wireValue() throws(WireError) -> JSONValue {
    do throws(JSONError) { return try value() } catch { throw .json(error) }
  }

  /// Reads a string.
  ///
  /// - Throws: ``WireError/json(_:)`` for another kind of value, as for each of these readings.
  mutating func wireText() throws(WireError) -> String {
    do throws(JSONError) { return try string() } catch { throw .json(error) }
  }

  /// Reads a number that is 0 or above.
  ///
  /// - Throws: ``WireError/json(_:)`` for a negative number, a fraction, and a number that
  ///   exceeds 63 bits.
  mutating func wireNumber() throws(WireError) -> UInt64 {
    let start = offset
    let number: TreeScalar
    do throws(JSONError) { number = try self.number() } catch { throw .json(error) }
    guard case .integer(let value) = number, value >= 0 else {
      throw .json(JSONError(.invalidNumber, at: start))
    }
    return UInt64(value)
  }

  /// Moves behind a value of any kind.
  mutating func wireSkip() throws(WireError) {
    do throws(JSONError) { try skip() } catch { throw .json(error) }
  }

  /// Reads an object of paths and nodes.
  ///
  /// - Parameter reading: The strictness about values: clients are held to the rules, and servers
  ///   are trusted with what they have stored.
  /// - Throws: ``TreeError`` for an invalid path or value, and for paths of which one is above
  ///   another.
  mutating func merge(_ reading: TreeNode.Reading) throws(TreeError) -> TreeMerge {
    var entries: [TreeMerge.Entry] = []
    var before = loneSurrogates
    try members(orThrow: TreeError.json) { name, reader throws(TreeError) in
      // Values may hold lone surrogates, which the reader replaces. A key with one would become
      // another key.
      defer { before = reader.loneSurrogates }
      if reader.loneSurrogates > before { throw .invalidKey(name) }
      let path = try TreePath(writable: name)
      let node = try TreeNode(reading: &reader, reading)
      entries.append(TreeMerge.Entry(path: path, node: node))
    }
    return try TreeMerge(entries)
  }
}
