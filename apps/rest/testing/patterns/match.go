package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"os"
	"regexp"
	"unicode/utf8"
)

func decoded(text string) string {
	bytes, _ := base64.StdEncoding.DecodeString(text)
	return string(bytes)
}

func main() {
	file, _ := os.Open(os.Args[1])
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var least, most int
		var pattern, sample string
		fmt.Sscanf(lines.Text(), "%d %d %s %s", &least, &most, &pattern, &sample)
		sample = decoded(sample)
		length := utf8.RuneCountInString(sample)
		compiled, err := regexp.Compile(decoded(pattern))
		if err != nil {
			fmt.Println("!")
		} else if compiled.MatchString(sample) && least <= length && length <= most {
			fmt.Println("1")
		} else {
			fmt.Println("0")
		}
	}
}
