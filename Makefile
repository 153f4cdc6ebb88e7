# A few words in front of Meson (docs/adr/0001-build.md): make, make demo, make check, make bench, make install.
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=

.DELETE_ON_ERROR:
.PHONY: all demo check bench install clean format deps

# Meson looks for sources and libraries only when it configures: what came or went since has to ask for that.
FOUND = { tools/sources 'src/*.c' 'src/*/*.c' 'test/*/*.c' 'bench/*.c'; pkg-config --modversion cmocka 2>/dev/null || true; }

all: $(BUILD)/build.ninja
	@$(FOUND) >$(BUILD)/sources.new
	@cmp -s $(BUILD)/sources.new $(BUILD)/sources.list || meson setup --reconfigure $(BUILD) >$(BUILD)/setup.log || \
		{ cat $(BUILD)/setup.log; false; }
	@mv $(BUILD)/sources.new $(BUILD)/sources.list
	@ninja -C $(BUILD) --quiet
	@ln -sf fabperf $(BUILD)/qperf

$(BUILD)/build.ninja:
	@command -v meson ninja >/dev/null || { echo 'make: meson and ninja are needed to build; "make deps" installs them' >&2; exit 1; }
	@mkdir -p $(BUILD)
	@meson setup $(BUILD) >$(BUILD)/setup.log || { cat $(BUILD)/setup.log; echo 'make: "make deps" installs what is missing' >&2; false; }
	@$(FOUND) >$(BUILD)/sources.list

demo:
	@tools/deps build demo
	@$(MAKE) --no-print-directory all
	@tools/demo

check:
	@tools/deps build demo test
	@tools/check

bench: all
	@bench/run

install: all
	@meson configure $(BUILD) -Dprefix=$(PREFIX)
	@ninja -C $(BUILD) --quiet >$(BUILD)/setup.log || { cat $(BUILD)/setup.log; false; }
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) --quiet --no-rebuild

clean:
	@rm -rf $(BUILD)

format:
	@find src test bench -name '*.[ch]' -exec clang-format -i {} +

# What is missing of Debian's packages: tools/deps --list shows what each is for.
deps:
	@tools/deps build demo test
