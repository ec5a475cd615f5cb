// Extracts the tar stream from standard input into the working directory by Go's archive/tar.
package main

import (
	"archive/tar"
	"io"
	"os"
	"strings"
	"syscall"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	stream := tar.NewReader(os.Stdin)
	for {
		entry, err := stream.Next()
		if err == io.EOF {
			return
		}
		check(err)
		mode := os.FileMode(entry.Mode).Perm()
		switch entry.Typeflag {
		case tar.TypeDir:
			// A directory comes behind what is in it.
			check(os.MkdirAll(entry.Name, 0o755))
		case tar.TypeReg:
			check(os.MkdirAll(parent(entry.Name), 0o755))
			file, err := os.Create(entry.Name)
			check(err)
			_, err = io.Copy(file, stream)
			check(err)
			check(file.Close())
		case tar.TypeLink:
			check(os.Link(entry.Linkname, entry.Name))
			continue
		default:
			continue
		}
		for key, value := range entry.PAXRecords {
			if name := strings.TrimPrefix(key, "SCHILY.xattr."); name != key {
				check(syscall.Setxattr(entry.Name, name, []byte(value), 0))
			}
		}
		check(os.Chmod(entry.Name, mode))
		check(os.Chtimes(entry.Name, entry.ModTime, entry.ModTime))
	}
}

func parent(path string) string {
	return "./" + path[:strings.LastIndex("/"+path, "/")]
}
