import { create, fragment } from 'xmlbuilder2'
import { escapeText } from './escape.ts'

const mark = '{}'

/**
 * Templates that xmlbuilder2 renders once, when the process starts, and that are filled for each answer: building the answer for
 * 1000 recipients takes xmlbuilder2 6 to 10 ms, filling 0.2 ms. The tests prove that the documents are equal.
 */
const filler = (filled: string, empty: string) => {
  const [before = '', after = ''] = filled.split(mark)
  return (content: string): string => (content === '' ? empty : before + content + after)
}

/** An element around rendered child elements. */
export const container = (name: string): ((content: string) => string) =>
  filler(fragment().ele(name).txt(mark).up().toString(), fragment().ele(name).up().toString())

/** An element with text, which is escaped. */
export const leaf = (name: string): ((text: string | number) => string) => {
  const fill = container(name)
  return (text) => fill(escapeText(String(text)))
}

/** A document with this root (ruling 4.7). An empty result is an empty root (ruling 4.10). */
export const document = (root: string): ((content: string) => string) => {
  const start = () => create({ version: '1.0', encoding: 'utf-8' }).ele(root)
  return filler(start().txt(mark).end(), start().end())
}
