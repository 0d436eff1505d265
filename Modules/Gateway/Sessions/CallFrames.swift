#if TCP
  import TernDocumentWire
  import TernTransport

  /// Frames of a session, decoded: once for all sessions that are sent the same.
  struct CallFrames: Sendable {
    /// One frame, or neighbors.
    enum Part: Sendable {
      /// Messages of one call, in order.
      case messages(call: UInt32, SharedFrames)
      /// Any other frame: an answer, an end, or a pong.
      case frame(DocumentServerFrame)
    }

    /// In the order of the frames.
    private(set) var parts: [Part] = []

    /// The most bytes of messages that are handed over together, with those of their heads: what
    /// one frame of HTTP/2 carries for every client. A longer message stays alone.
    private static let partBytes = 16 << 10

    /// Decodes frames of this process's own server, none of which is invalid: a message of any
    /// length goes on, for the next one would be taken for the answer to its request.
    init(_ frames: [[UInt8]]) {
      var call: UInt32 = 0
      var messages: [[UInt8]] = []
      var bytes = 0
      func endPart() {
        if !messages.isEmpty { parts.append(.messages(call: call, SharedFrames(messages))) }
        (messages, bytes) = ([], 0)
      }
      for frame in frames {
        guard let frame = try? DocumentServerFrame.decode(frame, limit: .max) else { continue }
        guard case .message(let number, let message) = frame else {
          endPart()
          parts.append(.frame(frame))
          continue
        }
        let count = GRPCMessageReader.headBytes + message.count
        // A part ends with the call that it is for, and at the size of a frame of HTTP/2.
        if number != call || bytes + count > Self.partBytes { endPart() }
        call = number
        messages.append(message)
        bytes += count
      }
      endPart()
    }
  }

  extension GatewayFrames {
    /// The frames as calls get them.
    var callFrames: CallFrames {
      switch self {
      case .own(let frames): CallFrames(frames)
      case .shared(let shared): shared.form(CallFrames.init)
      }
    }
  }
#endif
