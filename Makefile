# make demo [INPUT=movie.mp4 [OUTPUT=movie.mov]]   the main job
# make test                                        all tests
# make plugin                                      .build/release/libgstspatial.so
# make command                                     .build/release/gst-spatial, which runs pipeline files
# make install [PREFIX=/usr/local] [DESTDIR=...]   the plugin where GStreamer looks; the command,
#                                                  its pipelines, completions and man page
# make bench                                       the README's figures
# make fuzz [SECONDS=600]                          looks for input that the readers do not stand
# make format                                      swift format, in place

SWIFT_BUILD = swift build -c release
PLUGIN = .build/release/libgstspatial.so
PLUGIN_FOLDER ?= $(shell pkg-config --variable=pluginsdir gstreamer-1.0)
PRESET_FOLDER ?= $(shell pkg-config --variable=prefix gstreamer-1.0)/share/gstreamer-1.0/presets
PREFIX ?= /usr/local
COMMAND = .build/release/gst-spatial
INPUT ?=
OUTPUT ?=
SECONDS ?= 600

.PHONY: setup plugin command demo test bench fuzz install format

plugin: setup
	@echo "build: $(PLUGIN)"
	@$(SWIFT_BUILD) --quiet --product gstspatial

command: plugin
	@echo "build: $(COMMAND)"
	@$(SWIFT_BUILD) --quiet --product gst-spatial

setup:
	@scripts/setup

demo: plugin
	@scripts/demo "$(INPUT)" "$(OUTPUT)"

test:
	@scripts/setup python
	@scripts/test

bench: plugin
	@scripts/setup python
	@scripts/bench

fuzz: setup
	@scripts/fuzz $(SECONDS)

install: plugin command
	install -d "$(DESTDIR)$(PLUGIN_FOLDER)"
	install -m 644 -s $(PLUGIN) "$(DESTDIR)$(PLUGIN_FOLDER)/libgstspatial.so"
	install -d "$(DESTDIR)$(PRESET_FOLDER)"
	install -m 644 Plugins/Spatial/Presets/*.prs "$(DESTDIR)$(PRESET_FOLDER)"
	install -d "$(DESTDIR)$(PREFIX)/bin" "$(DESTDIR)$(PREFIX)/share/gst-spatial/pipelines"
	install -m 755 -s $(COMMAND) "$(DESTDIR)$(PREFIX)/bin/gst-spatial"
	install -m 644 pipelines/*.yaml "$(DESTDIR)$(PREFIX)/share/gst-spatial/pipelines"
	install -d "$(DESTDIR)$(PREFIX)/share/man/man1" \
	  "$(DESTDIR)$(PREFIX)/share/bash-completion/completions" \
	  "$(DESTDIR)$(PREFIX)/share/zsh/site-functions" \
	  "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d"
	install -m 644 docs/gst-spatial.1 "$(DESTDIR)$(PREFIX)/share/man/man1"
	$(COMMAND) --generate-completion-script bash \
	  > "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/gst-spatial"
	$(COMMAND) --generate-completion-script zsh \
	  > "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_gst-spatial"
	$(COMMAND) --generate-completion-script fish \
	  > "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/gst-spatial.fish"

format:
	swift format -i -r Package.swift Sources Plugins Tests Benchmarks Fuzz
