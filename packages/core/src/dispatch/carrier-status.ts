/** State of a circuit breaker: closed passes all messages, open none, half-open a few to try the carrier. */
export type CircuitState = 'closed' | 'open' | 'half-open'

/**
 * Reason for opening. Silent: no answer came for too long. Failing: too many submissions got no answer or were refused
 * temporarily. Account broken: the carrier refuses every message because of our account (wrong key, no credit).
 */
export type CircuitProblem = 'silent' | 'failing' | 'account-broken'

/** Limits that open the circuit, and the pauses before the carrier is tried again. */
export interface CircuitBounds {
  /**
   * Seconds without any answer after which the circuit opens, counted from the first submission after the last answer;
   * at least four times the average answer time.
   */
  readonly silentSeconds: number
  /**
   * Percentage of failures among the last twenty messages from which the circuit opens. In addition, at least three
   * messages must have had no answer, or ten in a row must have been temporarily refused.
   */
  readonly failuresPercent: number
  /** First pause before a probe, in seconds; doubles with each failed probe. */
  readonly probeSeconds: number
  readonly probeSecondsMax: number
}

/** State of a carrier's circuit breaker. */
export interface CircuitStatus extends CircuitBounds {
  readonly state: CircuitState
  /** Milliseconds since 1970. */
  readonly since: number
  /** Reason for the last opening. */
  readonly reason: CircuitProblem | undefined
  /** The carrier's own explanation of that reason, if there is one. */
  readonly detail?: string
  /** Average answer time in milliseconds; undefined before the first answer. */
  readonly answerMilliseconds: number | undefined
  /** Answer time in seconds above which the window shrinks. */
  readonly slowSeconds: number
}

/** Connection that a carrier keeps open. */
export interface CarrierLink {
  readonly role: string
  /** Time since which it is bound, in milliseconds since 1970; undefined if it is not bound. */
  readonly boundSince: number | undefined
  /** Number of requests without a response. */
  readonly inUse: number
}

/**
 * State of a network carrier for operators: current values, and counts since the process started. Commands, pages and
 * metrics show it without knowing the kind of carrier.
 */
export interface CarrierStatus {
  /** Maximum number of outstanding submissions now, over the connections that are bound. */
  readonly window: number
  /** Connections that the carrier keeps open; undefined for a carrier that connects for each request. */
  readonly links?: readonly CarrierLink[]
  /** Maximum message parts per second. If undefined, only the carrier's answers limit the rate. */
  readonly perSecond: number | undefined
  /** True while the send rate is reduced because the carrier reported that it received too many messages. */
  readonly isThrottled: boolean
  /** Submissions that wait for a connection or for the rate limit. */
  readonly waiting: number
  readonly lastError: string | undefined
  /**
   * `received`: number of receipts received. `missed`: number of these that matched no message within a minute. `form`:
   * how the carrier writes ids in receipts; undefined if this need not be discovered or is not known yet.
   */
  readonly receipts: { readonly received: number; readonly missed: number; readonly form?: string | undefined }
  /** Receipts, messages and other deliveries that could not be read and are stored. */
  readonly unreadable: number
  /** Undefined if the carrier has no circuit breaker. */
  readonly circuit: CircuitStatus | undefined
  /** Further facts about this kind of carrier, as names and values for people. */
  readonly facts?: readonly (readonly [name: string, value: string])[]
}

const boundTimes = ({ links = [] }: Pick<CarrierStatus, 'links'>): readonly number[] =>
  links.flatMap(({ boundSince }) => boundSince ?? [])

/** Returns true if the carrier can be reached, as far as its connections show. */
export const isConnected = (status: Pick<CarrierStatus, 'links'>): boolean =>
  status.links === undefined || boundTimes(status).length > 0

/** Returns when the oldest bound connection was bound, in milliseconds since 1970, or undefined if none is bound. */
export function boundSince(status: Pick<CarrierStatus, 'links'>): number | undefined {
  const times = boundTimes(status)
  return times.length === 0 ? undefined : Math.min(...times)
}
