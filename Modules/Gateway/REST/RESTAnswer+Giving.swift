#if TCP
  import Dispatch
  import NIOCore
  import TernServer
  import TernTransport

  extension RESTAnswer {
    /// Answers a request: at once when the text is short, else once it was written away from the
    /// event loop.
    static func give(
      _ answer: DirectAnswer, to request: RESTRequest, of handler: NIOLoopBound<HTTPHandler>,
      _ place: NIOLoopBound<ChannelHandlerContext>
    ) {
      let here = handler.value
      let limit = here.limits.answerBytes
      guard !answer.isShort(limitBytes: HTTPHandler.largeBodyBytes) else {
        return here.answer(response(to: request, answer, limitBytes: limit), place.value)
      }
      let charge = MemoryCharge(here.setting.load.budget, .answers, of: here.address)
      // The data, and their text.
      guard charge.add(2 * answer.textBytes) else {
        let text = "Too many answers wait to be written. Try again."
        return here.answer(RESTError(503, text).response, place.value)
      }
      let loop = place.value.eventLoop
      let number = here.requestNumber
      here.setting.load.parser.async {
        let response = response(to: request, answer, limitBytes: limit)
        loop.execute {
          withExtendedLifetime(charge) {}
          guard handler.value.isAnswering, handler.value.requestNumber == number else { return }
          handler.value.answer(response, place.value)
        }
      }
    }
  }
#endif
