import type { IncomingMessage } from 'node:http'

const hidden = new WeakSet<IncomingMessage>()

/** Whether a request is for health or metrics. */
export const isForOperators = (url = ''): boolean => /^\/(?:metrics|health\/[^?]*)(?:\?|$)/.test(url)

/** Its path is answered on another port: here it is not there. */
export const hideFromClients = (request: IncomingMessage): void => void hidden.add(request)

export const isHidden = (request: IncomingMessage): boolean => hidden.has(request)
