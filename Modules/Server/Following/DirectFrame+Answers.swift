import TernCore
import TernSecurity
import TernTreeWire

extension DirectFrame {
  /// A frame with the answer to a request of that number.
  ///
  /// The member `is` names the answer; what is long goes into the tail. `coverage` never travels,
  /// because no node asks another one for it.
  ///
  /// - Throws: ``DirectFrameError/notCarried`` for answers that no operation which nodes pass on
  ///   comes to.
  package init(_ answer: DirectAnswer, _ number: UInt64) throws(DirectFrameError) {
    var members: [JSONValue.Member] = []
    var tail: [UInt8] = []
    let name: String
    switch answer {
    case .written(let write): (name, tail) = ("written", write.tail(number))
    case .pushed(let key, let node):
      (name, tail) = ("pushed", node.jsonBytes(.export))
      members = [.init("key", .string(key.text))]
    case .rules(let text): (name, tail) = ("rules", text)
    case .setting(let value): (name, tail) = ("setting", value.bytes)
    case .report(let value): (name, tail) = ("report", value.bytes)
    case .revocations(let list): (name, tail) = ("revocations", list.json.bytes)
    case .done: name = "done"
    case .stale(let node): (name, tail) = ("stale", node.jsonBytes(.export))
    case .refused(let refusal):
      name = "refused"
      members = refusal.head
    case .node(let node): (name, tail) = ("node", node.jsonBytes(.export))
    case .names(let keys):
      (name, tail) = ("names", JSONValue.array(keys.map { .string($0.text) }).bytes)
    case .databases(let names):
      (name, tail) = ("databases", JSONValue.array(names.map { .string($0) }).bytes)
    case .large: name = "large"
    case .coverage: throw .notCarried
    }
    self.init(.answer, number, [.init("is", .string(name))] + members, tail: tail)
  }

  /// The answer in the frame.
  ///
  /// - Throws: ``DirectFrameError/malformed(_:)``, ``DirectFrameError/invalid(_:_:)``.
  /// - Complexity: O(*n*) in the bytes of the tail, whose data are parsed here.
  package func answer() throws(DirectFrameError) -> DirectAnswer {
    switch try text("is") {
    case "written": return .written(try tailWrite())
    case "pushed":
      let name = try text("key")
      do throws(TreeError) { return .pushed(try TreeKey(name), try tailNode()) } catch {
        throw .invalid(number, error.text)
      }
    case "rules": return .rules(tail)
    case "setting": return .setting(try tailValue())
    case "report": return .report(try tailValue())
    case "revocations": return .revocations(try revocationList())
    case "done": return .done
    case "large": return .large
    case "stale":
      do throws(TreeError) { return .stale(try tailNode()) } catch {
        throw .invalid(number, error.text)
      }
    case "node":
      do throws(TreeError) { return .node(try tailNode()) } catch {
        throw .invalid(number, error.text)
      }
    case "names":
      return .names(
        try tailTexts().map { text throws(DirectFrameError) in
          do throws(TreeError) { return try TreeKey(text) } catch {
            throw .invalid(number, error.text)
          }
        })
    case "databases": return .databases(try tailTexts())
    case "refused": return .refused(try DirectRefusal(head: self))
    case let name: throw .malformed("an answer \(name.debugDescription)")
    }
  }

  private func tailTexts() throws(DirectFrameError) -> [String] {
    guard case .array(let items) = try tailValue() else { throw .malformed("no list") }
    return try items.map { item throws(DirectFrameError) in
      guard let text = item.text else { throw .malformed("a list of other things than texts") }
      return text
    }
  }

  /// Reads the tail as a node.
  ///
  /// Reads as tolerantly as the store: the data were valid at the node that sent them, possibly
  /// under an older version's rules.
  private func tailNode() throws(TreeError) -> TreeNode {
    var reader = JSONReader(tail)
    let node = try TreeNode(reading: &reader, .tolerant)
    do throws(JSONError) { try reader.finish() } catch { throw .json(error) }
    return node
  }

  private func revocationList() throws(DirectFrameError) -> Revocations {
    guard case .object(let members) = try tailValue() else { throw .malformed("no revocations") }
    var list = Revocations()
    for member in members {
      guard let moment = member.value.integer else {
        throw .malformed("a revocation without a moment")
      }
      list.revoke(member.name, before: moment)
    }
    return list
  }
}

extension DirectRefusal {
  /// The refusal as members of a head: its name under `why`, and what it says.
  ///
  /// Members by reason: `text` for most; `id` and `reason` for a denial; `limit` in bytes;
  /// `address`, `rate` per second and `wait` in milliseconds for an excess of requests.
  fileprivate var head: [JSONValue.Member] {
    switch self {
    case .unauthenticated(let text): Self.head("unauthenticated", text)
    case .permissionDenied(let refusal):
      Self.head("denied", nil)
        + [("id", refusal.id), ("reason", refusal.reason)].compactMap { name, text in
          text.map { .init(name, .string(Self.cut($0))) }
        }
    case .invalid(let text): Self.head("invalid", text)
    case .tooBig(let limit):
      Self.head("tooBig", nil) + [.init("limit", .integer(Int64(clamping: limit)))]
    case .damaged: Self.head("damaged", nil)
    case .tooMany(let excess):
      Self.head("tooMany", nil) + [
        .init("address", .bool(excess.isOfAddress)),
        .init("rate", .integer(Int64(clamping: excess.perSecond))),
        .init("wait", .integer(excess.waitMilliseconds)),
      ]
    case .sentAway(.moved(let host)): Self.head("moved", host)
    case .sentAway(.closed(let reason)): Self.head("closed", reason)
    case .unavailable(let text): Self.head("unavailable", text)
    }
  }

  private static func head(_ name: String, _ text: String?) -> [JSONValue.Member] {
    var members: [JSONValue.Member] = [.init("why", .string(name))]
    if let text { members.append(.init("text", .string(cut(text)))) }
    return members
  }

  /// Cuts a text that would not fit a head: as JSON, a scalar takes six bytes at most.
  private static func cut(_ text: String) -> String {
    let scalars = text.unicodeScalars
    let end = scalars.index(
      scalars.startIndex, offsetBy: DirectFrame.textScalars, limitedBy: scalars.endIndex)
    return end.map { String(scalars[..<$0]) } ?? text
  }

  /// Reads a refusal from the head of an answer.
  ///
  /// - Throws: ``DirectFrameError/malformed(_:)`` for reasons of a later version.
  fileprivate init(head frame: DirectFrame) throws(DirectFrameError) {
    switch try frame.text("why") {
    case "unauthenticated": self = .unauthenticated(try frame.text("text"))
    case "denied":
      let id = frame.head["id"]?.text
      self = .permissionDenied(AccessRefusal(id: id, reason: frame.head["reason"]?.text))
    case "invalid": self = .invalid(try frame.text("text"))
    case "tooBig": self = .tooBig(limitBytes: Int(clamping: try frame.integer("limit")))
    case "damaged": self = .damaged
    case "tooMany":
      self = .tooMany(
        RateExcess(
          isOfAddress: frame.head["address"] == .bool(true),
          perSecond: Int(clamping: try frame.integer("rate")),
          waitMilliseconds: try frame.integer("wait")))
    case "moved": self = .sentAway(.moved(host: try frame.text("text")))
    case "closed": self = .sentAway(.closed(reason: try frame.text("text")))
    case "unavailable": self = .unavailable(try frame.text("text"))
    case let name: throw .malformed("a refusal \(name.debugDescription)")
    }
  }
}
