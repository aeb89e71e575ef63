import type { AccountId } from '../accounts/account.ts'
import type { Ports } from '../ports.ts'
import { requireKeyInUse, type KeySettings, type WebhookWithSecret } from './signing-secrets.ts'
import type { UrlRefusal, WebhookClient } from './webhook-client.ts'
import { defaultEventTypes, webhookEventTypes, type WebhookEventId, type WebhookEventType } from './webhook-event.ts'
import { listSizeMax, webhookDefaults, type Webhook, type WebhookChange, type WebhookId } from './webhook.ts'
import type { WebhookBacklog } from './webhooks.ts'

/** Converts a use case on the endpoints of one account to a use case on the endpoints of all accounts. */
export const byOperator =
  <Args extends readonly unknown[], Result>(useCase: (by: AccountId | undefined, ...args: Args) => Result) =>
  (...args: Args): Result =>
    useCase(undefined, ...args)

/** Settings of an endpoint as requested. An omitted setting does not change; in a new endpoint it has its default. */
export interface WebhookSettings {
  readonly url?: string | undefined
  readonly events?: readonly string[] | undefined
  /** Maximum number of events in one request. */
  readonly listSize?: number | undefined
  readonly withText?: boolean | undefined
}

/** Reason why a requested setting is refused. Nothing was changed. */
export type WebhookRefusal = UrlRefusal | 'no-events' | 'unknown-event' | 'list-size-out-of-range'

/** Valid settings of an endpoint. */
export type ParsedWebhookSettings = Omit<WebhookSettings, 'events'> & {
  readonly events?: readonly WebhookEventType[] | undefined
}

/** Returns the named event types in the order of `webhookEventTypes`. Names may be in any order and repeated. */
export function readEventTypes(names: readonly string[]): readonly WebhookEventType[] | 'no-events' | 'unknown-event' {
  if (names.length === 0) return 'no-events'
  const known: readonly string[] = webhookEventTypes
  if (names.some((name) => !known.includes(name))) return 'unknown-event'
  return webhookEventTypes.filter((type) => names.includes(type))
}

/** Checks requested settings in the order URL, events, list size. Checks only the text of the URL. */
export function readWebhook(
  { url, events, listSize, withText }: WebhookSettings,
  client: Pick<WebhookClient, 'refusalOf'>,
): ParsedWebhookSettings | WebhookRefusal {
  const refusal = url === undefined ? undefined : client.refusalOf(url)
  if (refusal !== undefined) return refusal
  const types = events === undefined ? undefined : readEventTypes(events)
  if (typeof types === 'string') return types
  const isInRange = listSize === undefined || (Number.isInteger(listSize) && listSize >= 1 && listSize <= listSizeMax)
  return isInRange ? { url, events: types, listSize, withText } : 'list-size-out-of-range'
}

/**
 * Adds an active endpoint. An account has at most `webhooksMax` endpoints. Throws an `OtherKeyError` if the stored
 * secrets were encrypted with another key, unless `despiteKey`.
 */
export const addWebhook =
  (ports: Pick<Ports, 'webhooks' | 'webhookClient' | 'carrierVersions' | 'secretBox' | 'clock'>) =>
  async (
    account: AccountId,
    settings: WebhookSettings & { readonly url: string },
    { despiteKey = false }: KeySettings = {},
  ): Promise<WebhookWithSecret | WebhookRefusal | 'too-many' | 'no-such-account'> => {
    const read = readWebhook(settings, ports.webhookClient)
    if (typeof read === 'string') return read
    if (!despiteKey) await requireKeyInUse(ports)
    const secret = ports.secretBox.newSigningSecret()
    const webhook = await ports.webhooks.add(
      {
        account,
        url: settings.url,
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
 * Changes an endpoint. Waiting events stay and go to the new URL, including those of types that are no longer selected.
 * A paused endpoint gets no requests, and its events are stored. An endpoint that becomes active resumes, and waiting
 * events are due at once. `by` is undefined for the operator.
 */
export const changeWebhook =
  (ports: Pick<Ports, 'webhooks' | 'webhookClient' | 'clock'>) =>
  async (
    by: AccountId | undefined,
    id: WebhookId,
    { state, ...settings }: WebhookSettings & Pick<WebhookChange, 'state'>,
  ): Promise<Webhook | WebhookRefusal | 'no-such-webhook'> => {
    // The owner is checked before anything else, so that another account learns nothing about the endpoint (P-10).
    if ((await ports.webhooks.find(by, id)) === undefined) return 'no-such-webhook'
    const read = readWebhook(settings, ports.webhookClient)
    if (typeof read === 'string') return read
    return (await ports.webhooks.change(by, id, { ...read, state }, ports.clock.now())) ?? 'no-such-webhook'
  }

/** Endpoint and its backlog. */
export interface ShownWebhook {
  readonly webhook: Webhook
  readonly backlog: WebhookBacklog
}

/**
 * Returns undefined if the endpoint does not exist or belongs to another account than `by` (P-10). `by` is undefined
 * for the operator.
 */
export const showWebhook =
  (ports: Pick<Ports, 'webhooks'>) =>
  async (by: AccountId | undefined, id: WebhookId): Promise<ShownWebhook | undefined> => {
    const webhook = await ports.webhooks.find(by, id)
    return webhook && { webhook, backlog: await ports.webhooks.backlog(id) }
  }

/** Sends a `test` event to this endpoint alone, even while it is paused. Its result is among the attempts. */
export const testWebhook =
  (ports: Pick<Ports, 'webhooks' | 'clock'>) =>
  async (by: AccountId | undefined, id: WebhookId): Promise<WebhookEventId | 'no-such-webhook'> =>
    (await ports.webhooks.addTest(by, id, ports.clock.now())) ?? 'no-such-webhook'
