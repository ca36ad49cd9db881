package program

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"io"
	"strings"
)

// machines are the architectures of ELF by machine, class and byte order.
func machines() map[elf.Machine]map[string]string {
	return map[elf.Machine]map[string]string{
		elf.EM_386:       {"32le": "386"},
		elf.EM_X86_64:    {"64le": "amd64"},
		elf.EM_ARM:       {"32le": "arm"},
		elf.EM_AARCH64:   {"64le": "arm64"},
		elf.EM_LOONGARCH: {"64le": "loong64"},
		elf.EM_MIPS:      {"32be": "mips", "32le": "mipsle", "64be": "mips64", "64le": "mips64le"},
		elf.EM_PPC64:     {"64be": "ppc64", "64le": "ppc64le"},
		elf.EM_RISCV:     {"64le": "riscv64"},
		elf.EM_S390:      {"64be": "s390x"},
	}
}

// systems are the operating systems that say who they are in ELF's header; most
// programs for Linux don't, and are known by that.
func systems() map[elf.OSABI]string {
	return map[elf.OSABI]string{
		elf.ELFOSABI_NONE: "linux", elf.ELFOSABI_LINUX: "linux", elf.ELFOSABI_FREEBSD: "freebsd",
		elf.ELFOSABI_NETBSD: "netbsd", elf.ELFOSABI_OPENBSD: "openbsd",
	}
}

// notes are the sections by which the systems that leave the header's field
// empty say who they are.
func notes() map[string]string {
	return map[string]string{".note.netbsd.ident": "netbsd", ".note.openbsd.ident": "openbsd", ".note.tag": "freebsd"}
}

func (p *Program) readELF(file io.ReaderAt) error {
	parsed, err := elf.NewFile(file)
	if err != nil {
		return p.defect("is a damaged ELF file: "+err.Error(), "build it again")
	}
	defer parsed.Close()
	if parsed.Type != elf.ET_EXEC && parsed.Type != elf.ET_DYN {
		return p.defect("is an ELF file, but no program: it has type "+parsed.Type.String(), "link it")
	}
	p.Format = ELF
	order := "le"
	if parsed.ByteOrder == binary.BigEndian {
		order = "be"
	}
	class := "64"
	if parsed.Class == elf.ELFCLASS32 {
		class = "32"
	}
	architecture, found := machines()[parsed.Machine][class+order]
	if !found {
		architecture = parsed.Machine.String() + "-" + class + order
	}
	system, found := systems()[parsed.OSABI]
	if !found {
		system = parsed.OSABI.String()
	}
	for _, section := range parsed.Sections {
		if named, found := notes()[section.Name]; found {
			system = named
		}
	}
	p.Platforms = []Platform{{OS: system, Arch: architecture}}
	return p.readLoader(parsed)
}

// readLoader finds the program that the kernel starts in the file's stead.
func (p *Program) readLoader(parsed *elf.File) error {
	for _, segment := range parsed.Progs {
		if segment.Type != elf.PT_INTERP {
			continue
		}
		raw := make([]byte, min(segment.Filesz, 4096))
		if _, err := segment.ReadAt(raw, 0); err != nil {
			return p.defect("is a damaged ELF file: its loader can't be read", "build it again")
		}
		p.Loader = strings.TrimRight(string(raw), "\x00")
		return nil
	}
	if parsed.Type == elf.ET_DYN && parsed.Entry == 0 {
		return p.defect("is a shared library, not a program", "link it as a program")
	}
	return nil
}

func isMachO(head []byte) bool {
	if len(head) < 8 {
		return false
	}
	switch binary.BigEndian.Uint32(head) {
	case macho.MagicFat:
		// Java's class files begin the same: their next word is a version from 45.
		return binary.BigEndian.Uint32(head[4:]) < 45
	case macho.Magic32, macho.Magic64:
		return true
	}
	little := binary.LittleEndian.Uint32(head)
	return little == macho.Magic32 || little == macho.Magic64
}

func (p *Program) readMachO(file io.ReaderAt) error {
	p.Format = MachO
	headers, err := machHeaders(file, p.head)
	if err != nil {
		return p.defect("is a damaged Mach-O file: "+err.Error(), "build it again")
	}
	for _, header := range headers {
		if header.Type != macho.TypeExec {
			return p.defect("is a Mach-O file, but no program: it has type "+header.Type.String(), "link it")
		}
		architecture := map[macho.Cpu]string{
			macho.Cpu386: "386", macho.CpuAmd64: "amd64", macho.CpuArm: "arm", macho.CpuArm64: "arm64", macho.CpuPpc: "ppc",
			macho.CpuPpc64: "ppc64",
		}[header.Cpu]
		if architecture == "" {
			architecture = header.Cpu.String()
		}
		p.Platforms = append(p.Platforms, Platform{OS: "darwin", Arch: architecture})
	}
	return nil
}

func machHeaders(file io.ReaderAt, head []byte) ([]macho.FileHeader, error) {
	if binary.BigEndian.Uint32(head) != macho.MagicFat {
		parsed, err := macho.NewFile(file)
		if err != nil {
			return nil, err
		}
		defer parsed.Close()
		return []macho.FileHeader{parsed.FileHeader}, nil
	}
	fat, err := macho.NewFatFile(file)
	if err != nil {
		return nil, err
	}
	defer fat.Close()
	var headers []macho.FileHeader
	for _, part := range fat.Arches {
		headers = append(headers, part.FileHeader)
	}
	return headers, nil
}

func (p *Program) readPE(file io.ReaderAt) error {
	parsed, err := pe.NewFile(file)
	if err != nil {
		return p.defect("is a damaged PE file: "+err.Error(), "build it again")
	}
	defer parsed.Close()
	p.Format = PE
	architecture := map[uint16]string{
		pe.IMAGE_FILE_MACHINE_I386: "386", pe.IMAGE_FILE_MACHINE_AMD64: "amd64", pe.IMAGE_FILE_MACHINE_ARM64: "arm64",
		pe.IMAGE_FILE_MACHINE_ARMNT: "arm",
	}[parsed.Machine]
	if architecture == "" {
		architecture = "an unknown architecture"
	}
	p.Platforms = []Platform{{OS: "windows", Arch: architecture}}
	return nil
}

// readScript understands the first line of a script.
func (p *Program) readScript() error {
	p.Format = Script
	line, _, whole := bytes.Cut(p.head[2:], []byte("\n"))
	if !whole && len(p.head) == headSize {
		return p.defect("has a #! line of more than 255 bytes, which kernels cut off", "shorten the line")
	}
	if bytes.HasSuffix(line, []byte("\r")) {
		return p.defect("has a #! line that ends in a carriage return, which becomes part of the interpreter's name",
			"sed -i 's/\\r$//' "+p.Path)
	}
	p.Interpreter = strings.Fields(string(line))
	if len(p.Interpreter) == 0 {
		return p.defect("has a #! line that names no interpreter", "write one there, such as #!/usr/bin/env bash")
	}
	return nil
}
