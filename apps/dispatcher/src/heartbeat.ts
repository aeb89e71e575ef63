import { isDeepStrictEqual } from 'node:util'
import {
  carrierStaleSeconds,
  type CarrierCounts,
  type CarrierReport,
  type CarrierUser,
  type Fleet,
  type FleetState,
} from '@gateway/core/fleet'
import { repeat, type Log, type Repeated } from '@gateway/server'

/** Part of the process that heartbeats report on. */
export interface Reporting {
  /** Returns the report of each carrier. */
  reports(): readonly CarrierReport[]
  /** Returns the outcomes counted since the previous call. */
  takeCounts(): readonly CarrierCounts[]
  /** Adds counts back that could not be stored. */
  putCountsBack(counts: readonly CarrierCounts[]): void
}

export interface HeartbeatSettings {
  readonly fleet: Pick<Fleet, 'beat' | 'onChange'>
  /** This process and its carriers, as other processes see them. */
  readonly user: CarrierUser
  readonly leaseSeconds: number
  readonly log: Log
  /** Maximum pause between two heartbeats; by default 5 s, or 3 s while reports change. */
  readonly pauseMilliseconds?: number
}

/** Longest pauses in milliseconds: while reports change, so that operators see them soon, and while they do not. */
const pauses = { changing: 3000, quiet: 5000 }
/** Milliseconds after which an unchanged report is stored again, so that it is known to be current. */
const renewMilliseconds = (carrierStaleSeconds * 1000) / 3
/** Milliseconds for which notifications are collected before a heartbeat. They may also report unrelated changes. */
const gatherMilliseconds = 250

/**
 * Heartbeat of a dispatching process: one call of the store per interval, which reports the version of the carriers in
 * use, their state and counts, and returns what operators and other processes have changed.
 *
 *   joined --start--> beating --stop--> ended, without a report or a registration
 *
 * A call that fails is repeated with the same reports. Its counts are added to the counts of the next call.
 */
export class Heartbeat {
  readonly #settings: HeartbeatSettings
  #user: CarrierUser
  #state: FleetState | undefined
  #reporting: Reporting | undefined
  #reported: { readonly reports: readonly CarrierReport[]; readonly at: number } | undefined
  /** True if the reports of the last heartbeat differed from the earlier ones. */
  #isChanging = false
  #listeners: ((state: FleetState) => void)[] = []
  #beating: Repeated | undefined
  #gathering: NodeJS.Timeout | undefined
  /** True if a heartbeat was requested during another one, which may have missed the reason. */
  #isWoken = false

  constructor(settings: HeartbeatSettings) {
    this.#settings = settings
    this.#user = settings.user
  }

  /** Sends the first heartbeat, and then one per interval until `stop`. Rejects if the first one fails. */
  async start(): Promise<void> {
    const { fleet, log } = this.#settings
    await this.#beat()
    this.#beating = repeat({
      name: 'exchange with other processes',
      pauseMilliseconds: () => this.#pause(),
      after: new Promise((resolve) => setTimeout(resolve, this.#pause()).unref()),
      log,
      work: () => this.#beatOnce(),
    })
    fleet.onChange(() => {
      this.#gathering ??= setTimeout(() => {
        this.#gathering = undefined
        this.wake()
      }, gatherMilliseconds).unref()
    })
  }

  /** Process and version that other processes see. */
  get user(): CarrierUser {
    return this.#user
  }

  /** State that the last heartbeat returned. */
  get state(): FleetState {
    if (this.#state === undefined) throw new Error('the first heartbeat has not been answered')
    return this.#state
  }

  /** Switches to this version of the stored carriers. */
  changeVersion(version: number): void {
    this.#user = { process: this.#user.process, version, simulated: undefined }
    this.wake()
  }

  /** Reports on these carriers from the next heartbeat on. */
  reportOn(reporting: Reporting): void {
    this.#reporting = reporting
    this.wake()
  }

  /** Calls `answered` with the state of each later heartbeat. Returns a function that ends that. */
  onState(answered: (state: FleetState) => void): () => void {
    this.#listeners = [...this.#listeners, answered]
    return () => void (this.#listeners = this.#listeners.filter((other) => other !== answered))
  }

  /** Sends one heartbeat. Resolves to 'more' if another was requested meanwhile. */
  async #beatOnce(): Promise<'more' | 'all'> {
    this.#isWoken = false
    await this.#beat()
    return this.#wasWoken() ? 'more' : 'all'
  }

  #wasWoken(): boolean {
    return this.#isWoken
  }

  /** Sends a heartbeat at once, because of a change that operators or other processes wait for. */
  wake(): void {
    this.#isWoken = true
    this.#beating?.wake()
  }

  /** Reports that the process has ended. */
  async stop(): Promise<void> {
    clearTimeout(this.#gathering)
    await this.#beating?.stop()
    const counts = this.#reporting?.takeCounts() ?? []
    await this.#settings.fleet.beat({ user: this.#user, seconds: 0, reports: [], counts })
  }

  #pause(): number {
    const { leaseSeconds, pauseMilliseconds = this.#isChanging ? pauses.changing : pauses.quiet } = this.#settings
    return Math.min(pauseMilliseconds, leaseSeconds * 250)
  }

  async #beat(): Promise<void> {
    const { fleet, leaseSeconds: seconds } = this.#settings
    const reports = this.#reporting?.reports() ?? []
    const at = performance.now()
    this.#isChanging = !isDeepStrictEqual(reports, this.#reported?.reports ?? [])
    const isDue = this.#isChanging || at - (this.#reported?.at ?? at) >= renewMilliseconds
    const counts = this.#reporting?.takeCounts() ?? []
    try {
      this.#state = await fleet.beat({ user: this.#user, seconds, reports: isDue ? reports : undefined, counts })
    } catch (problem) {
      this.#reporting?.putCountsBack(counts)
      throw problem
    }
    if (isDue) this.#reported = { reports, at }
    for (const answered of this.#listeners) answered(this.#state)
  }
}
