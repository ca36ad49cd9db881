//go:build linux

package hotfixtest

import (
	"bytes"
	"encoding/binary"
	"runtime"
)

// Tiny is a program of a few hundred bytes that needs nothing of its machine: no memory,
// no thread, no file. It prints the words that it was started with, its own name first,
// each with a blank behind it, and ends with an exit code. There is one for amd64 only.
func Tiny(exit byte) (image []byte, made bool) {
	if runtime.GOARCH != "amd64" {
		return nil, false
	}
	const address, header = 0x400000, 64 + 56
	size := uint64(header + len(tinyCode))
	var out bytes.Buffer
	for _, field := range []any{
		// https://refspecs.linuxfoundation.org/elf/gabi4+/ch4.eheader.html
		[]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"), uint16(2), uint16(62), uint32(1),
		uint64(address + header), uint64(64), uint64(0), uint32(0), uint16(64), uint16(56), uint16(1), uint16(0), uint16(0),
		uint16(0),
		// the one segment: readable, executable
		uint32(1), uint32(5), uint64(0), uint64(address), uint64(address), size, size, uint64(0x1000),
	} {
		_ = binary.Write(&out, binary.LittleEndian, field) // a buffer takes everything
	}
	image = append(out.Bytes(), tinyCode...)
	image[header+tinyExit] = exit
	return image, true
}

// tinyExit is where the exit code stands in the code.
const tinyExit = 0x4d

var tinyCode = []byte{
	0x4c, 0x8d, 0x64, 0x24, 0x08, // lea r12, [rsp+8]: the words
	0xbb, 0x01, 0x00, 0x00, 0x00, // mov ebx, 1: standard output
	// next:
	0x49, 0x8b, 0x34, 0x24, // mov rsi, [r12]
	0x49, 0x83, 0xc4, 0x08, // add r12, 8
	0x48, 0x85, 0xf6, // test rsi, rsi
	0x74, 0x24, // jz done
	0x31, 0xd2, // xor edx, edx
	// length:
	0x80, 0x3c, 0x16, 0x00, // cmp byte [rsi+rdx], 0
	0x74, 0x04, // je out
	0xff, 0xc2, // inc edx
	0xeb, 0xf6, // jmp length
	// out:
	0xe8, 0x30, 0x00, 0x00, 0x00, // call write
	0x48, 0x8d, 0x35, 0x33, 0x00, 0x00, 0x00, // lea rsi, [rip+blank]
	0xba, 0x01, 0x00, 0x00, 0x00, // mov edx, 1
	0xe8, 0x1f, 0x00, 0x00, 0x00, // call write
	0xeb, 0xcf, // jmp next
	// done:
	0x48, 0x8d, 0x35, 0x21, 0x00, 0x00, 0x00, // lea rsi, [rip+line]
	0xba, 0x01, 0x00, 0x00, 0x00, // mov edx, 1
	0xe8, 0x0c, 0x00, 0x00, 0x00, // call write
	0xbf, 0x07, 0x00, 0x00, 0x00, // mov edi, 7: the exit code
	0xb8, 0x3c, 0x00, 0x00, 0x00, // mov eax, 60: exit
	0x0f, 0x05, // syscall
	// write:
	0x89, 0xdf, // mov edi, ebx
	0xb8, 0x01, 0x00, 0x00, 0x00, // mov eax, 1: write
	0x0f, 0x05, // syscall
	0xc3,      // ret
	' ', '\n', // blank and line
}
