import GStreamer
import Testing

@Test func todo() { initialize() }
