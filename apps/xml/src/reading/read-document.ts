import { setImmediate } from 'node:timers/promises'
import { isOverlong } from './document-limits.ts'
import type { Element } from './element.ts'
import { notValid, refuseIf, strictParser, type DocumentEvents } from './strict-parser.ts'

/** The root of a request: its name is any prefix and this ending, as `_Multi_Message` (ruling 4.2). */
export interface Root<D> extends Element<D> {
  readonly ending: string
}

/** Characters parsed in one turn of the event loop: 0.5 ms, about 10 ms for the worst documents. */
const sliceLength = 16_384
/** Maximum length of an XML declaration. */
const declarationLengthMax = 256

/**
 * Reads a document into a draft. False if it is not well-formed, breaks ruling 4.3, or has another root; the draft is then
 * incomplete. A long document is parsed in slices, one for each turn of the event loop.
 */
export async function readDocument<D>(text: string, root: Root<D>, draft: D): Promise<boolean> {
  const document = withoutDeclaration(await withLineFeeds(text))
  if (document === undefined || hasForbiddenCharacter(document)) return false
  const { events, isWhole } = structure(root, draft)
  const parser = strictParser(document, events)
  try {
    for (let from = 0; from < document.length; from += sliceLength) {
      if (from > 0) await setImmediate()
      parser.write(document.slice(from, from + sliceLength))
    }
    parser.close()
  } catch (error) {
    if (error === notValid) return false
    throw error
  }
  return isWhole()
}

const declaration =
  /^<\?xml[ \t\n]+version[ \t\n]*=[ \t\n]*(["'])1\.\d+\1([ \t\n]+encoding[ \t\n]*=[ \t\n]*(["'])[\w.-]+\3)?([ \t\n]+standalone[ \t\n]*=[ \t\n]*(["'])(yes|no)\5)?[ \t\n]*\?>/

/** Normalizes line ends as XML requires. */
async function withLineFeeds(text: string): Promise<string> {
  if (!text.includes('\r')) return text
  const pieces: string[] = []
  for (let from = 0; from < text.length;) {
    if (from > 0) await setImmediate()
    // Do not split a CR LF pair.
    const to = from + sliceLength + (text[from + sliceLength] === '\n' ? 1 : 0)
    // Twice as fast as `replace`.
    pieces.push(text.slice(from, to).split('\r\n').join('\n').split('\r').join('\n'))
    from = to
  }
  return pieces.join('')
}

/** Undefined if the declaration is malformed. */
function withoutDeclaration(document: string): string | undefined {
  if (!/^<\?xml[ \t\n?]/.test(document)) return document
  const length = declaration.exec(document.slice(0, declarationLengthMax))?.[0].length
  return length === undefined ? undefined : document.slice(length)
}

/** Characters that XML 1.0 excludes (a decoded text has no lone surrogates), and a second byte order mark. */
const hasForbiddenCharacter = (document: string): boolean =>
  // eslint-disable-next-line no-control-regex
  /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|^\ufeff/.test(document)

/** Follows the elements from the root down and calls their readers. */
function structure<D>(root: Root<D>, draft: D) {
  const opened: (Element<D> | undefined)[] = []
  let text = ''
  let whole = false

  const enter = (name: string): Element<D> | undefined => {
    if (opened.length > 0) return opened.at(-1)?.inside?.get(name)
    refuseIf(name.indexOf('_') < 1 || name.slice(name.indexOf('_')) !== root.ending)
    return root
  }
  const events: DocumentEvents = {
    open: (name) => {
      const element = enter(name)
      opened.push(element)
      element?.open?.(draft)
      if (element?.text !== undefined) text = ''
    },
    text: (piece) => {
      if (opened.at(-1)?.text !== undefined) text += piece
    },
    close: () => {
      const element = opened.pop()
      if (element?.text !== undefined) {
        refuseIf(isOverlong(text))
        element.text(draft, text)
      }
      whole = opened.length === 0
    },
  }
  return { events, isWhole: () => whole }
}
