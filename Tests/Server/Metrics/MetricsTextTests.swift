import Testing

@testable import TernServer

@Suite("figures as text") struct MetricsTextTests {
  @Test("a histogram's buckets count what is no greater, and end with all")
  func histogram() {
    var histogram = Histogram([10, 100])
    for value in [1, 10, 11, 1_000] { histogram.record(value) }
    #expect(histogram.counts == [2, 1, 1])
    var text = MetricsText()
    text.add("t_seconds", "Times.", unit: 0.001, by: "kind", [("a", histogram)])
    #expect(
      text.text == """
        # HELP t_seconds Times.
        # TYPE t_seconds histogram
        t_seconds_bucket{kind="a",le="0.01"} 2
        t_seconds_bucket{kind="a",le="0.1"} 3
        t_seconds_bucket{kind="a",le="+Inf"} 4
        t_seconds_sum{kind="a"} 1.022
        t_seconds_count{kind="a"} 4

        """)
  }

  @Test("whole numbers have no fraction, and labels are escaped")
  func values() {
    var text = MetricsText()
    text.add(.gauge, "a", "One.", 3.0)
    text.add(.counter, "b", "Two.", by: "l", [("x\"y\\z\n", 2)])
    #expect(text.text.contains("\na 3\n"))
    #expect(text.text.contains(#"b{l="x\"y\\z\n"} 2"# + "\n"))
  }

  @Test("arrival times come back in order, and leave nothing behind")
  func arrivals() {
    var times = ArrivalTimes()
    for time in 1...100 { times.append(Int64(time)) }
    for time in 1...60 { #expect(times.next() == Int64(time)) }
    times.append(101)
    var rest: [Int64] = []
    while let time = times.next() { rest.append(time) }
    #expect(rest == (61...101).map(Int64.init))
    #expect(times.next() == nil)
  }
}
