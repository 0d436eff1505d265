#if TCP
  import TernCore

  extension GRPCMessageReader {
    /// Reads messages that may be compressed.
    ///
    /// - Parameters:
    ///   - limit: The most bytes of one message, before decompression and after it.
    ///   - coding: The compression of messages with the flag 1; those with the flag 0 pass as
    ///     they are.
    init(limit: Int, decompressing coding: MessageCoding) {
      self.init(limit: limit) { message, limit throws(Failure) in
        do throws(MessageCoding.Failure) {
          return try coding.decompress(message, limit: limit)
        } catch {
          switch error {
          case .invalid: throw .invalidCompression
          // The real size is not known: decompression stops at the limit.
          case .tooLarge: throw .tooLarge(byteCount: limit + 1, limit: limit)
          }
        }
      }
    }
  }

  extension GRPCMessageReader.Failure {
    /// The end of the call whose messages are invalid. Sizes are `RESOURCE_EXHAUSTED` (8),
    /// everything else is `INTERNAL` (13), as the specification of gRPC has it.
    var status: DocumentStatus {
      switch self {
      case .compressed:
        DocumentStatus(.internalError, "A message is compressed, and grpc-encoding names nothing.")
      case .invalidCompression:
        DocumentStatus(.internalError, "A message does not decompress.")
      case .invalidFlag(let flag):
        DocumentStatus(.internalError, "A message begins with the flag \(flag).")
      case .tooLarge(let count, let limit):
        DocumentStatus(
          .resourceExhausted, "The message has \(count) bytes, more than \(limit).")
      }
    }
  }
#endif
