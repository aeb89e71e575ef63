import type { RequestHandler, Response } from 'express'
import type { AdmissionGate } from './admission/admission-gate.ts'
import { clientNetwork } from './client-address.ts'
import { pageHeaders } from './express-app.ts'
import { nameEndpoint } from './endpoint-handler.ts'

/** Page or file for developers, the same for everybody. */
export interface PublicDocument {
  /** Content type of the document. */
  readonly type: string
  /** Title under which other pages link to the document; undefined if none does. */
  readonly title?: string
  /** Returns the content. Called once, at the first request, with links to the titled documents as HTML. */
  readonly read: (links: string) => string | Buffer
}

/** Public documents by their paths. */
export type PublicDocuments = ReadonlyMap<string, PublicDocument>

/** Headers of files, which pages of any host may read, such as a viewer of OpenAPI documents. */
const forAnyOrigin = { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' }

/** Maximum size of one write to the connection. */
const pieceBytes = 65_536

/**
 * Answers GET and HEAD for these paths. They need no key, and the answers have the headers of a page. Redirects the
 * path of a folder without its slash. Any other request passes to the next handler. Readers share the small part of the
 * time that is reserved for unauthenticated clients (P-12), because 64 clients that read the largest file continuously
 * would delay every other answer by half a second.
 */
export const publicDocuments = (
  documents: PublicDocuments,
  { slices }: Pick<AdmissionGate, 'slices'>,
): RequestHandler => {
  const secure = pageHeaders()
  const read = new Map<string, Buffer>()
  const contentOf = (path: string, document: PublicDocument): Buffer => {
    const content = read.get(path) ?? Buffer.from(document.read(linksFrom(path, documents)))
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
    if (document.type !== 'html') response.set(forAnyOrigin)
    if (method === 'HEAD') response.end()
    else await write(response, clientNetwork(request), content)
  }
}

/** Returns relative links, which work behind a proxy that adds a prefix. */
function linksFrom(path: string, documents: PublicDocuments): string {
  const up = '../'.repeat(path.split('/').length - 2)
  const titled = [...documents].flatMap(([to, { title }]) => (title === undefined ? [] : [[to, title] as const]))
  return titled
    .map(([to, title]) => (to === path ? `<b>${title}</b>` : `<a href="${up}${to.slice(1)}">${title}</a>`))
    .join(' · ')
}

const drained = (response: Response): Promise<void> =>
  new Promise((resolve) => {
    const goOn = () => {
      response.off('drain', goOn).off('close', goOn)
      resolve()
    }
    response.on('drain', goOn).on('close', goOn)
  })
