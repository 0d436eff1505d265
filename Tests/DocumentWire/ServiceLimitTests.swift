import SwiftProtobuf
import TernCore
import TernQuery
import Testing

@testable import TernDocumentJSON
@testable import TernDocumentWire

@Suite("Limits of requests, at their borders")
struct ServiceLimitTests {
  private typealias Proto = Google_Firestore_V1_StructuredQuery
  private typealias Value = Google_Firestore_V1_Value

  private let root = "projects/p/databases/(default)/documents"

  private func isAllowed(_ edit: (inout Proto) -> Void) throws -> Bool {
    var request = Google_Firestore_V1_RunQueryRequest()
    request.parent = root
    request.structuredQuery.from = [.with { $0.collectionID = "c" }]
    edit(&request.structuredQuery)
    let bytes: [UInt8] = try request.serializedBytes()
    do throws(DocumentWireError) {
      _ = try DocumentRequest.decode(.runQuery, bytes)
      return true
    } catch {
      #expect(error.status.code == .invalidArgument, "\(error)")
      return false
    }
  }

  private func filter(_ path: String, _ op: Proto.FieldFilter.Operator, _ value: Value)
    -> Proto.Filter
  {
    .with {
      $0.fieldFilter.field.fieldPath = path
      $0.fieldFilter.op = op
      $0.fieldFilter.value = value
    }
  }

  private func list(_ count: Int) -> Value {
    .with {
      $0.arrayValue.values = (0..<count).map { index in .with { $0.integerValue = Int64(index) } }
    }
  }

  @Test(
    "names have no slash at an end",
    arguments: [
      ("c/d", true), ("/c/d", false), ("c/d/", false), ("/c/d/", false), ("c//d", false),
    ])
  func slashes(path: String, isValid: Bool) throws {
    func allows(_ method: DocumentMethod, _ message: some SwiftProtobuf.Message) throws -> Bool {
      let bytes: [UInt8] = try message.serializedBytes()
      do throws(DocumentWireError) { _ = try DocumentRequest.decode(method, bytes) } catch {
        #expect(error.status.code == .invalidArgument, "\(error)")
        return false
      }
      return true
    }
    let get = Google_Firestore_V1_GetDocumentRequest.with { $0.name = root + "/" + path }
    #expect(try allows(.getDocument, get) == isValid)
    let list = Google_Firestore_V1_ListDocumentsRequest.with {
      $0.parent = root + "/" + path
      $0.collectionID = "e"
    }
    #expect(try allows(.listDocuments, list) == isValid)
    let reference = Value.with { $0.referenceValue = root + "/" + path }
    #expect(try isAllowed { $0.where = filter("a", .equal, reference) } == isValid)
    let named = Google_Firestore_V1_ListDocumentsRequest.with {
      $0.parent = root
      $0.collectionID = "c/"
    }
    #expect(try !allows(.listDocuments, named))
  }

  @Test("values of lists", arguments: [(9, 9), (10, 10), (11, 11), (29, 29), (30, 30), (31, 31)])
  func lists(count: Int, expected: Int) throws {
    for op in [Proto.FieldFilter.Operator.in, .arrayContainsAny] {
      #expect(try isAllowed { $0.where = filter("a", op, list(count)) } == (count <= 30))
    }
    #expect(try isAllowed { $0.where = filter("a", .notIn, list(count)) } == (count <= 10))
  }

  @Test("bytes of an operand that documents are looked up by", arguments: [1_499, 1_500, 1_501])
  func operands(count: Int) throws {
    // A text counts one byte more than it has.
    let text = Value.with { $0.stringValue = String(repeating: "x", count: count - 1) }
    #expect(try isAllowed { $0.where = filter("a", .equal, text) } == (count <= 1_500))
    #expect(try isAllowed { $0.where = filter("a", .arrayContains, text) } == (count <= 1_500))
    #expect(try isAllowed { $0.where = filter("a", .lessThan, text) })
    let inList = Value.with { $0.arrayValue.values = [text] }
    #expect(try isAllowed { $0.where = filter("a", .in, inList) } == (count <= 1_500))
  }

  @Test("limits and offsets", arguments: [Int32.min, -1, 0, 1, .max])
  func counts(count: Int32) throws {
    #expect(try isAllowed { $0.limit = Google_Protobuf_Int32Value(count) } == (count >= 0))
    #expect(try isAllowed { $0.offset = count } == (count >= 0))
  }

  @Test("bytes of a collection's id", arguments: [1_499, 1_500, 1_501])
  func ids(count: Int) throws {
    let id = String(repeating: "c", count: count)
    #expect(try isAllowed { $0.from[0].collectionID = id } == (count <= 1_500))
  }

