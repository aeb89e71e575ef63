const charactersMax = 500
/** No character of UTF-8 has more bytes. */
const bytesMax = charactersMax * 4

/** Collects the beginning of an answer. */
export interface AnswerBeginning {
  add(chunk: Buffer): void
  /** At most 500 characters that can be shown and stored: control characters but tabs and line breaks become U+FFFD. */
  text(): string
}

export function answerBeginning(): AnswerBeginning {
  const chunks: Buffer[] = []
  let missing = bytesMax
  return {
    add(chunk) {
      if (missing === 0) return
      // A copy: a slice would keep all of what was read.
      const taken = Buffer.from(chunk.subarray(0, missing))
      missing -= taken.length
      chunks.push(taken)
    },
    text: () => readable(Buffer.concat(chunks).toString('utf8')),
  }
}

const readable = (text: string): string =>
  text
    // eslint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '\ufffd')
    .slice(0, charactersMax)
    // Half of a character that does not fit.
    .replace(/[\ud800-\udbff]$/, '')
