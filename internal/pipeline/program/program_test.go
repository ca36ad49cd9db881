package program_test

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"salve/internal/pipeline/program"
)

// image is an ELF file without content: what its header says, and its loader.
type image struct {
	class   elf.Class
	order   elf.Data
	machine elf.Machine
	abi     elf.OSABI
	kind    elf.Type
	loader  string
}

func (i image) bytes(t *testing.T) []byte {
	t.Helper()
	order := binary.ByteOrder(binary.LittleEndian)
	if i.order == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(i.class), byte(i.order), byte(elf.EV_CURRENT), byte(i.abi)}
	segments := uint16(0)
	if i.loader != "" {
		segments = 1
	}
	var out bytes.Buffer
	write := func(value any) {
		if err := binary.Write(&out, order, value); err != nil {
			t.Fatal(err)
		}
	}
	if i.class == elf.ELFCLASS32 {
		write(elf.Header32{Ident: ident, Type: uint16(i.kind), Machine: uint16(i.machine), Version: 1, Entry: 0x1000,
			Phoff: 52, Ehsize: 52, Phentsize: 32, Phnum: segments})
		if i.loader != "" {
			write(elf.Prog32{Type: uint32(elf.PT_INTERP), Off: 84, Filesz: uint32(len(i.loader) + 1)})
		}
	} else {
		write(elf.Header64{Ident: ident, Type: uint16(i.kind), Machine: uint16(i.machine), Version: 1, Entry: 0x1000,
			Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: segments})
		if i.loader != "" {
			write(elf.Prog64{Type: uint32(elf.PT_INTERP), Off: 120, Filesz: uint64(len(i.loader) + 1)})
		}
	}
	out.WriteString(i.loader + "\x00")
	return out.Bytes()
}

func elf64(machine elf.Machine, loader string) image {
	return image{elf.ELFCLASS64, elf.ELFDATA2LSB, machine, elf.ELFOSABI_NONE, elf.ET_EXEC, loader}
}

func machO(cpu macho.Cpu, kind macho.Type) []byte {
	var out bytes.Buffer
	_ = binary.Write(&out, binary.LittleEndian, macho.FileHeader{Magic: macho.Magic64, Cpu: cpu, Type: kind})
	return append(out.Bytes(), make([]byte, 4)...) // the reserved word of 64-bit headers
}

// fat puts Mach-O programs into one file.
func fat(programs ...[]byte) []byte {
	const page = 4096
	var out bytes.Buffer
	_ = binary.Write(&out, binary.BigEndian, []uint32{macho.MagicFat, uint32(len(programs))})
	for i, raw := range programs {
		cpu := binary.LittleEndian.Uint32(raw[4:])
		_ = binary.Write(&out, binary.BigEndian, []uint32{cpu, 0, uint32(page * (i + 1)), uint32(len(raw)), 12})
	}
	for i, raw := range programs {
		out.Write(make([]byte, page*(i+1)-out.Len()))
		out.Write(raw)
	}
	return out.Bytes()
}

func portable(machine uint16) []byte {
	var out bytes.Buffer
	dos := make([]byte, 96)
	copy(dos, "MZ")
	dos[0x3c] = 96
	out.Write(dos)
	out.WriteString("PE\x00\x00")
	_ = binary.Write(&out, binary.LittleEndian, pe.FileHeader{Machine: machine})
	return out.Bytes()
}

