import type { Deletion, DeliveryState } from '@gateway/core'

/** `deleteError` of an id (ruling 2.8). */
export const DELETE_ERROR = {
  deleted: '',
  sent: 'SENT',
  'not-found': 'NOTFOUND',
} as const satisfies Record<Deletion['outcome'], string>

/** `statusErrorCode`: by it clients decide whether to ask again, or to send again (ruling 2.7). */
export const STATUS_ERROR_CODE = {
  delivered: '',
  waiting: 'INQUEUE',
  sent: 'SENT',
  'not-delivered': 'FAILED',
  'not-sent': 'SENDINGFAILED',
  'not-found': 'NOTFOUND',
} as const satisfies Record<DeliveryState, string>
