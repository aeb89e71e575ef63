import type { CarrierId } from '../dispatch/carrier-id.ts'
import type { Body } from '../messages/body.ts'
import type { Msisdn } from '../messages/msisdn.ts'

/** Input field of a form for one secret of a provider, such as an API key. */
export interface ProviderSecret {
  readonly name: string
  readonly label: string
  readonly hint: string | undefined
  /** True if sending needs it. Otherwise it only verifies callbacks. */
  readonly isRequired: boolean
}

/** Provider over HTTP that can be connected by filling in a form. */
export interface ConnectableProvider {
  readonly name: string
  readonly title: string
  readonly secrets: readonly ProviderSecret[]
  /** Explanation of the sender address. */
  readonly fromHint: string | undefined
  /** Explanation of the base URL; undefined if the provider has a single one. */
  readonly baseUrlHint: string | undefined
  readonly needsBaseUrl: boolean
  /** Steps at the provider's console before the carrier is connected. */
  readonly accountSteps: readonly string[]
  /** Steps at the provider's console by which it calls back. */
  readonly callbackSteps: readonly string[]
}

/** Stored carrier over HTTP. No field contains a secret that somebody has typed. */
export interface ProviderConnection {
  readonly carrier: CarrierId
  /** Name of the provider; undefined for a description of the operator's own. */
  readonly provider: string | undefined
  readonly from: string | undefined
  readonly baseUrl: string | undefined
  /** Names of the secrets that have a value. */
  readonly secrets: readonly string[]
  /**
   * URL at which the provider calls back. It contains a random secret if the gateway made one. Undefined without a
   * public URL, or if no callback can be verified.
   */
  readonly callbackUrl: string | undefined
}

/** Stored carriers, as far as connecting a provider concerns them. */
export interface StoredConnections {
  /** Version of the stored carriers; 0 if none is stored. */
  readonly version: number
  readonly connections: readonly ProviderConnection[]
  /** Names of the other stored carriers. */
  readonly others: readonly CarrierId[]
  /** Names of the stored routes. Without routes, each carrier gets a share of all messages. */
  readonly routes: readonly string[]
  /** Public URL of the gateway; undefined if none is known. */
  readonly publicUrl: string | undefined
  /** Reason why nothing can be stored by this process; undefined if it can. */
  readonly obstacle: ConnectionObstacle | undefined
}

/**
 * Reason why a process must not store carriers: it has no key that the other processes have, or it cannot read what
 * they have stored.
 */
export type ConnectionObstacle =
  { readonly is: 'no-key' } | { readonly is: 'unreadable' | 'other-key'; readonly reason: string }

/** Fields of a carrier over HTTP that an operator has filled in. Empty texts are fields without a value. */
export interface ConnectionFields {
  readonly carrier: string
  readonly provider: string
  /** Secrets by name. A secret that is missing or empty keeps its present value. */
  readonly secrets: Readonly<Record<string, string>>
  readonly from: string
  readonly baseUrl: string
  readonly publicUrl: string
}

/** Sentences about wrong fields, by the name of the field; secrets are `secrets.NAME`. They contain no secret. */
export type ConnectionProblems = Readonly<Record<string, string>>

/** Refusal of a change, which then had no effect. 'outdated': another version was stored in the meantime. */
export type ConnectionRefusal =
  'outdated' | 'no-such-carrier' | 'last-carrier' | 'in-use' | { readonly problems: ConnectionProblems }

/** Answer of a provider to a message that was sent for a test. */
export interface ConnectionTrial {
  /** Meaning of the answer, such as `accepted` or `account-broken`. */
  readonly outcome: string
  /** The provider's id of the message, if it was accepted. */
  readonly reference: string | undefined
  /** The provider's code or text for a message that was not accepted, without secrets. */
  readonly reason: string | undefined
  /** First line and body of the provider's answer, without secrets; undefined if it sent none. */
  readonly answer: { readonly status: string; readonly body: string } | undefined
}

/** Message that is sent for a test. */
export interface TrialMessage {
  readonly to: Msisdn
  readonly body: Body
}

/**
 * Changes of the carriers over HTTP in the stored document. Each change stores a version that follows `after`, with all
 * secrets encrypted. Secrets that were typed are stored nowhere else.
 */
export interface ProviderConnections {
  /** Lists the providers that can be connected. */
  providers(): readonly ConnectableProvider[]
  /** Returns the stored carriers. Does not throw if this process cannot read them. */
  stored(): Promise<StoredConnections>
  /** Adds a carrier, or with `change` changes one. Returns the new version. */
  save(
    fields: ConnectionFields,
    change: { readonly after: number; readonly isNew: boolean; readonly storedBy: string },
  ): Promise<number | ConnectionRefusal>
  /** Removes a carrier and its stored secrets. 'in-use': a route names it. */
  remove(
    carrier: CarrierId,
    change: { readonly after: number; readonly storedBy: string },
  ): Promise<number | ConnectionRefusal>
  /** Sends one message over a stored carrier. It is neither charged nor stored. */
  send(carrier: CarrierId, message: TrialMessage): Promise<ConnectionTrial | 'no-such-carrier'>
}
