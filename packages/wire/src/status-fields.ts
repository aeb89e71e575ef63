import {
  deliveryState,
  formatCredits,
  formatMinute,
  hasOutcome,
  type MessageReference,
  type MessageStatus,
} from '@gateway/core'
import { STATUS_ERROR_CODE, statusWords } from './words.ts'

/**
 * The fields of a status after the id and the number, of REST and of webhooks, as JSON text (ruling 2.7). `now`: the
 * minute shown where nothing is known.
 */
export function statusFields(status: MessageStatus, now: string): string {
  const { word, code } = statusWords(status)
  const state = deliveryState(status)
  return (
    `"statusDelivered":${state === 'delivered'},"statusErrorCode":"${STATUS_ERROR_CODE[state]}"` +
    `,"statusTime":"${hasOutcome(status) ? formatMinute(status.at) : now}"` +
    `,"creditCost":${typeof status === 'object' ? formatCredits(status.cost) : '0.0'}` +
    `,"status":"${word}","statusCode":${code}`
  )
}

/** A field after others; nothing of a message without a reference (ruling 1.28). */
export const referenceField = (reference: MessageReference | undefined): string =>
  reference === undefined ? '' : `,"reference":${JSON.stringify(reference)}`
