import TernCore
import TernServer

/// Turns what the server answered into what the client is to see.
enum RESTAnswer {
  /// The content type of data and errors.
  static let jsonType = "application/json; charset=utf-8"

  /// Returns the response to a read or a write.
  ///
  /// - Parameter limitBytes: The most bytes of one answer's body.
  static func response(
    to request: RESTRequest, _ answer: DirectAnswer, limitBytes: Int
  ) -> HTTPResponse {
    var response = body(of: answer, to: request, limitBytes)
    response.isOutcome = answer.isOutcome
    return response
  }

  /// Returns the response to each kind of answer. Kinds that no read or write leads to are 500.
  private static func body(
    of answer: DirectAnswer, to request: RESTRequest, _ limitBytes: Int
  ) -> HTTPResponse {
    switch answer {
    case .refused(let refusal): return RESTError(refusal).response
    case .node(let node): return read(node, request, limitBytes)
    // A place without children is `null`, as it is for a read that is not shallow.
    case .names(let names):
      var writer = JSONWriter()
      if names.isEmpty { writer.null() } else { write(names, to: &writer) }
      return finish(writer.bytes, request, tag: nil, limitBytes)
    case .written(let write): return written(write, request, limitBytes)
    case .pushed(let name, let node):
      let body = JSONValue.object([.init("name", .string(name.text))]).bytes
      let tag = request.wantsTag ? EntityTag.tag(of: node) : nil
      return finish(body, request, tag: tag, limitBytes)
    case .rules, .coverage, .setting, .databases, .revocations, .report, .done, .large:
      return RESTError(500, "The server answered something else.").response
    case .stale(let node):
      // The client learns what is there, so that it can try again without asking.
      var response = HTTPResponse(
        status: 412, headers: [("Content-Type", jsonType), ("ETag", EntityTag.tag(of: node))],
        body: node.jsonBytes(.value))
      response.headers.append("Cache-Control", "no-cache")
      return response
    }
  }

  /// Returns the response to a read: 304 when the client has this state, the data otherwise.
  ///
  /// The tag is computed only if the client asks for it: it costs a hash of all data.
  private static func read(
    _ node: TreeNode, _ request: RESTRequest, _ limitBytes: Int
  ) -> HTTPResponse {
    let tag = request.wantsTag || request.knownTags != nil ? EntityTag.tag(of: node) : nil
    if let known = request.knownTags, let tag, EntityTag.isListed(tag, in: known) {
      return HTTPResponse(status: 304, headers: [("ETag", tag), ("Cache-Control", "no-cache")])
    }
    // A query that matches nothing has an answer of its own: an object without members. Clients
    // iterate over it. Source: Pyrebase issues 86, 225 and 317.
    let body =
      node.isEmpty && request.isOrdered
      ? Array("{}".utf8) : node.jsonBytes(request.parameters.form)
    return finish(body, request, tag: tag, limitBytes)
  }

  /// The head of an answer whose body comes piece by piece.
  static func exportHead(for request: RESTRequest) -> HTTPResponse {
    var response = HTTPResponse(
      status: 200, headers: [("Cache-Control", "no-cache"), ("Content-Type", jsonType)])
    if let name = request.parameters.download {
      response.headers.append("Content-Disposition", "attachment; filename=\"\(fileName(name))\"")
    }
    return response
  }

  /// Returns the response to a write: the data as they were written, with server values resolved.
  private static func written(
    _ write: TreeWrite, _ request: RESTRequest, _ limitBytes: Int
  ) -> HTTPResponse {
    switch write {
    case .set(_, let node):
      let tag = request.wantsTag ? EntityTag.tag(of: node) : nil
      return finish(node.jsonBytes(.value), request, tag: tag, limitBytes)
    case .merge(_, let merge):
      var writer = JSONWriter()
      writer.beginObject()
      for entry in merge.entries {
        writer.key(entry.path.text)
        entry.node.write(to: &writer, .value)
      }
      writer.endObject()
      return finish(writer.bytes, request, tag: nil, limitBytes)
    }
  }

  /// Writes the names of children as members that are `true`.
  private static func write(_ names: [TreeKey], to writer: inout JSONWriter) {
    writer.beginObject()
    for name in names {
      writer.key(name.text)
      writer.bool(true)
    }
    writer.endObject()
  }

  /// Prints the body as the parameters demand; a body that is not sent is not made.
  ///
  /// - Parameters:
  ///   - json: The body in plain JSON; not computed for `print=silent`.
  ///   - tag: The entity tag, if the client wants it.
  /// - Returns: 204 without a body for `print=silent` and for a write whose body is too large,
  ///   an error for such a read, 200 otherwise.
  private static func finish(
    _ json: @autoclosure () -> [UInt8], _ request: RESTRequest, tag: String?, _ limitBytes: Int
  ) -> HTTPResponse {
    let parameters = request.parameters
    var response = HTTPResponse(status: 200, headers: [("Cache-Control", "no-cache")])
    if let tag { response.headers.append("ETag", tag) }
    if parameters.print == .silent {
      response.status = 204
      return response
    }
    response.body = parameters.print == .pretty ? PrettyJSON.text(of: json()) : json()
    if response.body.count > limitBytes {
      if !request.method.isRead {
        // The write is made: an error would have the client make it again.
        response.status = 204
        response.body = []
        return response
      }
      return RESTError(.tooBig(limitBytes: limitBytes)).response
    }
    var type = jsonType
    // A script: pages without cross-origin requests read data so.
    if let callback = parameters.callback, request.method.isRead {
      type = "application/javascript; charset=utf-8"
      response.body = Array("\(callback)(".utf8) + response.body + Array(");".utf8)
    }
    response.headers.append("Content-Type", type)
    if let name = parameters.download, request.method.isRead {
      response.headers.append("Content-Disposition", "attachment; filename=\"\(fileName(name))\"")
    }
    return response
  }

  /// A name that cannot break out of its header.
  private static func fileName(_ name: String) -> String {
    String(
      name.unicodeScalars.filter {
        $0.isASCII && $0.value >= 0x20 && !"\"\\/".unicodeScalars.contains($0) && $0.value != 0x7F
      }.map(Character.init))
  }
}
