import { connect, type Socket } from 'node:net'
import { encodePdu, noTlvs, pduReader, pduWriter, type Pdu, type SubmitSm } from '@gateway/smpp'
import { addIds, type IdRanges } from './id-ranges.ts'
import { latenciesOf, type Latencies } from './latencies.ts'
import { numberAt } from './numbers.ts'
import { text } from './send-requests.ts'

export interface SubmitLoad {
  readonly port: number
  readonly logins: readonly { readonly systemId: string; readonly password: string }[]
  /** Number of binds, spread over the logins. */
  readonly binds: number
  /** Submissions of one bind without a response. */
  readonly window: number
  /** Index of the first number. */
  readonly firstNumber: number
  readonly seconds: number
  /** Submissions a second over all binds, whether earlier ones have a response or not; undefined: as windows allow. */
  readonly perSecond?: number
}

export interface SubmitLoadResult {
  readonly recipients: number
  readonly seconds: number
  readonly latencies: Latencies
  readonly accepted: IdRanges
  /** Number of responses with a command_status other than 0, by the status. */
  readonly failures: Readonly<Record<string, number>>
}

/** Submits over SMPP until the time is over. Latencies are measured from the planned time of a submission. */
export async function runSubmitLoad(load: SubmitLoad): Promise<SubmitLoadResult> {
  const milliseconds: number[] = []
  const ids: number[] = []
  const failures: Record<string, number> = {}
  let begun = 0
  const links = await Promise.all(
    Array.from({ length: load.binds }, (_, at) => openLink(load.port, load.logins[at % load.logins.length])),
  )
  const start = performance.now()
  const end = start + load.seconds * 1000

  const submitNext = (link: Link): void => {
    const index = begun++
    const at = load.perSecond === undefined ? performance.now() : start + (index * 1000) / load.perSecond
    link.submit(numberAt(load.firstNumber + index), (status, messageId) => {
      milliseconds.push(performance.now() - at)
      if (status === 0) ids.push(Number(messageId))
      else failures[status] = (failures[status] ?? 0) + 1
      if (load.perSecond === undefined && performance.now() < end) submitNext(link)
    })
  }

  if (load.perSecond === undefined) {
    for (const link of links) for (let count = 0; count < load.window; count++) submitNext(link)
  } else await pace(load.perSecond, links, start, end, submitNext)
  await Promise.all(links.map((link) => link.idle()))
  const seconds = (performance.now() - start) / 1000
  for (const link of links) link.close()
  const accepted: IdRanges = []
  addIds(accepted, [...Float64Array.from(ids).sort()])
  return { recipients: ids.length, seconds, latencies: latenciesOf(milliseconds), accepted, failures }
}

export interface IdleBindsLoad {
  readonly port: number
  readonly logins: SubmitLoad['logins']
  /** Number of binds, spread over the logins. */
  readonly binds: number
}

/** Binds that a worker keeps open until it ends. */
const idleLinks: Link[] = []
/** Binds that are opened at the same time. A server accepts few connections of one address that are not bound. */
const opensAtOnce = 20

/** Opens transceiver binds that only answer enquire_link. They stay open until the worker ends. */
export async function runIdleBinds({ port, logins, binds }: IdleBindsLoad): Promise<{ readonly open: number }> {
  for (let count = 0; count < binds; count += opensAtOnce) {
    const opened = Array.from({ length: Math.min(opensAtOnce, binds - count) }, (_, at) =>
      openLink(port, logins[(count + at) % logins.length], 'bind_transceiver'),
    )
    idleLinks.push(...(await Promise.all(opened)))
  }
  return countIdleBinds()
}

/** Returns the number of binds that are still open. */
export const countIdleBinds = (): Promise<{ readonly open: number }> =>
  Promise.resolve({ open: idleLinks.filter((link) => link.isOpen()).length })

/** Submits at a rate, over the binds in turn, and reads the clock every millisecond. */
async function pace(
  perSecond: number,
  links: readonly Link[],
  start: number,
  end: number,
  submitNext: (link: Link) => void,
): Promise<void> {
  for (let sent = 0; performance.now() < end;) {
    const due = Math.floor(((performance.now() - start) * perSecond) / 1000)
    for (; sent < due; sent++) {
      const link = links[sent % links.length]
      if (link !== undefined) submitNext(link)
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

interface Link {
  submit(number: string, answered: (status: number, messageId: string) => void): void
  /** Resolves when every submission has its response. */
  idle(): Promise<void>
  isOpen(): boolean
  close(): void
}

async function openLink(
  port: number,
  login: SubmitLoad['logins'][number] | undefined,
  command: 'bind_transmitter' | 'bind_transceiver' = 'bind_transmitter',
): Promise<Link> {
  if (login === undefined) throw new Error('no login to bind with')
  const socket = connect(port, '127.0.0.1').setNoDelay(true)
  const waiting = new Map<number, (status: number, messageId: string) => void>()
  const writer = pduWriter()
  const reader = pduReader()
  let isFlushPlanned = false
  let sequence = 1
  let onIdle = (): void => undefined
  const bound = new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.on('data', (chunk: Buffer) => {
      for (const pdu of reader.read(chunk)) {
        if (pdu.command === `${command}_resp`) {
          if (pdu.status === 0) resolve()
          else reject(new Error(`the bind was answered with command_status ${pdu.status}`))
        } else if (pdu.command === 'submit_sm_resp') {
          waiting.get(pdu.sequence)?.(pdu.status, pdu.messageId)
          waiting.delete(pdu.sequence)
          if (waiting.size === 0) onIdle()
        } else if (pdu.command === 'enquire_link') answerEnquiry(socket, pdu)
      }
    })
  })
  socket.write(encodePdu({ command, ...bindFields, ...login, sequence: 1 }))
  await bound
  const flush = (): void => {
    isFlushPlanned = false
    socket.write(writer.take())
  }
  return {
    submit(number, answered) {
      waiting.set(++sequence, answered)
      writer.write({ ...submitFields, destinationAddr: number, sequence })
      if (isFlushPlanned) return
      isFlushPlanned = true
      queueMicrotask(flush)
    },
    idle: () =>
      new Promise((resolve) => {
        onIdle = resolve
        if (waiting.size === 0) resolve()
      }),
    isOpen: () => !socket.destroyed,
    close: () => void socket.destroy(),
  }
}

const answerEnquiry = (socket: Socket, { sequence }: Pdu): void =>
  void socket.write(encodePdu({ command: 'enquire_link_resp', status: 0, sequence, tlvs: noTlvs }))

const bindFields = {
  ...{ status: 0, systemType: '', interfaceVersion: 0x34, addrTon: 0, addrNpi: 0, addressRange: '', tlvs: noTlvs },
}

const submitFields: Omit<SubmitSm, 'destinationAddr' | 'sequence'> = {
  command: 'submit_sm',
  ...{ status: 0, serviceType: '', sourceAddrTon: 0, sourceAddrNpi: 0, sourceAddr: '', destAddrTon: 1, destAddrNpi: 1 },
  ...{ esmClass: 0, protocolId: 0, priorityFlag: 0, scheduleDeliveryTime: '', validityPeriod: '' },
  ...{ registeredDelivery: 1, replaceIfPresentFlag: 0, dataCoding: 0, smDefaultMsgId: 0 },
  ...{ shortMessage: Buffer.from(text), tlvs: noTlvs },
}
