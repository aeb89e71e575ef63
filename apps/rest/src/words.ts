import type { Deletion } from '@gateway/core/messages'

/** Words of `deleteError` (ruling 2.8). */
export const DELETE_ERROR = {
  deleted: '',
  sent: 'SENT',
  'not-found': 'NOTFOUND',
} as const satisfies Record<Deletion['outcome'], string>
