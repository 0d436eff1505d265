#if TCP && canImport(Glibc)
  import Foundation
  import TernCore
  import TernFirebaseCompat
  import TernTreeWire

  @testable import TernGateway

  typealias Verdict = EndpointOperation.Verdict

  /// JSON text of a string.
  func quoted(_ text: String) -> String {
    String(decoding: JSONValue.string(text).bytes, as: UTF8.self)
  }

  /// Returns the data in export form, so that all endpoints spell it alike.
  private func read(_ json: some Collection<UInt8>) -> Verdict {
    guard let node = try? TreeNode(json: Array(json)) else {
      return .other("no node: " + String(decoding: json, as: UTF8.self))
    }
    return .done(node.json(.export))
  }

  /// The caller for requests of HTTP.
  struct RESTCaller {
    let peer: Peer
    let namespace: String

    func send(_ operation: EndpointOperation) {
      switch operation {
      case .read(let path): send("GET", path + ".json", "")
      case .set(let path, let json): send("PUT", path + ".json", json)
      case .delete(let path): send("DELETE", path + ".json", "")
      case .priority(let path, let json): send("PUT", path + "/.priority.json", json)
      case .update(let path, let entries):
        let members = entries.map { quoted($0.path) + ":" + $0.json }
        send("PATCH", path + ".json", "{" + members.joined(separator: ",") + "}")
      }
    }

    private func send(_ method: String, _ path: String, _ body: String) {
      let allowed = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyz/.")
      let target = path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path
      peer.send(
        "\(method) /\(target)?ns=\(namespace)&format=export HTTP/1.1\r\nHost: localhost\r\n"
          + "Content-Length: \(body.utf8.count)\r\n\r\n" + body)
    }

    func receive(_ operation: EndpointOperation) -> Verdict {
      let head = peer.read(through: "\r\n\r\n")
      let body = body(after: head.lowercased())
      switch head.dropFirst(9).prefix(3) {
      case "200":
        if case .read = operation { return read(body) }
        return .done("")
      case "400": return .invalid
      case "401": return .denied
      default: return .other(head)
      }
    }

    /// The body behind a head in lower case: whole, or in chunks, as large answers come.
    private func body(after head: String) -> [UInt8] {
      guard head.contains("\r\ntransfer-encoding: chunked\r\n") else {
        let length = head.split(separator: "\r\n").lazy
          .filter { $0.hasPrefix("content-length: ") }.compactMap { Int($0.dropFirst(16)) }.first
        return peer.read(count: length ?? 0) ?? []
      }
      var body: [UInt8] = []
      // A line end is one character.
      while let size = Int(peer.read(through: "\r\n").dropLast(), radix: 16), size > 0 {
        body += peer.read(count: size) ?? []
        _ = peer.read(through: "\r\n")
      }
      _ = peer.read(through: "\r\n")
      return body
    }
  }

  /// The tree's dialect, however its messages are carried.
  enum Dialect {
    static func request(_ number: Int, _ operation: EndpointOperation) -> String {
      let (action, body): (String, String) =
        switch operation {
        case .read(let path): ("g", #"{"p":\#(place(path)),"q":{}}"#)
        case .set(let path, let json): ("p", #"{"p":\#(place(path)),"d":\#(json)}"#)
        case .delete(let path): ("p", #"{"p":\#(place(path)),"d":null}"#)
        case .priority(let path, let json):
          ("p", #"{"p":\#(place(path + "/.priority")),"d":\#(json)}"#)
        case .update(let path, let entries):
          (
            "m",
            #"{"p":\#(place(path)),"d":{"#
              + entries.map { quoted($0.path) + ":" + $0.json }.joined(separator: ",") + "}}"
          )
        }
      return #"{"t":"d","d":{"r":\#(number),"a":"\#(action)","b":\#(body)}}"#
    }

    private static func place(_ path: String) -> String { quoted("/" + path) }

    static func verdict(_ answer: String, _ operation: EndpointOperation) -> Verdict {
      guard case .response(_, let response) = try? TreeServerMessage.decode(Array(answer.utf8))
      else { return .other(answer) }
      switch response.status {
      case .ok:
        if case .read = operation { return read(response.payload) }
        return .done("")
      case .permissionDenied: return .denied
      case .failed: return .invalid
      default: return .other(answer)
      }
    }
  }

  /// A client under Firebase's names.
  struct CompatCaller {
    let database: Database

    /// `nil` for what only a client itself knows.
    func perform(_ operation: EndpointOperation) async -> Verdict? {
      if operation.path.hasPrefix(".info") { return nil }
      let place = database.reference(withPath: operation.path)
      do {
        switch operation {
        case .read:
          let value = try await place.getData().valueInExportFormat() ?? NSNull()
          let text = try JSONSerialization.data(
            withJSONObject: value, options: [.fragmentsAllowed])
          return read(text)
        case .set(_, let json): try await place.setValue(try Self.foundation(json))
        case .delete: try await place.removeValue()
        case .priority(_, let json): try await place.setPriority(try Self.foundation(json))
        case .update(_, let entries):
          var values: [AnyHashable: Any] = [:]
          for entry in entries { values[entry.path] = try Self.foundation(entry.json) ?? NSNull() }
          try await place.updateChildValues(values)
        }
        return .done("")
      } catch {
        switch DatabaseError(error) {
        case .refused("permission_denied", _): return .denied
        case .refused("failed", _), .invalid: return .invalid
        default: return .other("\(error)")
        }
      }
    }

    private static func foundation(_ json: String) throws -> Any? {
      value(try JSONValue(parsing: json))
    }

    private static func value(_ json: JSONValue) -> Any? {
      switch json {
      case .null: nil
      case .bool(let value): value
      case .integer(let value): Int(value)
      case .double(let value): value
      case .string(let value): value
      case .array(let elements): elements.map { value($0) ?? NSNull() }
      case .object(let members):
        Dictionary(
          members.map { ($0.name, value($0.value) ?? NSNull()) }, uniquingKeysWith: { $1 })
      }
    }
  }
#endif
