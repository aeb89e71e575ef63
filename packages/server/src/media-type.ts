import type { IncomingMessage } from 'node:http'

/** The media type of a request in lower case, without parameters; `''` if it has none. */
export const mediaType = ({ headers }: IncomingMessage): string =>
  (headers['content-type'] ?? '').replace(/;.*/s, '').trim().toLowerCase()
