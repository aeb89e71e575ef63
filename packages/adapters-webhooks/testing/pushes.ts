import type { PushRequest } from '@gateway/core/webhooks'

/** A secret that every test may know. */
export const aSecret = `whsec_${Buffer.alloc(32, 'gateway').toString('base64')}`

/** A request to push to `url`. */
export const aPush = (url: string, wanted: Partial<PushRequest> = {}): PushRequest => ({
  url,
  id: 'list_1',
  timestamp: Math.floor(Date.now() / 1000),
  body: '{"type":"events"}',
  secrets: [aSecret],
  ...wanted,
})
