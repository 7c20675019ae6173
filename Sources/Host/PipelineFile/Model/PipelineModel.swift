// SPDX-License-Identifier: MPL-2.0

/// A parameter of a pipeline file or of a template.
public struct Parameter: Sendable {
  /// The name.
  public let name: String
  /// The type of its values.
  public let type: ParameterType
  /// One sentence for the user who sets the value.
  public let help: String?
  /// The unit of a number, for the help: `degrees`.
  public let unit: String?
  /// The minimum value, as written in the file.
  public let minimum: String?
  /// The maximum value, as written in the file.
  public let maximum: String?
  /// The values of a `choice`.
  public let choices: [String]
  /// The values that elements get for choices, for choices that are only labels.
  let meanings: [String: String]
  /// The allowed file name extensions of a path, without the dot; empty for any.
  public let endings: [String]
  /// Whether it has any number of values. A link that refers to it is made for each of them.
  public let isList: Bool
  /// The values if none is given: those of a list, or one.
  public let defaults: [InterpolatedText]
  /// The environment variable that provides the value if none is given.
  public let environment: String?
  /// Whether a value is required to run. A parameter that is not required and has no default may
  /// have no value; properties that consist of a reference to it are then not set.
  public let isRequired: Bool
  /// The location of its declaration.
  public let location: SourceLocation

  /// The value if none is given; nil if there is none, or for a list.
  public var defaultValue: InterpolatedText? { isList ? nil : defaults.first }
}

/// An element that `elements:` declares.
struct ElementDeclaration: Sendable {
  let name: LocatedText
  let specification: ElementSpecification
}

/// The type and the properties of an element.
struct ElementSpecification: Sendable {
  let type: InterpolatedText
  let properties: [PropertyAssignment]
}

struct PropertyAssignment: Sendable {
  let name: LocatedText
  let value: PropertyValue
}

/// A property's value as written in the file; its meaning depends on the property's type.
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

  /// The names of the parameters that it refers to, in their order and without repetition.
  var parameterNames: [String] {
    // Mistakes in the texts are reported by those who use them.
    let reporter = Reporter()
    let texts = steps.flatMap { step -> [InterpolatedText] in
      switch step.content {
      case .caps(let caps): [caps]
      case .element(let element): element.properties.flatMap(\.value.texts)
      case .named(let named):
        (named.caps.map { [InterpolatedText($0, reporter)] } ?? [])
          + (named.arguments.map(ArgumentParser(reporter: reporter).arguments) ?? []).map(\.value)
      }
    }
    var names: [String] = []
    for case .parameter(let name, _) in texts.flatMap(\.references).map(\.target)
    where !names.contains(name) {
      names.append(name)
    }
    return names
  }
}

/// A step between two arrows of a link, or an item of a chain.
struct LinkStep: Sendable {
  enum Content: Sendable {
    /// `name`, `name.pad`, `name[caps]`, `name(arguments)`, `name?`: an element of the file, a
    /// template, or a new element of that type.
    case named(NamedStep)
    /// Caps to which the buffers are restricted at this point.
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

/// The number of pads for which a link is made.
public enum Repetition: Sendable, Equatable {
  /// One pad, which must exist.
  case once
  /// `?`: one pad, if it appears.
  case optional
  /// `*`: each pad that appears.
  case each
}

/// Another file whose elements, templates and links are added to this one.
struct Include: Sendable {
  let file: LocatedText
  /// The arguments of `with`.
  let arguments: [Argument]
  /// The location of `inherit: all`; nil without it.
  let inherits: SourceLocation?

  /// Returns the arguments for the included file: those of `with` and, with `inherit: all`, the
  /// values of parameters with the same names.
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

/// The settings of `run`.
public struct RunSettings: Sendable, Equatable {
  /// The reaction to an error.
  public enum OnError: String, Sendable, CaseIterable {
    /// An error ends the run.
    case stop
    /// An error restarts the pipeline.
    case restart
  }

  /// The reaction to an error.
  public var onError = OnError.stop
  /// Maximum number of consecutive restarts.
  public var restarts = 10
  /// Time without progress, in nanoseconds, after which the run counts as frozen; nil for no limit.
  public var watchdog: Int64?
}

/// The content of one file, without its includes.
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
