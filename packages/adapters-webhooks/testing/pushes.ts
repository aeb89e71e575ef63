import type { PushRequest } from '@gateway/core/webhooks'

/** Signing secret for tests. */
export const aSecret = `whsec_${Buffer.alloc(32, 'gateway').toString('base64')}`

/** Returns a push request to `url`, with `fields` replaced. */
export const aPush = (url: string, fields: Partial<PushRequest> = {}): PushRequest => ({
  url,
  id: 'list_1',
  timestamp: Math.floor(Date.now() / 1000),
  body: '{"type":"events"}',
  secrets: [aSecret],
  ...fields,
})
