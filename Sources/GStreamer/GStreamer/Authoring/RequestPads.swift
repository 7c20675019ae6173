// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// An element with its own pads, including request pads: those of templates with the presence
/// `request`. The functions are called in any thread.
public protocol RequestPadImplementation: ElementImplementation {
  /// Creates a pad, which is then added to the element. After a thrown error, the request fails.
  ///
  /// - Parameters:
  ///   - template: The name of the template.
  ///   - name: The name for the pad, unique within the element.
  func makePad(template: String, name: String) throws -> Pad

  /// Releases a pad, which is then removed from the element.
  func releasePad(_ pad: Pad)
}

extension ElementBox {
  /// Returns a new pad to `gst_element_request_pad`; nil if none can be created.
  private final func createRequestedPad(
    _ template: UnsafeMutablePointer<GstPadTemplate>, named requested: String?
  ) -> UnsafeMutablePointer<GstPad>? {
    guard let implementation = core.requestPadImplementation,
      let templateName = template.pointee.name_template.map({ String(cString: $0) })
    else { return nil }
    do {
      let name = try PadTemplate.name(
        for: templateName, requested: requested, taken: padNames)
      let pad = try implementation.makePad(template: templateName, name: name)
      implementation.add(pad)
      return pad.pointer
    } catch {
      return nil
    }
  }

  private final func releaseRequestedPad(_ pad: UnsafeMutablePointer<GstPad>) {
    guard let implementation = core.requestPadImplementation else { return }
    // Data flow must stop first.
    gst_pad_set_active(pad, 0)
    let pad = Pad(retaining: pad)
    implementation.releasePad(pad)
    implementation.remove(pad)
  }

  private var padNames: Set<String> {
    let object: UnsafeMutablePointer<GstObject> = cast(pointer)
    g_mutex_lock(&object.pointee.lock)
    defer { g_mutex_unlock(&object.pointee.lock) }
    var names: Set<String> = []
    var entry = pointer.pointee.pads
    while let pad = entry {
      let object = pad.pointee.data?.assumingMemoryBound(to: GstObject.self)
      if let name = object?.pointee.name { names.insert(String(cString: name)) }
      entry = pad.pointee.next
    }
    return names
  }

  static func fillRequestPads(_ klass: UnsafeMutablePointer<GstElementClass>) {
    klass.pointee.request_new_pad = { pointer, template, name, _ in
      guard let pointer, let template, let element = ElementBox.of(cast(pointer)) else {
        return nil
      }
      return element.createRequestedPad(template, named: name.map { String(cString: $0) })
    }
    klass.pointee.release_pad = { pointer, pad in
      guard let pointer, let pad, let element = ElementBox.of(cast(pointer)) else { return }
      element.releaseRequestedPad(pad)
    }
  }
}

extension PadTemplate {
  /// Returns the name for a requested pad: the requested one if it fits the template, otherwise one
  /// with the lowest free number.
  ///
  /// - Throws: An ``ElementError`` if the requested name is already taken.
  public static func name(
    for template: String, requested: String?, taken: Set<String>
  ) throws -> String {
    var name = requested ?? template
    if template.hasSuffix("%u") {
      let prefix = String(template.dropLast(2))
      if requested?.hasPrefix(prefix) != true || requested == template {
        name = (0...taken.count).map { "\(prefix)\($0)" }.first { !taken.contains($0) } ?? template
      }
    }
    guard !taken.contains(name) else {
      throw ElementError(.pad, "There already is a pad \(name).")
    }
    return name
  }
}
