# SPDX-License-Identifier: MPL-2.0
# make demo [INPUT=movie.mp4 [OUTPUT=movie.mov]]   the main job
# make check                                       what a change needs first: two minutes
# make test                                        what a commit needs: ten minutes after the build
# make test-all                                    everything, with campaigns and soaks
# make plugin                                      .build/release/libgstspatial.so
# make command                                     .build/release/gst-spatial, which runs pipeline files
# make install [PREFIX=/usr/local] [DESTDIR=...]   what was built: plugin, command, pipelines, presets,
#                                                  completions, man page
# make uninstall [PREFIX=/usr/local] [DESTDIR=...] takes all of it away
# make x265-adapter [PREFIX=/usr/local] [DESTDIR=...]
#                                                  what is installed there encodes with the libx265 whose x265.h
#                                                  the C compiler finds, too; needs no Swift
# make deb [ARCH=arm64]                            a Debian package, in .build/packages; for arm64, made by
#                                                  Debian's Swift in a root of sid
# make tarball [ARCH=arm64]                        the built files and install.sh, in .build/packages
# make release                                     all files of a release, from a clean tag (docs/releasing.md)
# make bench                                       the figures of docs/figures.md
# make soak [MINUTES=120]                          live, and looking around in a window, each for that long
# make fuzz [SECONDS=600]                          looks for input that the readers do not stand
# make tsan                                        the elements' tests under ThreadSanitizer
# make asan                                        the same under AddressSanitizer
# make campaign                                    does to the ready pipelines what happens to recordings
# make kills [MOMENTS=50]                          recorders and packagers, killed at random moments
# make docs                                        the libraries' documentation, in .build/docs
# make format                                      swift format, in place

# With the index, which takes a fourteenth of the time: SwiftPM looks for tests in it.
SWIFT_BUILD = swift build -c release --disable-local-rpath
BUILT = .build/release
PLUGIN = $(BUILT)/libgstspatial.so
COMMAND = $(BUILT)/gst-spatial
VERSION_FILE = Sources/Model/StereoVideo/ProjectVersion.swift
VERSION := $(shell sed -n 's/.* current = "\(.*\)"/\1/p' $(VERSION_FILE))
RELEASE_DATE := $(shell sed -n 's/.* releaseDate = "\(.*\)"/\1/p' $(VERSION_FILE))

# Where packages and tarballs are put.
PACKAGES ?= .build/packages

PREFIX ?= /usr/local
# Where GStreamer looks by itself, if that is where we install; else the same place below PREFIX.
GSTREAMER_PREFIX = $(shell pkg-config --variable=prefix gstreamer-1.0 2>/dev/null)
ifeq ($(PREFIX),$(GSTREAMER_PREFIX))
PLUGIN_FOLDER ?= $(shell pkg-config --variable=pluginsdir gstreamer-1.0)
endif
PLUGIN_FOLDER ?= $(PREFIX)/lib/gstreamer-1.0
PRESET_FOLDER ?= $(PREFIX)/share/gstreamer-1.0/presets
PROFILE_FOLDER ?= $(PREFIX)/share/gstreamer-1.0/encoding-profiles
# What encodes with another libx265 than the one that this was built for: beside the folder of the plugin.
ADAPTER_FOLDER = $(shell dirname "$(PLUGIN_FOLDER)")/gst-spatial
# Where systemd looks, if PREFIX is /usr or /usr/local.
UNIT_FOLDER ?= $(PREFIX)/lib/systemd/system
UNITS = gst-spatial-channel@.service gst-spatial-serve.service
# Those that were made for a package.
ADAPTERS ?= .build/adapters
# What strips the installed programs; empty where a packager keeps the symbols.
STRIP_OPTION ?= -s

INPUT ?=
OUTPUT ?=
SECONDS ?= 600
MOMENTS ?= 50
MINUTES ?= 120

# What no clone can bring along: other makers' movies, the right to mount a file system, and a browser
# if Debian's cannot be had; nor what libx265 4.1 and 4.2 cannot do, and what 3.5 alone can.
MAY_SKIP ?= --may-skip ../shared/media --may-skip ../shared/mvc-media --may-skip "only root" --may-skip Chromium --may-skip "libx265 4.1" --may-skip "needs libx265 3.5"
.PHONY: setup plugin command demo lint check test test-all bench docs tsan asan campaign kills soak fuzz install \
  uninstall x265-adapter adapters deb tarball release format

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

lint:
	@scripts/lint

check: setup
	@scripts/test check $(MAY_SKIP)

# One call builds all: with several, cores are idle while one waits for the last module of another.
test: setup
	@scripts/setup python
	@echo "build: plugin, command and tests"
	@$(SWIFT_BUILD) --quiet --build-tests
	@scripts/test test $(MAY_SKIP)

test-all: plugin
	@scripts/setup python
	@scripts/test all $(MAY_SKIP)

bench: plugin
	@scripts/setup python
	@scripts/bench

docs: setup
	@scripts/docs

tsan: plugin
	@scripts/setup python
	@scripts/sanitize thread

asan: plugin
	@scripts/setup python
	@scripts/sanitize address

campaign: command
	@scripts/campaign

kills: command
	@scripts/setup python
	@GST_PLUGIN_PATH="$$PWD/.build/release" .venv/bin/python Tests/Tools/kill_streams.py --moments $(MOMENTS)

soak:
	@scripts/setup python
	@GST_SPATIAL_SOAK_MINUTES=$(MINUTES) scripts/test --plugin --filter SoakTests

