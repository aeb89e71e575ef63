import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Gateway } from '@gateway/core'
import type { BindId, SmppCredential, SmppCredentialId, SmppProcessId } from '@gateway/core/smpp-customers'
import { inNetworks, networkOf, repeat, throttled, type Log, type Repeated } from '@gateway/server'
import { COMMAND_STATUS, type Bind } from '@gateway/smpp'
import type { BindKind } from '../session/session.ts'
import { TokenBucket } from '../session/token-bucket.ts'
import { reportOf, type CustomerBind, type CustomerSession } from './customer-bind.ts'

export interface BindsSettings {
  readonly process: SmppProcessId
  readonly commands: Pick<Gateway['commands'], 'authenticateBind' | 'openBind' | 'closeBinds' | 'reportBinds'>
  readonly queries: Pick<Gateway['queries'], 'smppSession'>
  readonly log: Log
  /** Milliseconds between two attempts to get a place for a bind while dead binds are looked for. */
  readonly retryMilliseconds?: number
}

/** Milliseconds for which a bind waits for the place of a dead one. cloudhopper gives up after 5 s. */
const waitMilliseconds = 4000
/** Milliseconds without a PDU after which a bind that is being probed counts as dead (rule 8). */
const probeMilliseconds = 2000
const reportMilliseconds = 1000
const logMilliseconds = 60_000

type BindAnswer = CustomerBind | { readonly refused: number }

/**
 * The binds of this process. Decides on new ones, reports them each second, and closes those whose credential was
 * removed or rotated, or which are dead while another client waits for their place.
 */
export class Binds {
  readonly #settings: BindsSettings
  readonly #sessions = new Map<BindId, CustomerSession>()
  readonly #buckets = new Map<SmppCredentialId, TokenBucket>()
  readonly #reporting: Repeated
  readonly #logRefusal
  #isStopping = false

