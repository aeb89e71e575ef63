/** Types for the npm package `smpp`, which contains none. Declares only the parts that tests and benchmarks use. */
declare module 'smpp' {
  import type { Server } from 'node:net'

  export interface Session {
    on(event: string, listener: (pdu: SmppPdu) => void): void
    send(pdu: SmppPdu): void
    destroy(): void
    bind_transceiver(fields: object, answered: (pdu: SmppPdu) => void): void
    submit_sm(fields: object, answered: (pdu: SmppPdu) => void): void
    query_sm(fields: object, answered: (pdu: SmppPdu) => void): void
    cancel_sm(fields: object, answered: (pdu: SmppPdu) => void): void
    enquire_link(fields: object, answered: (pdu: SmppPdu) => void): void
    unbind(fields: object, answered: (pdu: SmppPdu) => void): void
    deliver_sm(fields: object, answered: (pdu: SmppPdu) => void): void
    close(): void
  }

  export interface SmppPdu {
    readonly command_status: number
    readonly message_id?: string
    readonly message_state?: number
    readonly receipted_message_id?: string
    readonly esm_class?: number
    readonly source_addr?: string
    readonly validity_period?: Date
    readonly system_id?: string
    readonly password?: string
    readonly destination_addr?: string
    readonly registered_delivery?: number
    readonly data_coding?: number
    readonly short_message?: { readonly message: string; readonly udh?: readonly Buffer[] }
    response(fields?: object): SmppPdu
    toBuffer(): Buffer
  }

  interface Smpp {
    connect: (options: object) => Session
    createServer: (connected: (session: Session) => void) => Server
    PDU: new (command: string | Buffer, fields?: object) => SmppPdu
  }

  const smpp: Smpp
  export { smpp as default }
}
