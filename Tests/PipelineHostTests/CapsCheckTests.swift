// SPDX-License-Identifier: MPL-2.0

import PipelineFile
import PipelineHost
import Testing

/// Mistakes in caps and links that only the installed elements reveal.
struct CapsCheckTests {
  private func messages(_ links: String, _ elements: String = "") -> String {
    let text = """
      elements:
        sink: fakesink
      \(elements)
      links:
      \(links)
      """
    return PipelineFile.check(
      path: "a.yaml", loading: { _ in Array(text.utf8) }, arguments: [], environment: { _ in nil },
      registry: InstalledElements(), files: nil
    ).diagnostics.text()
  }

  @Test("a value of another type is named by its field, not answered with a converter")
  func wrongType() {
    let said = messages(
      "  - videotestsrc -> \"video/x-raw,width=abc,height=90\" -> videoscale -> sink")
    #expect(said.contains("the value of 'width' does not fit"), "\(said)")
    let other = messages("  - videotestsrc -> \"video/x-h264,width=64\" -> sink")
    #expect(other.contains("usually goes in between"), "\(other)")
  }

  @Test("a field that nothing knows is answered with the name that was meant")
  func unknownField() {
    let said = messages("  - videotestsrc -> \"video/x-raw,heigth=90\" -> sink")
    #expect(said.contains("warning: raw caps have no field 'heigth'"), "\(said)")
    #expect(said.contains("did you mean 'height'?"), "\(said)")
    #expect(messages("  - videotestsrc -> \"video/x-raw,height=90\" -> sink").isEmpty)
  }

  @Test("an output that leads nowhere is named")
  func looseEnd() {
    let said = messages("  - videotestsrc -> mux.video_0", "  mux: matroskamux")
    #expect(said.contains("the output of 'mux'") && said.contains("leads nowhere"), "\(said)")
    #expect(said.contains("link its pad 'src' with a sink"), "\(said)")
  }
}
