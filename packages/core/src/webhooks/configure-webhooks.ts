import type { AccountId } from '../accounts/account.ts'
import type { Ports } from '../ports.ts'
import { requireKeyInUse, type KeySettings, type WebhookWithSecret } from './signing-secrets.ts'
import type { UrlRefusal, WebhookClient } from './webhook-client.ts'
import { defaultEventTypes, webhookEventTypes, type WebhookEventId, type WebhookEventType } from './webhook-event.ts'
import { listSizeMax, webhookDefaults, type Webhook, type WebhookChange, type WebhookId } from './webhook.ts'
import type { WebhookBacklog } from './webhooks.ts'

/** Returns a use case on the endpoints of one account as a use case on the endpoints of all accounts. */
export const byOperator =
  <Args extends readonly unknown[], Result>(useCase: (by: AccountId | undefined, ...args: Args) => Result) =>
  (...args: Args): Result =>
    useCase(undefined, ...args)

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

/**
 * Adds an endpoint, active at once. An account has at most `webhooksMax` of them. Throws an `OtherKeyError` where other
 * secrets are stored with another key, unless `despiteKey`.
 */
export const addWebhook =
  (ports: Pick<Ports, 'webhooks' | 'webhookClient' | 'carrierVersions' | 'secretBox' | 'clock'>) =>
  async (
    account: AccountId,
    wanted: WantedWebhook & { readonly url: string },
    { despiteKey = false }: KeySettings = {},
  ): Promise<WebhookWithSecret | WebhookRefusal | 'too-many' | 'no-such-account'> => {
    const read = readWebhook(wanted, ports.webhookClient)
    if (typeof read === 'string') return read
    if (!despiteKey) await requireKeyInUse(ports)
    const secret = ports.secretBox.newSigningSecret()
    const webhook = await ports.webhooks.add(
      {
        account,
        url: wanted.url,
        events: read.events ?? defaultEventTypes,
        listSize: read.listSize ?? webhookDefaults.listSize,
        withText: read.withText ?? webhookDefaults.withText,
        secret: ports.secretBox.seal(secret),
      },
      ports.clock.now(),
    )
    return typeof webhook === 'string' ? webhook : { webhook, secret }
  }

/**
 * Changes an endpoint. Events that wait are kept, and go to the new URL; events of a type that it no longer wants and
 * that wait still come. Paused: nothing is pushed, and events are kept. Active: it resumes, and what waits is due at
 * once. Undefined `by`: the operator asks.
 */
export const changeWebhook =
  (ports: Pick<Ports, 'webhooks' | 'webhookClient' | 'clock'>) =>
  async (
    by: AccountId | undefined,
    id: WebhookId,
    { state, ...wanted }: WantedWebhook & Pick<WebhookChange, 'state'>,
  ): Promise<Webhook | WebhookRefusal | 'no-such-webhook'> => {
    // First of all: whose endpoint it is decides what is told (P-10).
    if ((await ports.webhooks.find(by, id)) === undefined) return 'no-such-webhook'
    const read = readWebhook(wanted, ports.webhookClient)
    if (typeof read === 'string') return read
    return (await ports.webhooks.change(by, id, { ...read, state }, ports.clock.now())) ?? 'no-such-webhook'
  }

/** An endpoint and what waits for it. */
export interface ShownWebhook {
  readonly webhook: Webhook
  readonly backlog: WebhookBacklog
}

/** Undefined also where it belongs to another account than `by`; undefined `by`: the operator asks (P-10). */
export const showWebhook =
  (ports: Pick<Ports, 'webhooks'>) =>
  async (by: AccountId | undefined, id: WebhookId): Promise<ShownWebhook | undefined> => {
    const webhook = await ports.webhooks.find(by, id)
    return webhook && { webhook, backlog: await ports.webhooks.backlog(id) }
  }

/** Sends a `test` event to this endpoint alone, also while it is paused; the answer is among its attempts. */
export const testWebhook =
  (ports: Pick<Ports, 'webhooks' | 'clock'>) =>
  async (by: AccountId | undefined, id: WebhookId): Promise<WebhookEventId | 'no-such-webhook'> =>
    (await ports.webhooks.addTest(by, id, ports.clock.now())) ?? 'no-such-webhook'
