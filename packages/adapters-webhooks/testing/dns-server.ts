import { createSocket } from 'node:dgram'

/** Answer for one name: IPv4 addresses with an optional alias, NXDOMAIN, or silence. */
export type DnsAnswer =
  | { readonly a: readonly string[]; readonly alias?: string; readonly sixToo?: 'silent' | undefined }
  | 'no-such-name'
  | 'silent'

export interface DnsServer {
  readonly address: string
  /** Received queries, each as `name type`. */
  readonly questions: readonly string[]
  close(): Promise<void>
}

/** Starts a DNS server on 127.0.0.1 that knows only `names`. */
export async function startDnsServer(names: Readonly<Record<string, DnsAnswer>>): Promise<DnsServer> {
  const socket = createSocket('udp4')
  const questions: string[] = []
  socket.on('message', (question, { port, address }) => {
    const end = question.indexOf(0, 12)
    const name = nameOf(question.subarray(12, end))
    const isFour = question.readUInt16BE(end + 1) === 1
    questions.push(`${name} ${isFour ? 'A' : 'AAAA'}`)
    const known = names[name] ?? 'no-such-name'
    if (known === 'silent' || (typeof known === 'object' && known.sixToo === 'silent' && !isFour)) return
    socket.send(answerTo(question.subarray(0, end + 5), known, isFour), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  const { port } = socket.address()
  return {
    address: `127.0.0.1:${port}`,
    questions,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  }
}

const nameOf = (labels: Buffer): string => {
  const parts: string[] = []
  for (let at = 0; at < labels.length; at += 1 + (labels[at] ?? 0))
    parts.push(labels.toString('latin1', at + 1, at + 1 + (labels[at] ?? 0)))
  return parts.join('.').toLowerCase()
}

const labelsOf = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0]),
  ])

function answerTo(question: Buffer, known: Exclude<DnsAnswer, 'silent'>, isFour: boolean): Buffer {
  const records: Buffer[] = []
  // Compression pointer to the name of the question, at offset 12 (RFC 1035, 4.1.4).
  let owner: Buffer = Buffer.from([0xc0, 12])
  if (known !== 'no-such-name' && known.alias !== undefined) {
    records.push(record(owner, 5, labelsOf(known.alias)))
    owner = labelsOf(known.alias)
  }
  if (known !== 'no-such-name' && isFour)
    records.push(...known.a.map((address) => record(owner, 1, Buffer.from(address.split('.').map(Number)))))
  const head = Buffer.from(question)
  head.writeUInt16BE(known === 'no-such-name' ? 0x8183 : 0x8180, 2)
  head.writeUInt16BE(records.length, 6)
  head.writeUInt32BE(0, 8)
  return Buffer.concat([head, ...records])
}

function record(owner: Buffer, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([owner, fixed, data])
}
