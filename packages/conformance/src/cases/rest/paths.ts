/** GET paths below the prefix (spec 4.1; rulings 2.11, 2.14). */
export const gets: readonly string[] = [
  '/credits/balance',
  '/shortcode/incoming',
  '/sms/incoming',
  '/sms/incoming/optout',
  '/sms/scheduled',
  '/subaccounts',
]

/** Paths that require a body (spec 4.1; ruling 2.6). */
export const posts: readonly string[] = [
  '/credits/transfer',
  '/sms/scheduled/delete',
  '/sms/outgoing/send',
  '/sms/outgoing/sendmulti',
  '/sms/outgoing/status',
]

export const everyPath: readonly { readonly path: string; readonly method: 'GET' | 'POST' }[] = [
  ...gets.map((path) => ({ path, method: 'GET' as const })),
  ...posts.map((path) => ({ path, method: 'POST' as const })),
]

/** Maximum size of a body: 200kb (spec 7.1), as ruling 2.3 counts it. */
export const bodyMax = 204_800
