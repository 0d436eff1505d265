#if TCP
  import NIOCore
  import NIOHPACK
  import TernCore
  import TernDocumentWire

  /// The head of a request on a stream of HTTP/2 that asks for gRPC.
  struct GRPCRequestHead {
    /// `/service/method`, as it was sent; ``GRPCMethod`` decides what it names.
    let path: String
    /// The content type of the answer: that of the request.
    let contentType: String
    /// The fields that concern the server: the credential, the database and App Check.
    let metadata: [DocumentCallOpening.Entry]
    /// The time limit for the call; `nil` for none.
    let timeout: TimeAmount?
    /// The compression that messages of the request may have.
    let compression: Compression

    /// The compression of messages, as the head of a request names it.
    enum Compression: Equatable {
      case none
      /// Messages may be compressed, and so may those of the answer if `isAnswered`.
      case coding(MessageCoding, isAnswered: Bool)
      /// A coding that is not read.
      case unknown(String)
    }

    /// A request whose content type begins so is gRPC, also with a suffix such as `+json` that
    /// is not served.
    static let contentTypePrefix = "application/grpc"
    /// The content types that are served, in lower case and without parameters.
    private static let contentTypes: Set = ["application/grpc", "application/grpc+proto"]

    /// Returns true when a request is one of gRPC, valid or not, rather than of REST.
    static func isGRPC(_ headers: HPACKHeaders) -> Bool {
      if let type = headers.first(name: "content-type") {
        return type == contentTypePrefix || type.lowercased().hasPrefix(contentTypePrefix)
      }
      // The methods of the service have no other form below their path.
      let path = headers.first(name: ":path") ?? ""
      return headers.first(name: ":method") == "POST" && DocumentMethod(path: path) != nil
    }

    /// Reads the head of a request.
    ///
    /// - Throws: ``HTTPRejection`` for a request that is not gRPC in a form that is served.
    ///   The status is 405 for a method other than POST, 415 for a content type, and 400 for a
    ///   time limit. An unknown method, or a compression, is no rejection: those are answered
    ///   with a status of gRPC.
    init(_ headers: HPACKHeaders) throws(HTTPRejection) {
      guard headers.first(name: ":method") == "POST" else { throw HTTPRejection(status: 405) }
      let type = headers.first(name: "content-type") ?? ""
      contentType = try Self.contentType(type)
      path = headers.first(name: ":path") ?? ""
      if let text = headers.first(name: "grpc-timeout") {
        guard let time = GRPCTimeout.nanoseconds(text) else { throw HTTPRejection(status: 400) }
        timeout = .nanoseconds(time)
      } else {
        timeout = nil
      }
      compression = Self.compression(headers)
      metadata = Self.metadata(headers)
    }

    /// Returns the content type of the answer, in lower case and without parameters.
    private static func contentType(_ text: String) throws(HTTPRejection) -> String {
      // The form that nearly all clients send needs no further look.
      if text == contentTypePrefix { return text }
      let type = String(text.lowercased().prefix { $0 != ";" }[...].trimmed)
      guard contentTypes.contains(type) else { throw HTTPRejection(status: 415) }
      return type
    }

    /// Reads `grpc-encoding`, and from `grpc-accept-encoding` if the answer may be compressed
    /// alike.
    private static func compression(_ headers: HPACKHeaders) -> Compression {
      let name = headers.first(name: "grpc-encoding") ?? "identity"
      if name == "identity" { return .none }
      guard let coding = MessageCoding(header: name) else { return .unknown(name) }
      // A client that compresses is configured to; the others spare both sides the work.
      let accepted = headers["grpc-accept-encoding"]
      return .coding(coding, isAnswered: accepted.contains { coding.isListed(in: $0) })
    }

    /// Returns the fields that are handed on, in their order. Names are in lower case in HTTP/2.
    private static func metadata(_ headers: HPACKHeaders) -> [DocumentCallOpening.Entry] {
      var entries: [DocumentCallOpening.Entry] = []
      for (name, value, _) in headers {
        switch name {
        case "authorization", "google-cloud-resource-prefix", "x-firebase-appcheck":
          entries.append(DocumentCallOpening.Entry(name, value))
        // The others are hints for proxies and telemetry.
        default: break
        }
      }
      return entries
    }

    /// A request that is answered with a status of HTTP alone.
    struct HTTPRejection: Error {
      let status: Int
    }
  }
#endif