func put(t *testing.T, raw []byte, mode fs.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "helper")
	if err := os.WriteFile(path, raw, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// amd64 is a machine with nothing but a loader and a shell.
func amd64() program.Machine {
	return program.Machine{
		Platform: program.Platform{OS: "linux", Arch: "amd64"},
		Exists:   func(path string) bool { return path == "/lib64/ld-linux-x86-64.so.2" || path == "/usr/bin/env" },
		Find:     func(string) (string, error) { return "", exec.ErrNotFound },
		Emulates: func([]byte) bool { return false },
	}
}

func on(os, arch, variant string) program.Machine {
	return program.There(program.Platform{OS: os, Arch: arch, Variant: variant})
}

const loader = "/lib64/ld-linux-x86-64.so.2"

// TestVerdicts: each kind of program on a machine, and the words of the refusal;
// no words mean that it runs.
func TestVerdicts(t *testing.T) {
	big := image{elf.ELFCLASS64, elf.ELFDATA2MSB, elf.EM_PPC64, elf.ELFOSABI_NONE, elf.ET_EXEC, ""}
	thirtyTwo := image{elf.ELFCLASS32, elf.ELFDATA2LSB, elf.EM_386, elf.ELFOSABI_NONE, elf.ET_EXEC, ""}
	arm := image{elf.ELFCLASS32, elf.ELFDATA2LSB, elf.EM_ARM, elf.ELFOSABI_NONE, elf.ET_EXEC, ""}
	bsd := image{elf.ELFCLASS64, elf.ELFDATA2LSB, elf.EM_X86_64, elf.ELFOSABI_FREEBSD, elf.ET_EXEC, ""}
	both := fat(machO(macho.CpuAmd64, macho.TypeExec), machO(macho.CpuArm64, macho.TypeExec))
	emulating := amd64()
	emulating.Emulates = func(head []byte) bool { return bytes.HasPrefix(head, []byte("\x7fELF")) }
	translating := on("darwin", "arm64", "")
	translating.Exists = func(path string) bool { return strings.Contains(path, "oah") }
	for _, test := range []struct {
		name    string
		raw     []byte
		machine program.Machine
		refused string
	}{
		{"its own platform", elf64(elf.EM_X86_64, "").bytes(t), amd64(), ""},
		{"another architecture", elf64(elf.EM_AARCH64, "").bytes(t), amd64(),
			"is a program for linux/arm64 (ELF, statically linked), which this machine, linux/amd64, cannot execute. hint: " +
				"salve pipeline build p.yaml"},
		{"the other byte order", big.bytes(t), on("linux", "ppc64le", ""), "is a program for linux/ppc64 "},
		{"32 bits on 64", thirtyTwo.bytes(t), amd64(), ""},
		{"64 bits on 32", elf64(elf.EM_X86_64, "").bytes(t), on("linux", "386", ""), "linux/amd64"},
		{"32-bit ARM on 64-bit ARM", arm.bytes(t), on("linux", "arm64", "v8"), "linux/arm "},
		{"another system of the same machine", bsd.bytes(t), amd64(), "freebsd/amd64"},
		{"a loader that is there", elf64(elf.EM_X86_64, loader).bytes(t), amd64(), ""},
		{"a loader that is missing", elf64(elf.EM_X86_64, "/lib/ld-musl-x86_64.so.1").bytes(t), amd64(),
			"is for linux/amd64 as this machine is, but it is linked dynamically and its loader /lib/ld-musl-x86_64.so.1 is " +
				"not here. hint: link it statically, or install the musl C library here"},
		{"a loader on a machine that can't be looked at", elf64(elf.EM_X86_64, "/nowhere").bytes(t), on("linux", "amd64", ""),
			""},
		{"an emulator that the kernel knows", elf64(elf.EM_AARCH64, "").bytes(t), emulating, ""},
		{"Apple's on Linux", machO(macho.CpuAmd64, macho.TypeExec), amd64(), "darwin/amd64 (Mach-O)"},
		{"two in one", both, on("darwin", "arm64", ""), ""},
		{"two in one on Linux", both, amd64(), "darwin/amd64 and darwin/arm64"},
		{"Apple's own emulator", machO(macho.CpuAmd64, macho.TypeExec), translating, ""},
		{"without Apple's own emulator", machO(macho.CpuAmd64, macho.TypeExec), on("darwin", "arm64", ""), "darwin/amd64"},
		{"Windows' on Linux", portable(pe.IMAGE_FILE_MACHINE_AMD64), amd64(), "windows/amd64 (PE)"},
		{"Windows' own emulator", portable(pe.IMAGE_FILE_MACHINE_AMD64), on("windows", "arm64", ""), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			found, err := program.Examine(put(t, test.raw, 0o755))
			if err != nil {
				t.Fatal(err)
			}
			refused(t, test.machine.Fit(found, "salve pipeline build p.yaml"), test.refused)
		})
	}
}

func refused(t *testing.T, err error, words string) {
	t.Helper()
	switch {
	case words == "" && err != nil:
		t.Errorf("refused: %v", err)
	case words != "" && err == nil:
		t.Errorf("not refused, want %q", words)
	case words != "" && !strings.Contains(err.Error(), words):
		t.Errorf("refused with\n%v\nwant\n%s", err, words)
	}
}

