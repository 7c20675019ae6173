// SPDX-License-Identifier: MPL-2.0

/// A parameter of a pipeline file or of a template.
public struct Parameter: Sendable {
  public let name: String
  public let type: ParameterType
  /// One sentence for the person who gives the value.
  public let help: String?
  /// What the number counts, for the help: `degrees`.
  public let unit: String?
  /// The least value, as it is written.
  public let minimum: String?
  /// The greatest value, as it is written.
  public let maximum: String?
  /// The values of a `choice`.
  public let choices: [String]
  /// What elements get for a choice, where that is not the choice itself.
  let meanings: [String: String]
  /// What the name of a path may end with, without the dot; anything where there are none.
  public let endings: [String]
  /// The value where none is given.
  public let defaultValue: InterpolatedText?
  /// The environment variable that is asked where no value is given.
  public let environment: String?
  /// Nothing can run without a value. A parameter that is not required and has no default may
  /// stay without a value: properties that are nothing but a reference to it are then not set.
  public let isRequired: Bool
  public let location: SourceLocation
}

/// An element that `elements:` names.
struct ElementDeclaration: Sendable {
  let name: LocatedText
  let specification: ElementSpecification
}

/// A type of element and the properties it gets.
struct ElementSpecification: Sendable {
  let type: InterpolatedText
  let properties: [PropertyAssignment]
}

struct PropertyAssignment: Sendable {
  let name: LocatedText
  let value: PropertyValue
}

/// A property's value as it is written: what it means depends on the property's type.
indirect enum PropertyValue: Sendable {
  case text(InterpolatedText)
  case list([PropertyValue], SourceLocation)
  case fields([PropertyAssignment], SourceLocation)

  var location: SourceLocation {
    switch self {
    case .text(let text): text.location
    case .list(_, let location), .fields(_, let location): location
    }
  }

  var texts: [InterpolatedText] {
    switch self {
    case .text(let text): [text]
    case .list(let items, _): items.flatMap(\.texts)
    case .fields(let fields, _): fields.flatMap(\.value.texts)
    }
  }
}

/// Properties of a pad: an entry `mux.audio_0: { … }` of `elements:`.
struct PadDeclaration: Sendable {
  let element: LocatedText
  let pad: String
  let location: SourceLocation
  let properties: [PropertyAssignment]
}

/// A branch that links can pass through any number of times.
struct Template: Sendable {
  let name: LocatedText
  let parameters: [Parameter]
  let chain: [LinkStep]
}

/// A line of `links:`.
struct LinkDeclaration: Sendable {
  let text: LocatedText
  let steps: [LinkStep]
}

/// What stands between two arrows of a link, or is an item of a chain.
struct LinkStep: Sendable {
  enum Content: Sendable {
    /// `name`, `name.pad`, `name[caps]`, `name(arguments)`, `name?`: an element of the file, a template, or a
    /// new element of that type.
    case named(NamedStep)
    /// Caps that the buffers must have here.
    case caps(InterpolatedText)
    /// A new element: an item of a chain that is written as a mapping.
    case element(ElementSpecification)
  }

  let content: Content
  let location: SourceLocation
}

struct NamedStep: Sendable {
  let name: LocatedText
  let pad: LocatedText?
  /// The caps within the brackets.
  let caps: LocatedText?
  /// The text within the parentheses.
  let arguments: LocatedText?
  let repetition: Repetition
}

/// For how many pads a link is made.
public enum Repetition: Sendable, Equatable {
  /// One, which has to be there.
  case once
  /// `?`: one, if it appears.
  case optional
  /// `*`: each that appears.
  case each
}

/// Another file whose elements, templates and links belong to this one.
struct Include: Sendable {
  let file: LocatedText
  /// Those that `with` gives.
  let arguments: [Argument]
  /// Where `inherit: all` stands; nil where it does not.
  let inherits: SourceLocation?

  /// What the parameters of the included file get: what `with` says, and, with `inherit: all`, the
  /// values of the parameters of the same names.
  func arguments(for included: [Parameter], from parameters: [Parameter]) -> [Argument] {
    guard let inherits else { return arguments }
    let given = Set(arguments.map(\.name.text))
    let names = Set(parameters.map(\.name)).intersection(included.map(\.name)).subtracting(given)
    return arguments
      + names.sorted().map { name in
        Argument(
          name: LocatedText(text: name, location: inherits),
          value: InterpolatedText(parameter: name, at: inherits))
      }
  }
}

/// `name=value`
struct Argument: Sendable {
  let name: LocatedText
  let value: InterpolatedText
}

/// How a pipeline runs.
public struct RunSettings: Sendable, Equatable {
  public enum OnError: String, Sendable, CaseIterable {
    /// An error ends the run.
    case stop
    /// An error starts the pipeline anew.
    case restart
  }

  public var onError = OnError.stop
  /// How often a run that fails again and again is started anew.
  public var restarts = 10
  /// How long nothing may move before the run counts as frozen, in nanoseconds; nil for no limit.
  public var watchdog: Int64?
}

/// One file as it is written.
struct PipelineUnit: Sendable {
  let file: SourceFile
  var description: String?
  var parameters: [Parameter] = []
  var includes: [Include] = []
  var elements: [ElementDeclaration] = []
  var pads: [PadDeclaration] = []
  var templates: [Template] = []
  var links: [LinkDeclaration] = []
  var run: RunSettings?
}
