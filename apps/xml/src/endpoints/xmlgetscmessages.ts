import { endpoint } from '../endpoint.ts'

/** Short code messages, each returned once (spec 4.3, rule 6): not available yet; it checks its request and takes nothing. */
export const takeShortCodeMessages = endpoint({
  request: '_SCmessages',
  response: 'XMLGateway_SCmessages',
  draft: () => ({}),
  inside: {},
  check: (draft) => draft,
  answer: () => ({ trouble: 'not-available-yet' }),
})