  @Test(
    "ids of collections",
    arguments: [
      ("c", true), ("a/b", false), ("__x__", false), ("__id7__", false), ("____", true),
      ("__esc_x__", true),
      ("__", true),
    ])
  func names(id: String, isValid: Bool) throws {
    #expect(try isAllowed { $0.from[0].collectionID = id } == isValid)
  }

  @Test("fields with ranges", arguments: [9, 10, 11])
  func ranges(count: Int) throws {
    let filters = (0..<count).map { filter("f\($0)", .greaterThan, .with { $0.integerValue = 1 }) }
    #expect(
      try isAllowed {
        $0.where.compositeFilter.op = .and
        $0.where.compositeFilter.filters = filters
      } == (count <= 10))
  }

  @Test("filters and orders together", arguments: [99, 100, 101])
  func clauses(count: Int) throws {
    let filters = (0..<50).map { filter("f\($0)", .equal, .with { $0.integerValue = 1 }) }
    let orders = (0..<count - 50).map { index in
      Proto.Order.with { $0.field.fieldPath = "o\(index)" }
    }
    #expect(
      try isAllowed {
        $0.where.compositeFilter.op = .and
        $0.where.compositeFilter.filters = filters
        $0.orderBy = orders
      } == (count <= 100))
  }

  @Test(
    "fields that a query may name",
    arguments: [
      ("a", true, true), ("a.b", true, true), ("`a b`", true, true), ("_a1", true, true),
      ("__name__", true, true), ("a.__name__", false, false), ("__x__", false, false),
      ("a.`__type__`", true, false), ("__type__", false, false), ("__type__.a", false, false),
      ("1a", false, false), ("a-b", false, false), ("a b", false, false), ("é", false, false),
      ("`é`", true, true), ("a..b", false, false), ("", false, false), ("`a", false, false),
      ("a`b`", true, true), (#"`a\`b`"#, true, true), (#"`a\x`"#, false, false),
      ("``", false, false),
    ])
  func paths(path: String, isOrder: Bool, isProjection: Bool) throws {
    #expect(try isAllowed { $0.orderBy = [.with { $0.field.fieldPath = path }] } == isOrder)
    #expect(try isAllowed { $0.select.fields = [.with { $0.fieldPath = path }] } == isProjection)
    guard path != "__name__" else { return }
    let one = Value.with { $0.integerValue = 1 }
    #expect(try isAllowed { $0.where = filter(path, .equal, one) } == isOrder)
  }

  private func vector(_ count: Int) -> Value {
    .with { value in
      value.mapValue.fields = [
        "__type__": .with { $0.stringValue = "__vector__" },
        "value": .with {
          $0.arrayValue.values = (0..<count).map { _ in .with { $0.doubleValue = 1 } }
        },
      ]
    }
  }

  @Test("dimensions of a vector, and its neighbors", arguments: [0, 1, 1_000, 1_001, 2_048, 2_049])
  func neighbors(count: Int) throws {
    func nearest(_ edit: (inout Proto.FindNearest) -> Void) throws -> Bool {
      try isAllowed {
        $0.findNearest.vectorField.fieldPath = "v"
        $0.findNearest.queryVector = vector(2)
        $0.findNearest.distanceMeasure = .cosine
        $0.findNearest.limit = Google_Protobuf_Int32Value(10)
        edit(&$0.findNearest)
      }
    }
    #expect(try nearest { $0.queryVector = vector(count) } == (1...2_048 ~= count))
    #expect(
      try nearest { $0.limit = Google_Protobuf_Int32Value(Int32(count)) } == (1...1_000 ~= count))
    #expect(try nearest { $0.distanceResultField = "d" })
    #expect(try !nearest { $0.distanceResultField = "__d__" })
    #expect(try !nearest { $0.distanceMeasure = .unspecified })
    #expect(try !nearest { $0.clearLimit() })
    #expect(try !nearest { $0.vectorField.fieldPath = "__name__" })
  }

  @Test("pages and partitions", arguments: [-1, 0, 1])
  func pages(count: Int32) throws {
    let list = Google_Firestore_V1_ListDocumentsRequest.with {
      $0.parent = root
      $0.collectionID = "c"
      $0.pageSize = count
    }
    let bytes: [UInt8] = try list.serializedBytes()
    #expect(((try? DocumentRequest.decode(.listDocuments, bytes)) != nil) == (count >= 0))
    let partition = Google_Firestore_V1_PartitionQueryRequest.with {
      $0.parent = root
      $0.structuredQuery.from = [.with { $0.collectionID = "c" }]
      $0.partitionCount = Int64(count)
    }
    let asked: [UInt8] = try partition.serializedBytes()
    #expect(((try? DocumentRequest.decode(.partitionQuery, asked)) != nil) == (count > 0))
  }
}
