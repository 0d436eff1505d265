import SwiftProtobuf
package import TernDocumentWire

/// The JSON form of messages, as REST has it: proto3 JSON, by generated code.
///
/// It is made of the binary form and read into it, so that there is one codec for what messages
/// mean. Source: documents reference, section 6.1; Firestore server reference, section 3.2.
///
/// A JSON body becomes the bytes that gRPC would have carried, and the server decodes those;
/// answers go the other way. The gateway calls it for REST and WebChannel. It has no state and may
/// be used from any thread.
package enum DocumentJSON {
  /// The type of a message.
  package enum Kind: Hashable, Sendable {
    case request(DocumentMethod)
    case response(DocumentMethod)
    /// A document alone, as REST has it in bodies.
    case document
  }

  /// The treatment of members that a message does not have.
  ///
  /// REST rejects them, as the service does; WebChannel skips them.
  package enum UnknownMembers: Hashable, Sendable {
    case rejected
    case skipped
  }

  /// The form of enums in the text.
  ///
  /// REST has names, unless the client asks for numbers.
  package enum EnumForm: Hashable, Sendable {
    case names
    case numbers
  }

  /// The most levels of messages in one another.
  ///
  /// Equal to the limit of the binary form.
  static let depthLimit = 100

  /// Returns the binary form of a message.
  ///
  /// - Parameter json: At most ``DocumentWireLimits/messageBytes``.
  /// - Returns: The message in protobuf. It is valid in form; its meaning is checked when it is
  ///   decoded.
  /// - Throws: ``MessageJSONError`` with the member that breaks a rule.
  package static func binary(
    _ kind: Kind, json: [UInt8], unknown: UnknownMembers = .rejected
  ) throws(MessageJSONError) -> [UInt8] {
    try bytes(of: try read(type(of: kind), json, unknown))
  }

  /// Returns the binary form of a request that REST spreads over address and body.
  ///
  /// - Parameters:
  ///   - members: The members that the address binds, as a JSON object. They win over those of the
  ///     body.
  ///   - body: The body: the document, for methods that take one, else the whole message. Empty for
  ///     none.
  /// - Throws: ``MessageJSONError`` with the member that breaks a rule, its path in the names of
  ///   the message: of a document in the body it begins with `document`.
  package static func request(
    _ method: DocumentMethod, members: [UInt8], body: [UInt8]
  ) throws(MessageJSONError) -> [UInt8] {
    let bound = try bytes(of: try read(method.requestType, members, .rejected))
    // A `GET` has no body, and some clients send white space.
    if body.allSatisfy(\.isSpace) { return bound }
    var message: any Message
    switch method {
    case .createDocument:
      message = Google_Firestore_V1_CreateDocumentRequest.with { $0.document = .init() }
    case .updateDocument:
      message = Google_Firestore_V1_UpdateDocumentRequest.with { $0.document = .init() }
    default:
      // The members of the address are merged last, so they win.
      message = try read(method.requestType, body, .rejected)
      return try merged(message, with: bound)
    }
    let document = try read(Google_Firestore_V1_Document.self, body, .rejected, below: "document")
    if var create = message as? Google_Firestore_V1_CreateDocumentRequest,
      let document = document as? Google_Firestore_V1_Document
    {
      create.document = document
      message = create
    } else if var update = message as? Google_Firestore_V1_UpdateDocumentRequest,
      let document = document as? Google_Firestore_V1_Document
    {
      update.document = document
      message = update
    }
    return try merged(message, with: bound)
  }

  /// Returns the JSON form of a message.
  ///
  /// - Throws: ``MessageJSONError`` when the bytes are not this message.
  package static func json(
    _ kind: Kind, binary: [UInt8], enums: EnumForm = .names
  ) throws(MessageJSONError) -> [UInt8] {
    var options = JSONEncodingOptions()
    options.useDeterministicOrdering = true
    options.alwaysPrintEnumsAsInts = enums == .numbers
    do {
      return try type(of: kind).init(serializedBytes: binary).jsonUTF8Bytes(options: options)
    } catch {
      throw MessageJSONError("The message has no JSON form: \(error)")
    }
  }

  /// Returns the generated type.
  private static func type(of kind: Kind) -> any Message.Type {
    switch kind {
    case .request(let method): method.requestType
    case .response(let method): method.responseType
    case .document: Google_Firestore_V1_Document.self
    }
  }
}

// MARK: - Reading

extension DocumentJSON {
  /// Reads a message.
  ///
  /// - Parameter member: The path of the member that the message stands for, for errors.
  /// - Throws: ``MessageJSONError``. After the library has rejected the text it is read a second
  ///   time to find the member, which costs as much again.
  private static func read(
    _ type: any Message.Type, _ json: [UInt8], _ unknown: UnknownMembers, below member: String = ""
  ) throws(MessageJSONError) -> any Message {
    let limit = DocumentWireLimits.messageBytes
    if json.count > limit { throw .tooLarge(byteCount: json.count, limit: limit) }
    var options = JSONDecodingOptions()
    options.ignoreUnknownFields = unknown == .skipped
    options.messageDepthLimit = depthLimit
    do {
      return try type.init(jsonUTF8Bytes: json, options: options)
    } catch {
      // The library says what is wrong, and not where.
      let shape = String(type.protoMessageName.dropFirst(MessageShape.package.count))
      throw JSONFaultFinder.fault(in: json, of: shape, below: member)
        ?? MessageJSONError("Invalid JSON payload received. The text is not a \(shape).")
    }
  }

  /// Merges further members, in their binary form, into a message.
  private static func merged(
    _ message: any Message, with members: [UInt8]
  ) throws(MessageJSONError) -> [UInt8] {
    var message = message
    do {
      try message.merge(serializedBytes: members)
    } catch {
      throw MessageJSONError("The message has no binary form: \(error)")
    }
    return try bytes(of: message)
  }

  private static func bytes(of message: any Message) throws(MessageJSONError) -> [UInt8] {
    do {
      return try message.serializedBytes()
    } catch {
      throw MessageJSONError("The message has no binary form: \(error)")
    }
  }
}

extension UInt8 {
  /// True for the space that JSON allows between its tokens.
  fileprivate var isSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
