#if TCP
  import Dispatch
  import NIOCore
  import TernServer
  import TernTransport

  extension RESTAnswer {
    /// Answers a request: at once when the text is short, else once it was written away from the
    /// event loop.
    ///
    /// - Parameters:
    ///   - answer: The answer of the server.
    ///   - request: Its request, with the form that the client wants.
    ///   - handler: The handler of the connection.
    ///   - place: Its context.
    static func give(
      _ answer: DirectAnswer, to request: RESTRequest, of handler: NIOLoopBound<HTTPHandler>,
      _ place: NIOLoopBound<ChannelHandlerContext>
    ) {
      let here = handler.value
      let limit = here.limits.answerBytes
      guard !answer.isShort(limitBytes: HTTPHandler.largeBodyBytes) else {
        return here.answer(response(to: request, answer, limitBytes: limit), place.value)
      }
      let (budget, address) = (here.setting.load.budget, here.address)
      // The data, and their text. The outcome of a write is told whatever its address holds.
      // Writing the text of megabytes would hold up all other clients of the event loop.
      let bytes = 2 * answer.textBytes
      if !budget.charge(bytes, .answers, to: address) {
        guard answer.isOutcome else {
          let text = "Too many answers wait to be written. Try again."
          return here.answer(RESTError(503, text).response, place.value)
        }
        budget.count(bytes, .answers, to: address)
      }
      let loop = place.value.eventLoop
      let number = here.requestNumber
      here.setting.load.parser.async {
        let response = response(to: request, answer, limitBytes: limit)
        loop.execute {
          // From here on it counts as an answer of its connection.
          budget.release(bytes, .answers, of: address)
          guard handler.value.isAnswering, handler.value.requestNumber == number else { return }
          handler.value.answer(response, place.value)
        }
      }
    }
  }
#endif
