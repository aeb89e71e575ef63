import { endpoint } from '../endpoint.ts'

/** Replies, each returned once (spec 4.3, rule 6): not available yet; it checks its request and takes nothing. */
export const takeReplies = endpoint({
  request: '_Replies',
  response: 'XMLGateway_Replies',
  draft: () => ({}),
  inside: {},
  check: (draft) => draft,
  answer: () => ({ trouble: 'not-available-yet' }),
})
