import type { ArrivingBody } from '@gateway/server'
import { trimWhiteSpace } from '@gateway/wire'
import { documentDecoder, type DocumentDecoder, startBytes } from './decode-document.ts'
import { type DocumentEvents, isOverlong, notValid, refuseIf, strictParser } from './strict-parser.ts'

/** Reader of an element into the draft `D`. Elements without a reader are ignored. */
export interface Element<D> {
  /** Called when the element opens. */
  readonly open?: (draft: D) => void
  /** Called when the element closes, with its own text, or `''` if it has none. */
  readonly text?: (draft: D, text: string) => void
  /** Readers of the child elements, by name. An element with `text` has none. */
  readonly inside?: ReadonlyMap<string, Element<D>>
}

/** Returns readers by element name. Letter case matters. */
export const elements = <D>(byName: Readonly<Record<string, Element<D>>>): ReadonlyMap<string, Element<D>> =>
  new Map(Object.entries(byName))

/** Returns the reader of an element whose text is trimmed of XML white space (ruling 4.2). */
export const trimmed = <D>(take: (draft: D, text: string) => void): Element<D> => ({
  text: (draft, text) => take(draft, trimWhiteSpace(text)),
})

/**
 * Reader of the root of a request. The name of the root is any prefix followed by this suffix, such as `_Multi_Message`
 * (ruling 4.2).
 */
export interface Root<D> extends Element<D> {
  readonly ending: string
}

/** Maximum length of an XML declaration, in characters. */
const declarationLengthMax = 256

/** Reader of one document. */
export interface DocumentReader {
  /** Reads the next piece. Returns false if the document is already known to be invalid. */
  write(piece: string): boolean
  /** Returns true if the document was complete and valid. */
  end(): boolean
}

/**
 * Returns a reader that fills a draft from the pieces of a document. A document is invalid if it is not well-formed,
 * breaks ruling 4.3, or has another root; the draft must not be used then.
 */
export function documentReader<D>(root: Root<D>, draft: D): DocumentReader {
  const { events, isWhole } = structure(root, draft)
  const parser = strictParser(events)
  /** Text received so far, until it is long enough to contain a declaration; undefined afterwards. */
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

  /** Holds back a trailing carriage return, because a line feed may follow in the next piece. */
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

/** Normalizes line ends as XML requires. Twice as fast as a replacement by regular expression. */
const withLineFeeds = (text: string): string =>
  text.includes('\r') ? text.split('\r\n').join('\n').split('\r').join('\n') : text

/** Removes the declaration. Refuses a malformed declaration, and a byte order mark that is not at the beginning. */
function withoutDeclaration(document: string): string {
  const length = /^<\?xml[ \t\n?]/.test(document)
    ? declaration.exec(document.slice(0, declarationLengthMax))?.[0].length
    : 0
  const rest = document.slice(length)
  refuseIf(length === undefined || rest.startsWith('\ufeff'))
  return rest
}

/** True if the document has a character that XML 1.0 excludes. Decoded text has no unpaired surrogates. */
const hasForbiddenCharacter = (document: string): boolean =>
  // oxlint-disable-next-line no-control-regex
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

/** Number of characters read in one turn of the event loop: 0.1 ms of work, or about 3 ms for the worst documents. */
const sliceLength = 4096

/**
 * Reads the given number of characters when it is the document's turn. Resolves to 'overloaded' if the wait was too
 * long.
 */
export type Pace = (characters: number, read: () => boolean) => Promise<boolean | 'overloaded'>

export type ReadOutcome = 'valid' | 'not-valid' | 'too-large' | 'overloaded' | 'aborted'

/**
 * Reads a document into a draft as it arrives. After the document is found to be invalid, receives and discards the
 * rest, because a document above the maximum size is reported as too large even if it is invalid (ruling 4.1). The
 * draft may be used only if the result is 'valid'.
 */
export async function readArriving<D>(
  body: ArrivingBody,
  contentType: string | undefined,
  { root, draft, pace }: { readonly root: Root<D>; readonly draft: D; readonly pace: Pace },
): Promise<ReadOutcome> {
  const reader = documentReader(root, draft)
  const texts = textsOf(body, contentType)
  for (;;) {
    const text = await texts()
    if (text === 'not-valid') return skipRest(body)
    if ('ended' in text) return text.ended
    for (let from = 0; from < text.decoded.length; from += sliceLength) {
      const slice = text.decoded.slice(from, from + sliceLength)
      const valid = await pace(slice.length, () => reader.write(slice))
      if (valid === 'overloaded') return abandon(body)
      if (!valid) return skipRest(body)
    }
    if (text.isLast) return reader.end() ? 'valid' : 'not-valid'
  }
}

type Text = { readonly decoded: string; readonly isLast: boolean } | { readonly ended: Exclude<ReadOutcome, 'valid'> }

/**
 * Returns a function that decodes the next bytes of a body. The first call waits for enough bytes to determine the
 * encoding.
 */
function textsOf(body: ArrivingBody, contentType: string | undefined): () => Promise<Text | 'not-valid'> {
  let decode: DocumentDecoder | undefined
  return async () => {
    let bytes: Buffer = Buffer.alloc(0)
    let isLast = false
    while (!isLast && (decode === undefined ? bytes.length < startBytes : bytes.length === 0)) {
      const next = await body.next()
      if (next === 'end') isLast = true
      else if (next !== 'bytes') return { ended: next }
      else bytes = bytes.length === 0 ? body.take() : Buffer.concat([bytes, body.take()])
    }
    decode ??= documentDecoder(bytes, contentType)
    const decoded = decode?.(bytes, isLast)
    return decoded === undefined ? 'not-valid' : { decoded, isLast }
  }
}

async function skipRest(body: ArrivingBody): Promise<ReadOutcome> {
  body.skip()
  const how = await body.next()
  return how === 'too-large' || how === 'aborted' ? how : 'not-valid'
}

/** Discards the rest of the body, so that the request can be answered at once. */
function abandon(body: ArrivingBody): ReadOutcome {
  body.skip()
  void body.next()
  return 'overloaded'
}
