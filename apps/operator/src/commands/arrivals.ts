import { randomUUID } from 'node:crypto'
import { carrierId, type CarrierId } from '@gateway/core/dispatch'
import type { UnownedMessage, InboundMessage, Received } from '@gateway/core/inbox'
import { readAddress, readTimes } from '../arguments.ts'
import { command, type Run, type Context } from '../command.ts'
import { mapped, type Row } from '../output.ts'
import { timeJson, timeText, counted } from '../show.ts'

export const arrivalsList = (run: Run) =>
  command(
    'list',
    'list incoming messages that belong to no account, because no account had sent to that number from that address',
  ).action(() =>
    run(async ({ backOffice, output }) => {
      await output.rows(
        ['ID', 'CARRIER', 'FROM', 'TO', 'AT (GMT+2)', 'TEXT'],
        mapped(backOffice.queries.listUnownedMessages(), row),
      )
    }),
  )

const row = ({ id, carrier, from, to, at, text }: UnownedMessage): Row => ({
  json: { id, carrier, from, to: to ?? null, time: timeJson(at), text },
  cells: [String(id), carrier, from, to ?? '', timeText(at), text],
})

interface Options {
  readonly from: string
  readonly to: string
  readonly text: string
  readonly times: number
}

/** Maximum messages stored by one statement. */
const batchMax = 500

const carrier = carrierId('simulator') as CarrierId

export const simulateReply = (run: Run) =>
  command(
    'reply',
    'create an incoming message as if somebody had written it, with all consequences, including an opt-out',
    "gateway simulate reply --from 27825550101 --to 12025550100 --text 'Yes, thank you'",
  )
    .requiredOption('--from <number>', 'the number of the writer', readAddress)
    .requiredOption('--to <number>', 'the address that the message is sent to: a code, or one of SENDERS', readAddress)
    .requiredOption('--text <text>', 'the text of the message')
    .option('--times <count>', 'number of messages to create', readTimes, 1)
    .action((options: Options) => run((context) => receiveReplies(context, options)))

async function receiveReplies({ processing, output }: Context, { times, ...message }: Options): Promise<void> {
  const counts: Record<Received, number> = { stored: 0, repeated: 0, incomplete: 0 }
  const name = randomUUID()
  const printResult = (done: number): void =>
    output.result(counts, `${counted(done, 'message')}: ${counts.stored} stored, ${counts.repeated} repeated.`)
  for (let done = 0; done < times; done += batchMax) {
    const count = Math.min(batchMax, times - done)
    const arrivals = Array.from({ length: count }, (_, i) => inboundMessageOf(message, `${name}-${done + i + 1}`))
    const received = await processing.acceptInboundMessages(carrier, arrivals).catch((problem: unknown) => {
      if (done > 0) printResult(done)
      throw problem
    })
    for (const result of received) counts[result]++
    if (times > batchMax) output.progress(`${done + count} of ${times}`)
  }
  printResult(times)
}

const inboundMessageOf = (
  { from, to, text }: Omit<Options, 'times'>,
  reference: string,
): Omit<InboundMessage, 'carrier'> => ({
  from,
  to,
  text,
  sent: undefined,
  reference,
  offer: undefined,
  part: undefined,
})
