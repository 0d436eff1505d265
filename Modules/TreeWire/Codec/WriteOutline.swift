package import TernCore

/// The paths that a write replaces, read from its text without building its data.
///
/// Rules can deny most writes of unknown clients by these alone, before the memory is spent that
/// the data take.
///
/// It promises nothing about the data: a write with an outline may still be invalid. A caller that
/// cannot deny the write decodes the frame as a whole.
package struct WriteOutline: Sendable, Equatable {
  /// The number of the request.
  package let request: UInt64
  /// The paths, counted from the root.
  ///
  /// A put has one, its own; a merge has one for each member. They may repeat and cover each other.
  package let paths: [TreePath]

  /// Writes to more paths are judged with their data.
  ///
  /// Each path costs a judgement, so many of them would cost more than the data they spare.
  package static let mostPaths = 256

  /// Reads a frame; `nil` unless it holds a write, or an onDisconnect operation, that is valid as
  /// far as it is read.
  ///
  /// Numbered writes have none: their outcome is stored with a hash of their data, and a write that
  /// is sent again is told its earlier outcome, whatever the rules say now.
  ///
  /// - Complexity: O(*n*) in the bytes of the frame; allocates for paths alone.
  package init?(_ frame: [UInt8]) {
    guard let envelope = try? Envelope(frame), envelope.type == "d",
      let request = envelope.request, let action = envelope.action, var body = envelope.body
    else { return nil }
    let isMerge = action == "m" || action == "om"
    guard isMerge || action == "p" || action == "o" else { return nil }
    var path: TreePath?
    var names: [TreePath]? = isMerge ? nil : [.root]
    do throws(JSONError) {
      try body.beginObject()
      while let name = try body.nextKey() {
        switch name {
        case "p":
          let text = try body.string()
          guard body.loneSurrogates == 0, let read = try? TreePath(writable: text) else {
            return nil
          }
          path = read
        case "d" where isMerge:
          guard let read = try Self.paths(of: &body) else { return nil }
          names = read
        // A number may follow anywhere in the body, so the whole body is walked before there is an
        // outline.
        case "w": return nil
        default: try body.skip()
        }
      }
    } catch {
      return nil
    }
    guard let path, let names else { return nil }
    self.request = request
    paths = names.map { path.appending($0) }
  }

  /// Reads the paths of an update over REST, relative to its own; `nil` when the text is not a
  /// valid object of at most ``mostPaths`` paths.
  ///
  /// - Complexity: O(*n*) in the bytes of the text; allocates for paths alone.
  package static func paths(ofUpdate text: [UInt8]) -> [TreePath]? {
    var reader = JSONReader(text)
    do throws(JSONError) {
      let paths = try paths(of: &reader)
      try reader.finish()
      return paths
    } catch {
      return nil
    }
  }

  /// - Returns: `nil` for more than ``mostPaths`` paths, and for a key that is no path.
  /// - Throws: `JSONError` for a text that is no object.
  private static func paths(of reader: inout JSONReader) throws(JSONError) -> [TreePath]? {
    var paths: [TreePath] = []
    try reader.beginObject()
    while let name = try reader.nextKey() {
      guard paths.count < mostPaths, reader.loneSurrogates == 0,
        let path = try? TreePath(writable: name)
      else { return nil }
      paths.append(path)
      try reader.skip()
    }
    return paths
  }
}