fuzz: setup
	@scripts/fuzz $(SECONDS)

install:
	@for file in $(PLUGIN) $(COMMAND); do [ -e $$file ] || \
	  { echo "install: $$file is not built yet; run 'make command' first" >&2; exit 1; }; done
	install -D -m 644 $(STRIP_OPTION) $(PLUGIN) "$(DESTDIR)$(PLUGIN_FOLDER)/libgstspatial.so"
	install -d "$(DESTDIR)$(PRESET_FOLDER)" "$(DESTDIR)$(PREFIX)/share/gst-spatial/pipelines"
	install -m 644 Plugins/Spatial/Presets/*.prs "$(DESTDIR)$(PRESET_FOLDER)"
	install -D -m 644 Plugins/Spatial/Profiles/file-extension/spatial.gep \
	  "$(DESTDIR)$(PROFILE_FOLDER)/file-extension/spatial.gep"
	install -D -m 755 $(STRIP_OPTION) $(COMMAND) "$(DESTDIR)$(PREFIX)/bin/gst-spatial"
	install -m 644 pipelines/*.yaml "$(DESTDIR)$(PREFIX)/share/gst-spatial/pipelines"
	install -d "$(DESTDIR)$(PREFIX)/share/gst-spatial/pipelines/parts"
	install -m 644 pipelines/parts/*.yaml "$(DESTDIR)$(PREFIX)/share/gst-spatial/pipelines/parts"
	install -D -m 644 docs/gst-spatial.1 "$(DESTDIR)$(PREFIX)/share/man/man1/gst-spatial.1"
	install -d "$(DESTDIR)$(UNIT_FOLDER)"
	for unit in $(UNITS); do sed 's,@PREFIX@,$(PREFIX),' packaging/systemd/$$unit \
	  > "$(DESTDIR)$(UNIT_FOLDER)/$$unit"; done
	install -d "$(DESTDIR)$(PREFIX)/share/metainfo"
	sed 's/@VERSION@/$(VERSION)/; s/@DATE@/$(RELEASE_DATE)/' packaging/metainfo.xml \
	  > "$(DESTDIR)$(PREFIX)/share/metainfo/org.gst_spatial.gst_spatial.metainfo.xml"
	@scripts/completions "$(COMMAND)" "$(DESTDIR)$(PREFIX)/share"
	for file in $(wildcard $(ADAPTERS)/x265-*.so); do \
	  install -D -m 644 $(STRIP_OPTION) $$file "$(DESTDIR)$(ADAPTER_FOLDER)/$${file##*/}"; done
ifneq ($(PREFIX),$(GSTREAMER_PREFIX))
	@echo "install: GStreamer does not look in $(PREFIX) by itself; for gst-launch-1.0 and other programs:"
	@echo "  export GST_PLUGIN_PATH=$(PLUGIN_FOLDER) GST_PRESET_PATH=$(PRESET_FOLDER)"
	@echo "  export GST_ENCODING_TARGET_PATH=$(PROFILE_FOLDER)"
endif

uninstall:
	rm -f "$(DESTDIR)$(PLUGIN_FOLDER)/libgstspatial.so" "$(DESTDIR)$(PREFIX)/bin/gst-spatial" \
	  $(foreach file,$(notdir $(wildcard Plugins/Spatial/Presets/*.prs)),"$(DESTDIR)$(PRESET_FOLDER)/$(file)") \
	  "$(DESTDIR)$(PROFILE_FOLDER)/file-extension/spatial.gep" \
	  "$(DESTDIR)$(PREFIX)/share/man/man1/gst-spatial.1" \
	  "$(DESTDIR)$(PREFIX)/share/metainfo/org.gst_spatial.gst_spatial.metainfo.xml" \
	  $(foreach unit,$(UNITS),"$(DESTDIR)$(UNIT_FOLDER)/$(unit)") \
	  "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/gst-spatial" \
	  "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_gst-spatial" \
	  "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/gst-spatial.fish"
	rm -f "$(DESTDIR)$(ADAPTER_FOLDER)"/x265-*.so
	rmdir "$(DESTDIR)$(ADAPTER_FOLDER)" 2>/dev/null || :
	rm -rf "$(DESTDIR)$(PREFIX)/share/gst-spatial"

# Beside the folder of the plugin, which without GStreamer's development files only a search finds.
x265-adapter:
	@plugin=$$(find "$(DESTDIR)$(PLUGIN_FOLDER)" "$(DESTDIR)$(PREFIX)"/lib* -maxdepth 3 \
	  -name libgstspatial.so 2>/dev/null | head -n 1); \
	[ -n "$$plugin" ] || { echo "x265-adapter: gst-spatial is not installed below" \
	  "$(DESTDIR)$(PREFIX); PREFIX says where it is" >&2; exit 1; }; \
	scripts/x265-adapter "$${plugin%/*/*}/gst-spatial"

adapters:
	@scripts/x265-builds adapters $(ADAPTERS)

ifeq ($(ARCH),arm64)
deb tarball:
	@scripts/cross gstspatial gst-spatial
	@scripts/cross-package $@ $(VERSION) "$(PACKAGES)"
else
deb: command adapters
	@packaging/deb $(VERSION) "$(PACKAGES)" "$(ADAPTERS)"

tarball: command adapters
	@packaging/tarball $(VERSION) "$(PACKAGES)"
endif

release:
	@scripts/release $(VERSION)

format:
	swift format -i -r Package.swift Sources Plugins Tests Benchmarks Fuzz
