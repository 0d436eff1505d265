/// A file that a page sends as a form, to be written like the body of a PUT.
///
/// Source: realtime reference, section 11.7.
enum RESTUpload {
  /// The suffix of paths of uploads.
  static let suffix = "/.upload"

  /// The write that an upload asks for.
  static func write(
    _ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller
  ) throws(RESTError) -> RESTRequest {
    try checkMethod(request)
    guard let boundary = boundary(request.headers["content-type"] ?? ""),
      let file = MultipartForm.firstPart(of: request.body, boundary: boundary)
    else { throw .invalid("Invalid data; a form with one file is expected.") }
    return try write(Array(file), request, target, caller)
  }

  /// The same without its file.
  ///
  /// Used to ask the rules before the file is read: a write of `null` stands for it.
  static func head(
    _ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller
  ) throws(RESTError) -> RESTRequest {
    try checkMethod(request)
    return try write(Array("null".utf8), request, target, caller)
  }

  private static func checkMethod(_ request: HTTPRequest) throws(RESTError) {
    guard request.method == "POST" else {
      throw .notAllowed("A file is uploaded with POST.", allowing: "POST")
    }
  }

  private static func write(
    _ body: [UInt8], _ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller
  ) throws(RESTError) -> RESTRequest {
    var put = request
    put.method = "PUT"
    put.body = body
    // The root's path is the suffix alone, and would be left without its slash.
    let path = String(target.path.dropLast(suffix.count)) + RESTRequest.suffix
    return try RESTRequest(put, target.at(path.hasPrefix("/") ? path : "/" + path), caller)
  }

  /// The text between the parts of a form. Source: RFC 2046, section 5.1.1.
  private static func boundary(_ type: String) -> String? {
    let parts = type.split(separator: ";").map(\.trimmed)
    guard parts.first?.lowercased() == "multipart/form-data" else { return nil }
    for part in parts.dropFirst() where part.lowercased().hasPrefix("boundary=") {
      let text = part.dropFirst("boundary=".count)
      let bare = text.hasPrefix("\"") && text.hasSuffix("\"") ? text.dropFirst().dropLast() : text
      return (1...70).contains(bare.utf8.count) ? String(bare) : nil
    }
    return nil
  }
}

/// Forms of several parts. Source: RFC 2046, section 5.1; RFC 7578.
enum MultipartForm {
  /// The content of a form's first part; `nil` when the form is not well formed up to its end.
  ///
  /// - Parameters:
  ///   - body: The form.
  ///   - boundary: The text between parts, without the two dashes before it.
  /// - Returns: The bytes between the head of the first part and the next boundary.
  static func firstPart(of body: [UInt8], boundary: String) -> ArraySlice<UInt8>? {
    let mark = Array("--\(boundary)".utf8)
    guard let start = find(mark, in: body[...]),
      start == 0 || body[..<start].suffix(2) == [0x0D, 0x0A],
      let headEnd = find(Array("\r\n\r\n".utf8), in: body[(start + mark.count)...]),
      let end = find([0x0D, 0x0A] + mark, in: body[(headEnd + 2)...])
    else { return nil }
    return end < headEnd + 4 ? [] : body[(headEnd + 4)..<end]
  }

  /// Returns the offset at which some bytes first occur in others.
  ///
  /// - Complexity: O(*n*), whatever the bytes are: after a mismatch it goes on with the longest
  ///   beginning of `wanted` that was just seen (Knuth, Morris, Pratt).
  private static func find(_ wanted: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
    var fallbacks = [0]
    var matched = 0
    for index in wanted.indices.dropFirst() {
      while matched > 0, wanted[index] != wanted[matched] { matched = fallbacks[matched - 1] }
      if wanted[index] == wanted[matched] { matched += 1 }
      fallbacks.append(matched)
    }
    matched = 0
    for index in bytes.indices {
      let byte = bytes[index]
      while matched > 0, byte != wanted[matched] { matched = fallbacks[matched - 1] }
      if byte == wanted[matched] { matched += 1 }
      if matched == wanted.count { return index - wanted.count + 1 }
    }
    return nil
  }
}
