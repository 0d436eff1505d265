import TernDocumentJSON
import TernDocumentWire

extension FuzzTarget {
  /// Bodies of requests about documents over REST: the first byte selects the method.
  static let documentJSON = FuzzTarget(
    "document-json", texts: documentJSONSamples,
    words: [
      "null", "\"NaN\"", "{}", "[]", "-0", "1e400", "9223372036854775808", "\"integerValue\":",
      "\"nullValue\":null", "\"mapValue\":{\"fields\":{\"a\":", "\"arrayValue\":{\"values\":[",
      "\"bytesValue\":\"-_8\"", "\"timestampValue\":\"2020-01-01T00:00:00.5+02:00\"", "\\ud800",
      "\\u0000", "\"fieldPaths\":[", "\"update_mask\":", "\"structuredQuery\":", "\"limit\":",
    ]
  ) { input in
    guard let first = input.first else { return nil }
    let methods = DocumentMethod.allCases
    let method = methods[Int(first) % methods.count]
    let empty = Array("{}".utf8)
    do throws(MessageJSONError) {
      let message = try DocumentJSON.request(method, members: empty, body: Array(input.dropFirst()))
      let json = try DocumentJSON.json(.request(method), binary: message)
      let again = try DocumentJSON.binary(.request(method), json: json)
      let second = try DocumentJSON.json(.request(method), binary: again)
      return second == json ? nil : "a \(method.rawValue) is not read as it was written"
    } catch {
      return error.message.isEmpty ? "a text was rejected without a reason" : nil
    }
  }

  private static var documentJSONSamples: [String] {
    let name = "projects/p/databases/(default)/documents/c/d"
    let fields = #"{"a":{"integerValue":"1"},"b":{"mapValue":{"fields":{"c":{"nullValue":null}}}}}"#
    let filter = #"{"field":{"fieldPath":"a"},"op":"EQUAL","value":{"doubleValue":"NaN"}}"#
    let bodies: [(DocumentMethod, String)] = [
      (
        .commit,
        #"{"writes":[{"update":{"name":"\#(name)","fields":\#(fields)},"updateMask":"#
          + #"{"fieldPaths":["a"]},"currentDocument":{"exists":true}}],"transaction":"AAA="}"#
      ),
      (
        .runQuery,
        #"{"structuredQuery":{"from":[{"collectionId":"c"}],"where":{"fieldFilter":\#(filter)},"#
          + #""limit":5,"startAt":{"values":[{"bytesValue":"AA=="}],"before":true}}}"#
      ),
      (.createDocument, #"{"fields":\#(fields)}"#),
      (.batchGetDocuments, #"{"documents":["\#(name)"],"readTime":"2020-01-01T00:00:00.5Z"}"#),
    ]
    return bodies.map { method, body in
      let index = DocumentMethod.allCases.firstIndex(of: method) ?? 0
      return String(UnicodeScalar(UInt8(index))) + body
    }
  }
}
