import type { Deletion } from '@gateway/core'

/** `deleteError` of an id (ruling 2.8). */
export const DELETE_ERROR = {
  deleted: '',
  sent: 'SENT',
  'not-found': 'NOTFOUND',
} as const satisfies Record<Deletion['outcome'], string>
