import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { Writable, type Readable } from 'node:stream'
import { Refused, type Input } from './command.ts'
import { printable } from './output.ts'

/** Creates a stream that discards the typed characters, which readline would otherwise show. */
const nowhere = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() })

/**
 * Creates an input that asks at a terminal, or reads the first line of a pipe. An end of input counts as an empty line.
 * Calls `interrupt` for a Ctrl-C during a question, because the terminal does not turn it into a signal then.
 */
export const terminal = (
  stdin: Readable & { readonly isTTY?: boolean },
  show: (text: string) => void,
  interrupt: () => void,
): Input => ({
  password: async () => {
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
      const secret = await ask('Password: ')
      if (!asks || secret === '') return secret
      if ((await ask('Password again: ')) === secret) return secret
      throw new Refused('The two passwords differ; nothing was done.')
    } finally {
      lines.close()
    }
  },
  isTerminal: stdin.isTTY === true,
  confirm: async (question) => {
    const output = new Writable({
      write(chunk: Buffer, _encoding, done) {
        show(chunk.toString())
        done()
      },
    })
    const lines = createInterface({ input: stdin, output, terminal: true, historySize: 0 })
    const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
    lines.on('SIGINT', () => {
      interrupt()
      lines.close()
    })
    const typed = new Promise<string>((resolve) => lines.question(`${printable(question)} [y/N] `, resolve))
    const answer = await Promise.race([typed, closed])
    lines.close()
    return /^\s*y(es)?\s*$/i.test(answer)
  },
  bytes: () => stdin,
  text: (path) => textOf(path === '-' ? stdin : createReadStream(path), path === '-' ? 'Standard input' : path),
})

async function* textOf(bytes: Readable, name: string): AsyncIterable<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  try {
    for await (const chunk of bytes) yield decoder.decode(chunk as Uint8Array, { stream: true })
    yield decoder.decode()
  } catch (problem) {
    const { code, message } = problem as NodeJS.ErrnoException
    if (code === undefined) throw problem
    const why = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'it is not UTF-8' : message
    throw new Refused(`${name} cannot be read: ${why}.`)
  }
}
