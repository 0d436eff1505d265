import SwiftProtobuf
import TernCore

/// Finds the first member of a text that makes it no message.
///
/// It reads the text a second time, only after the library has rejected it.
///
/// The library's error names no member, while clients and their users look for one. Of several
/// faults the first in the order of the text is told.
struct JSONFaultFinder {
  /// Returns the first fault of a text; `nil` when it has none that is known here.
  ///
  /// - Parameter member: The path of the member that the text stands for.
  static func fault(
    in json: [UInt8], of shape: String, below member: String
  ) -> MessageJSONError? {
    let value: JSONValue
    do {
      value = try JSONValue(
        parsing: json, JSONOptions(depthLimit: DocumentJSON.depthLimit * jsonLevels))
    } catch {
      return MessageJSONError("Invalid JSON payload received. \(error)")
    }
    do throws(MessageJSONError) {
      try check(value, .message(shape), at: member, depth: 0)
      return nil
    } catch {
      return error
    }
  }

  /// The most levels of JSON that one level of messages takes: a list or map, and an object.
  private static let jsonLevels = 2

  /// Checks one value against its type.
  ///
  /// - Parameters:
  ///   - path: The path of the value in the names of the protocol.
  ///   - depth: The messages around it.
  private static func check(
    _ value: JSONValue, _ type: MemberType, at path: String, depth: Int
  ) throws(MessageJSONError) {
    switch type {
    case .message(let name): try checkMessage(value, name, at: path, depth: depth)
    case .choice(let name): try checkChoice(value, name, at: path)
    default:
      guard isValid(value, type) else {
        throw .value(value.json, of: type.title, at: path, because: reason(value, type))
      }
    }
  }

  /// Checks the members of a message. A member of another message than those of the table is not
  /// looked into.
  private static func checkMessage(
    _ value: JSONValue, _ name: String, at path: String, depth: Int
  ) throws(MessageJSONError) {
    guard depth < DocumentJSON.depthLimit else {
      throw MessageJSONError(
        "Invalid JSON payload received. Nested deeper than \(DocumentJSON.depthLimit) messages.",
        at: path)
    }
    guard case .object(let members) = value else {
      if path.isEmpty {
        throw MessageJSONError("Invalid JSON payload received. Expected an object.")
      }
      throw .value(value.json, of: MemberType.message(name).title, at: path)
    }
    guard let shape = MessageShape.named(name) else { return }
    var chosen: Set<String> = []
    for entry in members {
      guard let member = shape.member(entry.name) else { throw .unknown(entry.name, at: path) }
      // `null` leaves a member out, except where it is the value.
      if entry.value == .null, member.type != .null { continue }
      if let choice = member.choice, !chosen.insert(choice).inserted {
        throw .choice(entry.name, of: choice, at: path)
      }
      let path = path.isEmpty ? member.name : "\(path).\(member.name)"
      try checkMember(entry.value, member, at: path, depth: depth)
    }
  }

  /// Checks the value of a member: one, a list, or a map.
  private static func checkMember(
    _ value: JSONValue, _ member: MessageShape.Member, at path: String, depth: Int
  ) throws(MessageJSONError) {
    switch (member.count, value) {
    case (.one, _): try check(value, member.type, at: path, depth: depth + 1)
    case (.list, .array(let elements)):
      for (index, element) in elements.enumerated() {
        try check(element, member.type, at: "\(path)[\(index)]", depth: depth + 1)
      }
    case (.map, .object(let entries)):
      var names: Set<ExactText> = []
      for (index, entry) in entries.enumerated() {
        guard names.insert(ExactText(entry.name)).inserted else {
          throw .repeated(entry.name, at: path)
        }
        try check(entry.value, member.type, at: "\(path)[\(index)].value", depth: depth + 1)
      }
    case (.list, _), (.map, _):
      throw .value(value.json, of: member.type.title, at: path)
    }
  }

  /// Checks the value of an enum. An enum may be a name or any whole number, as newer protocols
  /// have more of them.
  private static func checkChoice(
    _ value: JSONValue, _ name: String, at path: String
  ) throws(MessageJSONError) {
    let names = MessageShape.choices[name] ?? [:]
    switch value {
    case .string(let text) where names.values.contains(text): return
    case .integer: return
    default: throw .value(value.json, of: MemberType.choice(name).title, at: path)
    }
  }

  /// Returns the reason that a sentence gives; `nil` for none. The service adds a reason for base64
  /// alone.
  private static func reason(_ value: JSONValue, _ type: MemberType) -> String? {
    if type == .bytes, case .string = value { return "Base64 decoding failed" }
    return nil
  }

  /// Returns true when the library reads the value as the type.
  ///
  /// The wrapper types of protobuf have the JSON form of the bare value, so the library itself
  /// decides.
  private static func isValid(_ value: JSONValue, _ type: MemberType) -> Bool {
    let json = value.bytes
    return switch type {
    case .bool: (try? Google_Protobuf_BoolValue(jsonUTF8Bytes: json)) != nil
    case .int32: (try? Google_Protobuf_Int32Value(jsonUTF8Bytes: json)) != nil
    case .int64: (try? Google_Protobuf_Int64Value(jsonUTF8Bytes: json)) != nil
    case .double: (try? Google_Protobuf_DoubleValue(jsonUTF8Bytes: json)) != nil
    case .string: value.text != nil
    case .bytes: (try? Google_Protobuf_BytesValue(jsonUTF8Bytes: json)) != nil
    case .timestamp: (try? Google_Protobuf_Timestamp(jsonUTF8Bytes: json)) != nil
    case .null: value == .null || value.text == "NULL_VALUE" || value.integer == 0
    case .choice, .message: true
    }
  }
}
