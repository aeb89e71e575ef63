import type { AccountId } from '../accounts/account.ts'
import type { Brand } from '../brand.ts'
import type { Instant } from '../time/instant.ts'
import type { SmppCredentialId } from './smpp-credential.ts'

/** Id of a bind, a UUID made by the process that has the connection. */
export type BindId = Brand<string, 'BindId'>

/** Id of a process that has binds, a UUID. */
export type SmppProcessId = Brand<string, 'SmppProcessId'>

export type BindMode = 'transceiver' | 'transmitter' | 'receiver'

export interface NewBind {
  readonly id: BindId
  readonly process: SmppProcessId
  readonly mode: BindMode
  /** Address of the client as text. */
  readonly remote: string
  /** interface_version of the bind. */
  readonly version: number
}

/** Figures of a bind, as its process reports them. */
export interface BindReport {
  readonly id: BindId
  /** Last command_status other than 0 that the client received, as text, such as `RINVDSTADR`. */
  readonly lastError?: string | undefined
  /** Number of submissions since the bind with an octet that is not in the alphabet of the credential. */
  readonly strayTexts: number
  /** Number of submissions since the bind. */
  readonly submissions: number
}

/** Bind of a live process. */
export interface ShownBind extends NewBind, BindReport {
  readonly credential: SmppCredentialId
  readonly account: AccountId
  readonly systemId: string
  readonly since: Instant
}

/** Answer of the store to a report of binds. */
export interface ReportAnswer {
  /** Submissions per second that this process may accept for a credential: its share of the credential's rate. */
  readonly rates: readonly { readonly credential: SmppCredentialId; readonly perSecond: number }[]
  /**
   * Binds to close: the credential was removed or its password replaced, or the store no longer has the bind, because
   * the process did not report in time.
   */
  readonly close: readonly BindId[]
  /** Binds to test with enquire_link, because another client waits for a place. Each is returned once per request. */
  readonly probe: readonly BindId[]
}

/** Seconds without a report after which the binds of a process no longer count. */
export const silentProcessSeconds = 5

/** Binds of all processes. They may be lost when the store stops: then processes close and clients bind again. */
export interface SmppBinds {
  /**
   * Registers a bind unless the credential has its maximum (`SmppSettings.binds`). `busy`: the number of binds; all of
   * them are marked to be probed. Binds of processes that have not reported for `silentProcessSeconds` do not count.
   * Concurrent calls never exceed the maximum. Counts as a report of the process.
   */
  open(
    credential: SmppCredentialId,
    bind: NewBind,
  ): Promise<'opened' | 'no-such-credential' | { readonly busy: number }>
  close(process: SmppProcessId, binds: readonly BindId[]): Promise<void>
  /** Extends the lease of the process and stores the figures of its binds, which are all binds that it has. */
  report(process: SmppProcessId, binds: readonly BindReport[]): Promise<ReportAnswer>
  /** Lists binds of live processes by account, credential and time, of one account or of all. */
  list(account: AccountId | undefined): Promise<readonly ShownBind[]>
}
