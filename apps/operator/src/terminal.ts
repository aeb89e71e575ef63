import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { Input } from './context.ts'

/** Hides what readline would show of the typed characters. */
const nowhere = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() })

/** Asks on a terminal, reads the first line of a pipe. */
export const terminal = (stdin: NodeJS.ReadStream, stderr: NodeJS.WriteStream): Input => ({
  secret: async (question) => {
    const asking = stdin.isTTY
    if (asking) stderr.write(question)
    const lines = createInterface({ input: stdin, output: nowhere(), terminal: asking })
    try {
      for await (const line of lines) return line
      return ''
    } finally {
      lines.close()
      if (asking) stderr.write('\n')
    }
  },
})
