#if TCP
  import NIOCore
  import TernServer

  extension HTTPHandler {
    /// The answer to a read beyond the limit on simultaneous large reads.
    static let tooManyExports = RESTError(503, "Too much is being read already. Try again.")

    /// Answers with a node that is too large to be held: piece by piece, from the first piece on.
    func export(_ request: RESTRequest, _ context: ChannelHandlerContext) {
      let head = RESTAnswer.exportHead(for: request)
      if request.method == .head {
        // Its length is unknown, so chunks mark its end and the start of the next answer.
        beginStream(head, context)
        return endStream(context)
      }
      var isBegun = false
      let begin = {
        if !isBegun { self.beginStream(head, context) }
        isBegun = true
      }
      let taker = ExportPump.Taker(
        send: { bytes, sent in
          begin()
          self.stream(ByteBuffer(bytes: bytes), context)
          self.flushStream(sent, context)
        },
        finish: {
          self.exporting = nil
          begin()
          self.completeStream(context)
        },
        // The client sees that it was cut off: the end of the chunks is missing.
        abort: { refusal in
          self.exporting = nil
          if isBegun {
            context.close(promise: nil)
          } else {
            self.answer((refusal.map { RESTError($0) } ?? .unread).response, context)
          }
        })
      let pump = ExportPump(taker, on: context.eventLoop)
      let form = request.parameters.form
      let asked = request.asked
      let version = pump.start(
        request.path, form, of: asked.namespace, setting, for: asked, at: address)
      guard version != nil else { return answer(Self.tooManyExports.response, context) }
      exporting = pump
      // A client that reads too slowly keeps a snapshot of the store open.
      let limit = TimeAmount.seconds(Int64(limits.bodySeconds))
      let wanted = request.parameters.timeoutMilliseconds.map {
        TimeAmount.milliseconds(Int64($0))
      }
      startTimer(min(limit, wanted ?? limit), context)
    }
  }

  extension RESTError {
    /// The answer to a read whose data turn out not to be readable before the first of them.
    fileprivate static let unread = RESTError(503, "The data cannot be read now. Try again.")
  }
#endif
