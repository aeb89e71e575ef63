import { create, fragment } from 'xmlbuilder2'
import { escapeText } from './escape.ts'

const mark = '{}'

/**
 * Elements as xmlbuilder2 writes them, each rendered once, when the process starts, and filled ever after: building the answer to
 * 1000 recipients takes it 6 to 10 ms, filling 0.2 ms. The tests prove that the documents are the same.
 */
const filler = (filled: string, empty: string) => {
  const [before = '', after = ''] = filled.split(mark)
  return (content: string): string => (content === '' ? empty : before + content + after)
}

/** An element around others, which are written already. */
export const container = (name: string): ((content: string) => string) =>
  filler(fragment().ele(name).txt(mark).up().toString(), fragment().ele(name).up().toString())

/** An element with any text. */
export const leaf = (name: string): ((text: string | number) => string) => {
  const fill = container(name)
  return (text) => fill(escapeText(String(text)))
}

/** A document with this root (ruling 4.7). An empty result is an empty root (ruling 4.10). */
export const document = (root: string): ((content: string) => string) => {
  const start = () => create({ version: '1.0', encoding: 'utf-8' }).ele(root)
  return filler(start().txt(mark).end(), start().end())
}
