import type { Socket } from 'node:net'
import type { BoundAs, SessionHost, SessionSettings } from './session.ts'
import { addressOf, Session } from './session.ts'

export interface SessionsSettings extends SessionSettings {
  /** Maximum number of connections. Further ones are closed at once. */
  readonly connectionsMax: number
  /** Maximum number of connections of one address that are not bound. */
  readonly unboundPerAddressMax: number
}

const tickMilliseconds = 500

export class Sessions<Bound extends BoundAs> {
  readonly #settings: SessionsSettings
  readonly #host: SessionHost<Bound>
  readonly #sessions = new Set<Session<Bound>>()
  /** Connections that are not bound, by address. */
  readonly #unbound = new Map<string, number>()
  readonly #timer: NodeJS.Timeout
  #isStopping = false

  constructor(host: SessionHost<Bound>, settings: SessionsSettings) {
    this.#settings = settings
    this.#host = {
      bind: (session, pdu, kind) => host.bind(session, pdu, kind),
      operate: (session, bound, pdu) => host.operate(session, bound, pdu),
      hasRoom: (bound) => host.hasRoom(bound),
      admits: (bound, pdu) => host.admits(bound, pdu),
      hasWindow: (session) => host.hasWindow(session),
      refused: (session, status) => host.refused(session, status),
      bound: (session) => {
        this.#countUnbound(session.address, -1)
        host.bound(session)
      },
      closed: (session, reason) => {
        this.#sessions.delete(session)
        if (session.boundAs === undefined) this.#countUnbound(session.address, -1)
        host.closed(session, reason)
      },
    }
    this.#timer = setInterval(() => this.#tick(), tickMilliseconds)
  }

  /** Starts the session of an accepted connection, or closes it if there are too many. */
  accept(socket: Socket): void {
    const session = this.#hasRoom(addressOf(socket)) ? new Session(socket, this.#host, this.#settings) : undefined
    if (session === undefined) {
      socket.on('error', () => undefined)
      socket.destroy()
      return
    }
    this.#sessions.add(session)
    this.#countUnbound(session.address, 1)
  }

  list(): readonly Session<Bound>[] {
    return [...this.#sessions]
  }

  /** Unbinds every client after its outstanding answers. Resolves when all sessions are closed or time is up. */
  async stop(milliseconds: number): Promise<void> {
    this.#isStopping = true
    const deadline = setTimeout(() => {
      for (const session of this.#sessions) session.close('stopping')
    }, milliseconds)
    await Promise.all(this.list().map((session) => session.unbind('stopping')))
    clearTimeout(deadline)
    clearInterval(this.#timer)
  }

  #hasRoom(address: string): boolean {
    const { connectionsMax, unboundPerAddressMax } = this.#settings
    const isFull = this.#sessions.size >= connectionsMax || (this.#unbound.get(address) ?? 0) >= unboundPerAddressMax
    return !this.#isStopping && !isFull
  }

  #countUnbound(address: string, change: 1 | -1): void {
    const count = (this.#unbound.get(address) ?? 0) + change
    if (count > 0) this.#unbound.set(address, count)
    else this.#unbound.delete(address)
  }

  #tick(): void {
    const now = performance.now()
    for (const session of this.#sessions) session.tick(now)
  }
}
