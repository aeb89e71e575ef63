import type { ArrivingBody } from '@gateway/server'
import { trimWhiteSpace } from '@gateway/wire'
import { documentDecoder, type DocumentDecoder, startBytes } from './decode-document.ts'
import { type DocumentEvents, isOverlong, notValid, refuseIf, strictParser } from './strict-parser.ts'

/** How an element is read into the draft `D`. Elements without a reader are ignored. */
export interface Element<D> {
  /** Called when it opens. */
  readonly open?: (draft: D) => void
  /** Called when it closes, with its own text, `''` if it has none. */
  readonly text?: (draft: D, text: string) => void
  /** Readers of its child elements, by name. An element with `text` has none. */
  readonly inside?: ReadonlyMap<string, Element<D>>
}

/** Readers by element name; letter case matters. */
export const elements = <D>(byName: Readonly<Record<string, Element<D>>>): ReadonlyMap<string, Element<D>> =>
  new Map(Object.entries(byName))

/** An element whose text is trimmed of XML white space (ruling 4.2). */
export const trimmed = <D>(take: (draft: D, text: string) => void): Element<D> => ({
  text: (draft, text) => take(draft, trimWhiteSpace(text)),
})

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
 * Reads a document into a draft, in pieces as they come. It is not valid if it is not well-formed, breaks ruling 4.3,
 * or has another root; the draft is of no use then.
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

/** Characters read in one turn of the event loop: 0.1 ms, some 3 ms of the worst documents. */
const sliceLength = 4096

/** Runs the reading of so many characters when its turn has come; 'overloaded': that took too long. */
export type Pace = (characters: number, read: () => boolean) => Promise<boolean | 'overloaded'>

export type ReadOutcome = 'valid' | 'not-valid' | 'too-large' | 'overloaded' | 'aborted'

/**
 * Reads a document into a draft as it arrives. Of one that is not valid the rest is awaited and thrown away: whether it
 * is too large is said first (ruling 4.1). The draft is of no use unless it is 'valid'.
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

/** Decodes what comes; of the first piece enough is awaited to know its encoding. */
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

/** It is answered at once; what still comes is thrown away. */
function abandon(body: ArrivingBody): ReadOutcome {
  body.skip()
  void body.next()
  return 'overloaded'
}
