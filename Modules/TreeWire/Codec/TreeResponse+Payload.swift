public import TernCore
import TernQuery

extension TreeResponse {
  /// A response that says something in words, or nothing.
  ///
  /// - Parameters:
  ///   - detail: The reason, in words; empty for none.
  ///   - version: The commit, for a write of one of our own clients.
  public init(_ status: TreeStatus, detail: String = "", version: UInt64? = nil) {
    var writer = JSONWriter()
    writer.string(detail)
    self.init(status, payload: writer.bytes, version: version)
  }

  /// The response to a get.
  ///
  /// - Complexity: O(*n*) in the size of the node.
  ///   ``TreeServerMessage/response(_:with:limitBytes:capacity:)`` spares the copy of the text.
  public static func data(_ node: TreeNode) -> TreeResponse {
    TreeResponse(.ok, payload: node.jsonBytes(.export))
  }

  /// The warning that the rules declare no index for a listen's query.
  ///
  /// The data are sent all the same.
  public static let noIndex = "no_index"

  /// The warning that data were too large to send to a client that allowed them to be left out.
  ///
  /// Only listens with ``TreeListen/leavesLargeData`` get it.
  public static let largeData = "large"

  /// The response to a listen; warnings such as `no_index` may come with it.
  public static func listening(warnings: [String] = []) -> TreeResponse {
    let members =
      warnings.isEmpty ? [] : [JSONValue.Member("w", .array(warnings.map { .string($0) }))]
    return TreeResponse(.ok, payload: JSONValue.object(members).bytes)
  }

  /// The response to a question about past writes.
  ///
  /// - Parameter outcomes: Those that are still kept, ascending. A missing number is a forgotten
  ///   outcome.
  public static func outcomes(_ outcomes: [Outcome]) -> TreeResponse {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("o")
    writer.beginArray()
    for outcome in outcomes {
      writer.beginObject()
      writer.member("n", outcome.sequence)
      writer.member("s", outcome.status.rawValue)
      writer.member("d", outcome.detail)
      if let version = outcome.version { writer.member("v", version) }
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    return TreeResponse(.ok, payload: writer.bytes)
  }

  /// The payload as any JSON.
  ///
  /// - Throws: ``WireError/json(_:)`` for a payload that is no JSON.
  public func value() throws(WireError) -> JSONValue {
    do throws(JSONError) { return try JSONValue(parsing: payload) } catch { throw .json(error) }
  }

  /// The payload when it is a string, else an empty one.
  public var detail: String {
    guard payload.first == UInt8(ascii: "\"") else { return "" }
    return (try? JSONValue(parsing: payload))?.text ?? ""
  }

  /// The payload as the data a get asked for.
  ///
  /// - Throws: ``WireError/malformed(_:)`` for a payload that is no tree.
  public func node() throws(WireError) -> TreeNode {
    var reader = JSONReader(payload)
    do throws(TreeError) {
      return try TreeNode(reading: &reader, .tolerant)
    } catch {
      throw .malformed("the data of a response: \(error)")
    }
  }

  /// The warnings that came with the response to a listen.
  public var warnings: [String] {
    guard case .array(let warnings) = (try? JSONValue(parsing: payload))?["w"] else { return [] }
    return warnings.compactMap(\.text)
  }

  /// Returns the outcomes of the writes in question.
  ///
  /// - Throws: ``WireError/malformed(_:)`` for a payload of another form.
  public func outcomes() throws(WireError) -> [Outcome] {
    guard case .array(let elements) = try value()["o"] else { throw .malformed("o") }
    var outcomes: [Outcome] = []
    for element in elements {
      guard let sequence = element["n"]?.integer, let status = element["s"]?.text else {
        throw .malformed("an outcome without number or status")
      }
      outcomes.append(
        Outcome(
          sequence: UInt64(clamping: sequence), status: TreeStatus(rawValue: status),
          detail: element["d"]?.text ?? "",
          version: element["v"]?.integer.map(UInt64.init(clamping:))))
    }
    return outcomes
  }
}
