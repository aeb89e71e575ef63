import { isOverlong } from './document-limits.ts'
import type { Element } from './element.ts'
import { notValid, refuseIf, strictParser, type DocumentEvents } from './strict-parser.ts'

/** The root of a request: its name is any prefix and this ending, as `_Multi_Message` (ruling 4.2). */
export interface Root<D> extends Element<D> {
  readonly ending: string
}

/** An XML declaration has no reason to be longer. */
const declarationLengthMax = 256

/** Reads one document. */
export interface DocumentReader {
  /** Reads a piece of it; false: it is not valid, whatever follows. */
  write(piece: string): boolean
  /** Whether it was whole and valid. */
  end(): boolean
}

/**
 * Reads a document into a draft, in pieces as they come. It is not valid if it is not well-formed, breaks ruling 4.3, or has another
 * root; the draft is of no use then.
 */
export function documentReader<D>(root: Root<D>, draft: D): DocumentReader {
  const { events, isWhole } = structure(root, draft)
  const parser = strictParser(events)
  /** What came before it is long enough to hold a declaration; undefined from then on. */
  let start: string | undefined = ''
  let heldBack = ''

  function parse(text: string, isLast: boolean): void {
    if (start !== undefined) {
      start += text
      if (start.length < declarationLengthMax && !isLast) return
      text = withoutDeclaration(start)
      start = undefined
    }
    refuseIf(hasForbiddenCharacter(text))
    parser.write(text)
  }

  /** A carriage return is held back: it may be half of one line end. */
  function write(piece: string, isLast: boolean): void {
    const text = heldBack + piece
    heldBack = !isLast && text.endsWith('\r') ? '\r' : ''
    parse(withLineFeeds(text.slice(0, text.length - heldBack.length)), isLast)
  }

  return {
    write: (piece) => isValid(() => write(piece, false)),
    end: () =>
      isValid(() => {
        write('', true)
        parser.close()
      }) && isWhole(),
  }
}

function isValid(read: () => void): boolean {
  try {
    read()
    return true
  } catch (error) {
    if (error === notValid) return false
    throw error
  }
}

const declaration =
  /^<\?xml[ \t\n]+version[ \t\n]*=[ \t\n]*(["'])1\.\d+\1([ \t\n]+encoding[ \t\n]*=[ \t\n]*(["'])[\w.-]+\3)?([ \t\n]+standalone[ \t\n]*=[ \t\n]*(["'])(yes|no)\5)?[ \t\n]*\?>/

/** With line ends as XML reads them; twice as fast as a replacement. */
const withLineFeeds = (text: string): string =>
  text.includes('\r') ? text.split('\r\n').join('\n').split('\r').join('\n') : text

/** Refuses a malformed declaration, and a byte order mark that is not the first thing. */
function withoutDeclaration(document: string): string {
  const length = /^<\?xml[ \t\n?]/.test(document)
    ? declaration.exec(document.slice(0, declarationLengthMax))?.[0].length
    : 0
  const rest = document.slice(length)
  refuseIf(length === undefined || rest.startsWith('\ufeff'))
  return rest
}

/** What XML 1.0 excludes (a decoded text has no lone surrogates). */
const hasForbiddenCharacter = (document: string): boolean =>
  // eslint-disable-next-line no-control-regex
  /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(document)

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
