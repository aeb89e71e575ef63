import type { RequestHandler } from 'express'
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

/**
 * Answers GET and HEAD of these paths, without a key and with the headers of a page; a folder without its slash is redirected. Any
 * other request passes to the next handler.
 */
export const publicDocuments = (documents: PublicDocuments): RequestHandler => {
  const secure = pageHeaders()
  const read = new Map<string, string | Buffer>()
  const contentOf = (path: string, document: PublicDocument): string | Buffer => {
    const content = read.get(path) ?? document.read()
    read.set(path, content)
    return content
  }
  return (request, response, next) => {
    const { path } = request
    const document = documents.get(path)
    const isFolder = documents.has(`${path}/`)
    if ((request.method !== 'GET' && request.method !== 'HEAD') || (document === undefined && !isFolder)) {
      next()
      return
    }
    nameEndpoint(response, path)
    secure(request, response, () => {
      if (document === undefined) response.redirect(308, `${path.slice(path.lastIndexOf('/') + 1)}/`)
      else response.set('Cache-Control', 'max-age=300').type(document.type).send(contentOf(path, document))
    })
  }
}
