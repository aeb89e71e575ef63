/**
 * Agreement between the caller of a send and the store about who decides the answer. The caller calls `miss` when its
 * time is over; the store calls `meet` when the messages are stored. Only the first of these calls succeeds. A caller
 * that has answered "try again" therefore knows that nothing is sent, and a caller whose messages were accepted always
 * gets their ids. Both calls are synchronous and in one process.
 */
export class AnswerDeadline {
  #state: 'open' | 'met' | 'missed' = 'open'
  readonly #onMissed: (() => void)[] = []

  /** Returns true if the stored messages count. If false, the store must revoke them. Repeated calls agree. */
  meet(): boolean {
    if (this.#state === 'open') this.#state = 'met'
    return this.#state === 'met'
  }

  /** Returns true if the caller may answer that nothing was done. If false, the result of the send is about to come. */
  miss(): boolean {
    if (this.#state === 'open') {
      this.#state = 'missed'
      for (const call of this.#onMissed.splice(0)) call()
    }
    return this.#state === 'missed'
  }

  get isMissed(): boolean {
    return this.#state === 'missed'
  }

  /** Calls `call` as soon as the deadline is missed, at once if it is missed already. */
  onMissed(call: () => void): void {
    if (this.#state === 'missed') call()
    else if (this.#state === 'open') this.#onMissed.push(call)
  }
}