// TestDefects: files that no machine can execute, each with what mends it.
func TestDefects(t *testing.T) {
	object := elf64(elf.EM_X86_64, "")
	object.kind = elf.ET_REL
	for _, test := range []struct {
		name string
		raw  string
		mode fs.FileMode
		says string
	}{
		{"empty", "", 0o755, "is empty, so that executing it would do nothing and succeed"},
		{"not executable", "#!/bin/sh\n", 0o644, "is not executable. hint: chmod +x "},
		{"text without an interpreter", "echo hello\n", 0o755, "is text without a #! line"},
		{"a carriage return", "#!/bin/sh\r\necho\r\n", 0o755, "carriage return"},
		{"a byte order mark", "\xef\xbb\xbf#!/bin/sh\n", 0o755, "byte order mark"},
		{"no interpreter named", "#!  \n", 0o755, "names no interpreter"},
		{"an endless first line", "#!/bin/sh " + strings.Repeat("x", 300), 0o755, "more than 255 bytes"},
		{"no known format", "\x00\x01\x02 what is this", 0o755, "neither a program of a known format"},
		{"half a header", "\x7fELF\x02\x01\x01", 0o755, "damaged ELF"},
		{"an object file", string(object.bytes(t)), 0o755, "is an ELF file, but no program: it has type ET_REL"},
		{"a dynamic library", string(machO(macho.CpuArm64, macho.TypeDylib)), 0o755, "no program"},
		{"half of Windows'", "MZ", 0o755, "damaged PE"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := program.Examine(put(t, []byte(test.raw), test.mode))
			var defect *program.DefectError
			if !errors.As(err, &defect) || defect.Mend == "" {
				t.Fatalf("got %v", err)
			}
			refused(t, err, test.says)
		})
	}
	if _, err := program.Examine(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := program.Examine("/no/such/file"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// TestScripts: a script runs where its interpreter does.
func TestScripts(t *testing.T) {
	native := put(t, elf64(elf.EM_X86_64, "").bytes(t), 0o755)
	foreign := put(t, elf64(elf.EM_AARCH64, "").bytes(t), 0o755)
	loop := put(t, nil, 0o755)
	if err := os.WriteFile(loop, []byte("#!"+loop+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	machine := amd64()
	machine.Exists = func(path string) bool { return path != "/usr/bin/python9" }
	machine.Find = func(command string) (string, error) {
		switch command {
		case "native":
			return native, nil
		case "foreign":
			return foreign, nil
		}
		return "", exec.ErrNotFound
	}
	for _, test := range []struct{ name, line, refused string }{
		{"by its path", "#!" + native, ""},
		{"by its path, with an argument", "#!" + native + " -eu", ""},
		{"through env", "#!/usr/bin/env native", ""},
		{"through env with options", "#!/usr/bin/env -S X=1 native -u", ""},
		{"through env with options, in one word", "#!/usr/bin/env -Snative -u", ""},
		{"through env without its -S", "#!/usr/bin/env native -u", "write #!/usr/bin/env -S native -u"},
		{"missing", "#!/usr/bin/python9", "needs the interpreter /usr/bin/python9, which is not on this machine"},
		{"not on the PATH", "#!/usr/bin/env ruby",
			`needs the interpreter "ruby", which is not on the PATH. hint: install ruby`},
		{"for another machine", "#!/usr/bin/env foreign", "is a program for linux/arm64"},
		{"relative", "#!bin/sh", "relative to wherever"},
		{"env alone", "#!/usr/bin/env", "asks env for no command"},
		{"itself", "#!" + loop, "and so on"},
	} {
		t.Run(test.name, func(t *testing.T) {
			found, err := program.Examine(put(t, []byte(test.line+"\n"), 0o755))
			if err != nil {
				t.Fatal(err)
			}
			refused(t, machine.Fit(found, ""), test.refused)
			if err := program.There(program.Host()).Fit(found, ""); err != nil {
				t.Errorf("refused on a machine that can't be looked at: %v", err)
			}
		})
	}
}

// TestOneself: the test's own program runs here, and tells that Go built it.
func TestOneself(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	found, err := program.Examine(path)
	if err != nil {
		t.Fatal(err)
	}
	if found.Go == nil || !strings.HasPrefix(found.Go.Version, "go1.") {
		t.Errorf("build information: %+v", found.Go)
	}
	if err := program.Here().Fit(found, ""); err != nil {
		t.Errorf("refused: %v", err)
	}
}

func TestPlatforms(t *testing.T) {
	for text, problem := range map[string]string{
		"linux/amd64": "", "linux/arm64/v8": "", "linux/arm/v7": "", "darwin/arm64": "",
		"linux": "it is OS/ARCH", "linux/x86_64": "it is one of 386, amd64", "beos/amd64": `"beos" is not known`,
		"linux/arm/v9": `no variant "v9"`, "linux/amd64/v3": "no variant", "a/b/c/d": "it is OS/ARCH",
	} {
		platform, err := program.ParsePlatform(text)
		refused(t, err, problem)
		if err == nil && platform.String() != text {
			t.Errorf("%s became %s", text, platform)
		}
	}
}
