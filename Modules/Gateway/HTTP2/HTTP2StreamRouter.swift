#if TCP
  import NIOCore
  import NIOHPACK
  import NIOHTTP2

  /// Tells by the head of a stream's request what answers it: gRPC by its content type, everything
  /// else as over HTTP/1.1.
  enum HTTP2StreamRouter {
    /// The kind of a stream.
    enum Route {
      /// The call goes on in the handler that asked.
      case grpc
      /// The handlers of HTTP/1.1 are in place.
      case http
      /// The stream is reset, or closed.
      case refused
    }

    /// Routes a stream whose head has come.
    ///
    /// - Returns: The route. Handlers of HTTP/1.1 are in the pipeline by then, behind a codec
    ///   that translates frames. A stream that finds no memory is reset with `REFUSED_STREAM`,
    ///   which clients may retry.
    static func route(
      _ headers: HPACKHeaders, _ context: ChannelHandlerContext, _ connection: HTTP2Connection
    ) -> Route {
      guard connection.admit(context.channel) else {
        let reset = HTTP2Frame.FramePayload.rstStream(.refusedStream)
        context.writeAndFlush(NIOAny(reset), promise: nil)
        return .refused
      }
      if GRPCRequestHead.isGRPC(headers) { return .grpc }
      let pipeline = context.pipeline.syncOperations
      do {
        try pipeline.addHandler(HTTP2FramePayloadToHTTP1ServerCodec())
        try pipeline.addHandler(HTTPHandler(connection.setting, isStream: true))
        return .http
      } catch {
        context.close(promise: nil)
        return .refused
      }
    }
  }
#endif
