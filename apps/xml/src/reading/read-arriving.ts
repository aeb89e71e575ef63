import type { ArrivingBody } from '@gateway/server'
import { documentDecoder, startBytes, type DocumentDecoder } from './decode-document.ts'
import { documentReader, type Root } from './read-document.ts'

/** Characters read in one turn of the event loop: 0.1 ms, some 3 ms of the worst documents. */
const sliceLength = 4096

/** Runs the reading of so many characters when its turn has come; 'overloaded': that took too long. */
export type Pace = (characters: number, read: () => boolean) => Promise<boolean | 'overloaded'>

export type ReadOutcome = 'valid' | 'not-valid' | 'too-large' | 'overloaded' | 'aborted'

/**
 * Reads a document into a draft as it arrives. Of one that is not valid the rest is awaited and thrown away: whether it is too large is
 * said first (ruling 4.1). The draft is of no use unless it is 'valid'.
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
