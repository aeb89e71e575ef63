import { listSizeMax } from './webhook.ts'
import { webhookEventTypes, type WebhookEventType } from './webhook-event.ts'
import type { UrlRefusal, WebhookClient } from './webhook-client.ts'

/** What an account holder or the operator asks for; what is left out is as it was, or by default. */
export interface WantedWebhook {
  readonly url?: string | undefined
  readonly events?: readonly string[] | undefined
  /** Events in one request, at most. */
  readonly listSize?: number | undefined
  readonly withText?: boolean | undefined
}

/** Why an endpoint is not as it was asked for. Nothing has changed. */
export type WebhookRefusal = UrlRefusal | 'no-events' | 'unknown-event' | 'list-size-out-of-range'

/** `WantedWebhook` that has passed. */
export type ReadWebhook = Omit<WantedWebhook, 'events'> & { readonly events?: readonly WebhookEventType[] | undefined }

/** Names of events, in any order and as often as may be, in the order of `webhookEventTypes`. */
export function readEventTypes(names: readonly string[]): readonly WebhookEventType[] | 'no-events' | 'unknown-event' {
  if (names.length === 0) return 'no-events'
  const known: readonly string[] = webhookEventTypes
  if (names.some((name) => !known.includes(name))) return 'unknown-event'
  return webhookEventTypes.filter((type) => names.includes(type))
}

/** Checks what is asked for, in the order URL, events, list size; of the URL its text only. */
export function readWebhook(
  { url, events, listSize, withText }: WantedWebhook,
  client: Pick<WebhookClient, 'refusalOf'>,
): ReadWebhook | WebhookRefusal {
  const refusal = url === undefined ? undefined : client.refusalOf(url)
  if (refusal !== undefined) return refusal
  const types = events === undefined ? undefined : readEventTypes(events)
  if (typeof types === 'string') return types
  const isInRange = listSize === undefined || (Number.isInteger(listSize) && listSize >= 1 && listSize <= listSizeMax)
  return isInRange ? { url, events: types, listSize, withText } : 'list-size-out-of-range'
}
