import { createInterface } from 'node:readline'
import { Writable, type Readable } from 'node:stream'
import type { Input } from './context.ts'

/** Hides what readline would show of the typed characters. */
const nowhere = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() })

/**
 * Asks on a terminal, reads the first line of a pipe; an end without a line counts as a blank one. `interrupt` is called for
 * a Ctrl-C while it asks, which the terminal then does not turn into a signal.
 */
export const terminal = (
  stdin: Readable & { readonly isTTY?: boolean },
  show: (text: string) => void,
  interrupt: () => void,
): Input => ({
  secret: async (question) => {
    const asks = stdin.isTTY === true
    const lines = createInterface({ input: stdin, output: nowhere(), terminal: asks, historySize: 0 })
    lines.on('SIGINT', interrupt)
    const typed = lines[Symbol.asyncIterator]()
    const ask = async (text: string): Promise<string> => {
      if (asks) show(text)
      const line = await typed.next()
      if (asks) show('\n')
      return line.done === true ? '' : line.value
    }
    try {
      const secret = await ask(`${question}: `)
      if (!asks || secret === '') return secret
      return (await ask(`${question} again: `)) === secret ? secret : undefined
    } finally {
      lines.close()
    }
  },
})
