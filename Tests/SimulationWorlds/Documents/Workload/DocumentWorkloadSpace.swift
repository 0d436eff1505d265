import TernCore
import TernQuery
import TernSync

/// The places and values that clients of documents play with.
enum DocumentWorkloadSpace {
  static let database: DocumentDatabase = {
    do throws(DocumentError) { return try DocumentDatabase(projectID: "world") } catch {
      preconditionFailure("\(error)")
    }
  }()
  /// The counter of the transactions.
  static let tally = key("counters/tally")
  /// Two documents that are only written together, and alike.
  static let pair = [key("pair/a"), key("pair/b")]

  static func key(_ text: String) -> DocumentKey { DocumentKey(unchecked: text) }

  static func path(_ names: String...) -> DocumentFieldPath {
    DocumentFieldPath(unchecked: names)
  }

  /// One of few documents, so that clients meet.
  static func item(_ chance: inout RandomSource) -> DocumentKey {
    if chance.happens(0.2) {
      let names = ["items/a/parts/p", "items/a/parts/q", "items/b/parts/p", "other/y/parts/p"]
      return key(names[chance.below(names.count)])
    }
    let names = ["a", "b", "c", "d", "e", "f", "10", "é"]
    return key("items/" + names[chance.below(names.count)])
  }

  /// Returns the private document of one of the users.
  static func diary(_ chance: inout RandomSource) -> DocumentKey {
    key(WorkloadUsers.known[chance.below(WorkloadUsers.known.count)].id + "/diary")
  }

  static func scalar(_ chance: inout RandomSource) -> DocumentValue {
    switch chance.below(7) {
    case 0: .boolean(chance.happens(0.5))
    case 1: .double(Double(chance.below(40)) / 4)
    case 2: .string(["x", "yy", "10", ""][chance.below(4)])
    case 3: .null
    default: .integer(Int64(chance.below(12)))
    }
  }

  static func fields(_ chance: inout RandomSource) -> DocumentMap {
    var map = DocumentMap()
    if chance.happens(0.9) { map["n"] = .integer(Int64(chance.below(12))) }
    if chance.happens(0.5) { map["s"] = scalar(&chance) }
    if chance.happens(0.4) {
      map["list"] = .array((0..<chance.below(4)).map { _ in scalar(&chance) })
    }
    if chance.happens(0.3) { map["more"] = .map(["deep": scalar(&chance), "flat": 1]) }
    return map
  }

  /// A field that is written by itself.
  static func field(_ chance: inout RandomSource) -> DocumentFieldPath {
    switch chance.below(5) {
    case 0, 1: path("n")
    case 2: path("s")
    case 3: path("more", "deep")
    default: path("more", "flat")
    }
  }
}

// MARK: - Queries

extension DocumentWorkloadSpace {
  private static let items = DocumentQuery.Source.collection(CollectionPath(unchecked: "items"))

  /// Something to listen to or to read.
  static func query(_ chance: inout RandomSource) -> DocumentQuery {
    let number = DocumentValue.integer(Int64(chance.below(10)))
    let isDescending = chance.happens(0.5)
    let byNumber = [DocumentOrder(path("n"), isDescending: isDescending)]
    let limit = (
      side: chance.happens(0.5) ? DocumentLimit.Side.first : .last, count: 1 + chance.below(4)
    )
    switch chance.below(20) {
    case 0, 1, 2: return .assembled(items)
    case 3, 4: return .assembled(items, filter: .where(path("n"), .greaterThanOrEqual, number))
    case 5: return .assembled(items, filter: .where(path("n"), .lessThan, number))
    case 6: return .assembled(items, filter: .where(path("s"), .equal, scalar(&chance)))
    case 7, 8: return .assembled(items, orders: byNumber, limit: limit)
    case 9:
      return .assembled(
        items, filter: .where(path("s"), .notEqual, .null), orders: [DocumentOrder(path("s"))],
        limit: limit)
    case 10:
      return .assembled(
        items, filter: .where(path("list"), .arrayContains, scalar(&chance)))
    case 11:
      return .assembled(
        items, filter: .where(path("n"), .in, .array([number, 3, 4])))
    case 12:
      return .assembled(
        items, orders: byNumber, start: DocumentCursor([number], isInclusive: chance.happens(0.5)))
    case 13, 14: return .assembled(.group("parts"))
    case 15: return .assembled(.group("parts"), orders: byNumber, limit: limit)
    case 16, 17: return .document(item(&chance))
    case 18: return .assembled(.collection(CollectionPath(unchecked: "pair")))
    default: return other(&chance)
    }
  }

  private static func other(_ chance: inout RandomSource) -> DocumentQuery {
    switch chance.below(6) {
    case 0: .assembled(.collection(CollectionPath(unchecked: "secret")))
    case 1: .assembled(.collection(CollectionPath(unchecked: "counters")))
    case 2: .document(tally)
    case 3: .document(diary(&chance))
    case 4: .assembled(.collection(diary(&chance).collection))
    default:
      .assembled(
        items, filter: .or([.where(path("n"), .equal, 1), .where(path("s"), .equal, "x")]))
    }
  }
}
