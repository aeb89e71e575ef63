import type { RequestHandler, Response } from 'express'
import type { AdmissionGate } from './admission-gate.ts'
import { clientNetwork } from './client-network.ts'
import { pageHeaders } from './create-app.ts'
import { nameEndpoint } from './observe-requests.ts'

/** A page or a file for developers, the same for everybody. */
export interface PublicDocument {
  /** The content type. */
  readonly type: string
  /** Called once, when it is asked for the first time. */
  readonly read: () => string | Buffer
}

/** Public documents by their paths. */
export type PublicDocuments = ReadonlyMap<string, PublicDocument>

/** Written at a time. */
const pieceBytes = 65_536

/**
 * Answers GET and HEAD of these paths, without a key and with the headers of a page; a folder without its slash is redirected. Any
 * other request passes to the next handler. Readers share the small part of the time that is for whoever has no account (P-12): 64
 * that read the largest file without a pause would otherwise hold up every other answer by half a second.
 */
export const publicDocuments = (
  documents: PublicDocuments,
  { slices }: Pick<AdmissionGate, 'slices'>,
): RequestHandler => {
  const secure = pageHeaders()
  const read = new Map<string, Buffer>()
  const contentOf = (path: string, document: PublicDocument): Buffer => {
    const content = read.get(path) ?? Buffer.from(document.read())
    read.set(path, content)
    return content
  }
  const write = async (response: Response, owner: string, content: Buffer): Promise<void> => {
    for (let at = 0; at < content.length; at += pieceBytes) {
      if (response.destroyed) return
      const piece = content.subarray(at, at + pieceBytes)
      await slices.runUnknown(owner, () => response.write(piece))
      if (response.writableNeedDrain) await drained(response)
    }
    response.end()
  }
  return async (request, response, next) => {
    const { path, method } = request
    const document = documents.get(path)
    const isFolder = documents.has(`${path}/`)
    if ((method !== 'GET' && method !== 'HEAD') || (document === undefined && !isFolder)) {
      next()
      return
    }
    nameEndpoint(response, path)
    secure(request, response, () => undefined)
    if (document === undefined) {
      response.redirect(308, `${path.slice(path.lastIndexOf('/') + 1)}/`)
      return
    }
    const content = contentOf(path, document)
    response.set({ 'Cache-Control': 'max-age=300', 'Content-Length': String(content.length) }).type(document.type)
    if (method === 'HEAD') response.end()
    else await write(response, clientNetwork(request), content)
  }
}

const drained = (response: Response): Promise<void> =>
  new Promise((resolve) => {
    const goOn = () => {
      response.off('drain', goOn).off('close', goOn)
      resolve()
    }
    response.on('drain', goOn).on('close', goOn)
  })