  constructor(settings: BindsSettings) {
    const { log } = settings
    this.#settings = settings
    this.#logRefusal = throttled(logMilliseconds, (unwritten, address: string, reason: string) => {
      // The system id is not logged, because strangers send arbitrary ones. Failed passwords are logged with their
      // account.
      log.warn({ address, reason, unwritten }, 'bind refused')
    })
    this.#reporting = repeat({
      name: 'report binds',
      pauseMilliseconds: reportMilliseconds,
      log,
      work: async () => {
        await this.#report()
        return 'all'
      },
    })
  }

  list(): readonly CustomerSession[] {
    return [...this.#sessions.values()]
  }

  /**
   * Decides on a bind. RINVPASWD only if the system id or the password is certainly wrong, because Kannel then stops
   * for ever. Every other refusal is RBINDFAIL, after which clients try again; RALYBND would count as success there.
   */
  async decide(session: CustomerSession, pdu: Bind, kind: BindKind): Promise<BindAnswer> {
    const refuse = (reason: string, refused: number = COMMAND_STATUS.ESME_RBINDFAIL): BindAnswer => {
      this.#logRefusal(session.address, reason)
      return { refused }
    }
    if (this.#isStopping) return refuse('the process is stopping')
    try {
      const { commands } = this.#settings
      const owner = await commands.authenticateBind({
        ...{ systemId: pdu.systemId, password: pdu.password },
        ...{ network: networkOf(session.address), address: session.address },
        comesFrom: (networks) => inNetworks(networks)(session.address),
      })
      if (owner === 'wrong-credentials') {
        return refuse('wrong system id or password', COMMAND_STATUS.ESME_RINVPASWD)
      }
      if (owner === 'other-network') return refuse('the credential does not allow this address')
      if (owner === 'overloaded') return refuse('too many binds wait for their password to be checked')
      if ('retryAfterSeconds' in owner) return refuse('too many failed binds')
      const bind = await this.#open(session, pdu, kind, owner.credential)
      return bind === 'busy' ? refuse('the credential already has its maximum number of binds') : bind
    } catch (error) {
      this.#settings.log.warn({ err: error }, 'a bind was refused because of an internal error')
      return { refused: COMMAND_STATUS.ESME_RBINDFAIL }
    }
  }

  /** The response of an accepted bind was written, or its connection was closed before. */
  add(bind: CustomerBind, session: CustomerSession): void {
    this.#sessions.set(bind.id, session)
  }

  async remove(bind: CustomerBind): Promise<void> {
    this.#sessions.delete(bind.id)
    await this.#release(bind.id)
  }

  /** Stops accepting binds and reporting them. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#reporting.stop()
  }

  async #open(
    session: CustomerSession,
    { interfaceVersion }: Bind,
    mode: BindKind,
    credential: SmppCredential,
  ): Promise<CustomerBind | 'busy'> {
    const { commands, process, retryMilliseconds = 500 } = this.#settings
    const id = randomUUID() as BindId
    const place = { id, process, mode, remote: session.address, version: interfaceVersion }
    const until = performance.now() + waitMilliseconds
    for (;;) {
      const opened = await commands.openBind(credential.id, place)
      if (opened === 'opened') break
      if (opened === 'no-such-credential' || performance.now() > until || session.state === 'closed') return 'busy'
      // This process looks for its dead binds immediately; other processes look for theirs at their next report.
      this.#reporting.wake()
      await delay(retryMilliseconds)
    }
    const { systemId, window } = credential
    const bucket = this.#bucketOf(credential.id, credential.perSecond)
    const bind = { systemId, window, id, credential, bucket, lastError: undefined, strayTexts: 0, submissions: 0 }
    // The client may have left in the meantime. Its place must not stay occupied.
    if (session.state === 'closed') await this.#release(id)
    else this.#sessions.set(id, session)
    return bind
  }

  async #release(id: BindId): Promise<void> {
    const { commands, process, log } = this.#settings
    // The place is also freed when the process reports without the bind.
    await commands
      .closeBinds(process, [id])
      .catch((err: unknown) => log.debug({ err }, 'the end of a bind was not stored'))
  }

  async #report(): Promise<void> {
    const { commands, process } = this.#settings
    const binds = this.list().flatMap(({ boundAs }) => (boundAs === undefined ? [] : [boundAs]))
    const { rates, close, probe } = await commands.reportBinds(process, binds.map(reportOf))
    for (const { credential, perSecond } of rates) this.#bucketOf(credential, perSecond)
    for (const bind of binds) bind.bucket = this.#bucketOf(bind.credential.id)
    for (const id of probe) void this.#probe(this.#sessions.get(id))
    for (const bind of binds) {
      if (!(await this.#isCurrent(bind))) void this.#sessions.get(bind.id)?.unbind('revoked')
      else if (close.includes(bind.id)) await this.#reopen(bind)
    }
  }

  /** Returns false if the credential was removed, or its password replaced since the bind. */
  async #isCurrent({ credential }: CustomerBind): Promise<boolean> {
    const current = await this.#settings.queries.smppSession(credential.id)
    return current !== undefined && current.credential.rotated === credential.rotated
  }

  /** Registers again a bind that the store has lost, because this process could not report in time. */
  async #reopen(bind: CustomerBind): Promise<void> {
    const session = this.#sessions.get(bind.id)
    if (session?.kind === undefined) return
    const { commands, process } = this.#settings
    const { id, credential } = bind
    const place = { id, process, mode: session.kind, remote: session.address, version: session.version }
    if ((await commands.openBind(credential.id, place)) !== 'opened') void session.unbind('revoked')
  }

  async #probe(session: CustomerSession | undefined): Promise<void> {
    if (session !== undefined && !(await session.isAlive(probeMilliseconds))) session.close('replaced')
  }

  /** Returns the bucket of a credential in this process. A new rate replaces it. */
  #bucketOf(credential: SmppCredentialId, perSecond?: number): TokenBucket {
    const present = this.#buckets.get(credential)
    if (present !== undefined && (perSecond === undefined || perSecond === present.perSecond)) return present
    const bucket = new TokenBucket(perSecond ?? 1, performance.now())
    this.#buckets.set(credential, bucket)
    return bucket
  }
}
