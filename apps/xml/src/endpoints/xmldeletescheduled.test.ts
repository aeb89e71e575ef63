import type { Deletion } from '@gateway/core/messages'
import { secondsAfter } from '@gateway/core/time'
import { aNumber, anOrder, scriptedCarrier } from '@gateway/core/testing'
import { answer, errorIn, serveXml, type Served, type Serving } from '../../testing/serve-xml.ts'
import { DELETION } from '@gateway/wire'

const path = '/api/xmldeletescheduled.asp'
const root = 'XMLGatewayDeleteScheduled_Response'
const messageIdElement = (id: string | number, cli = ''): string => `<MessageID><ID>${id}</ID>${cli}</MessageID>`
const documentOf = (key: string, ids: string): string =>
  `<Svc_DeleteScheduled><ApiKey>${key}</ApiKey><User/><Password/><MessageIDs>${ids}</MessageIDs></Svc_DeleteScheduled>`
const row = (id: string | number, status: string, cli = ''): string =>
  `<DeleteStatus><MessageID>${id}</MessageID>${cli === '' ? '<CLI/>' : `<CLI>${cli}</CLI>`}<Status>${status}</Status></DeleteStatus>`

async function serve(serving: Serving = {}) {
  const served = await serveXml(serving)
  const { ports, account, clock, key, post } = served
  return {
    ...served,
    /** Stores one message to each of these numbers, due in a minute. `costs` are in tenths of a credit. */
    schedule: (to: readonly string[], costs?: readonly number[]) =>
      ports.messages.accept(
        anOrder(account.id, {
          to: to.map(aNumber),
          due: secondsAfter(clock.now(), 60),
          ...(costs === undefined ? {} : { costs }),
        }),
      ),
    remove: (ids: string, by = key) => post(path, documentOf(by, ids)),
    balance: () => ports.ledger.balance(account.id),
  }
}

/** Lets a dispatcher claim the due messages. */
async function claim({ ports: { claimedBatches } }: Pick<Served, 'ports'>) {
  await claimedBatches.promote(100)
  const claim = { messagesMax: 10, markedMax: 10, leaseSeconds: 60 }
  await claimedBatches.claim(await claimedBatches.register(60), {
    carrier: scriptedCarrier().id,
    lane: 'single',
    ...claim,
  })
}

describe('the status of an id', () => {
  test('is DELETED for a due message until it is claimed, and SENT afterwards', async () => {
    const served = await serve()
    await served.schedule(['27825550101', '27825550102'])
    served.clock.step(3600)
    expect((await served.remove(messageIdElement(1))).text).toBe(answer(root, row(1, 'DELETED')))
    await claim(served)
    expect((await served.remove(messageIdElement(2))).text).toBe(answer(root, row(2, 'SENT')))
    expect(await served.balance()).toBe(990)
  })

  test.each(['0', '007', '9007199254740992', '99999999999999999999999999'])(
    'is NOTFOUND for the number %s, echoed as it was written',
    async (id) => {
      const { remove } = await serve()
      expect((await remove(messageIdElement(` ${id}\n`))).text).toBe(answer(root, row(id, 'NOTFOUND')))
    },
  )

  test('is returned with the CLI, trimmed and escaped, or an empty one', async () => {
    const { remove, schedule } = await serve()
    await schedule(['27825550101'])
    const clis = ['<CLI> a &amp; &lt;b&gt; </CLI>', '<CLI/>', '', '<CLI>1</CLI><CLI>2</CLI>']
    const { text } = await remove(clis.map((cli, at) => messageIdElement(at + 1, cli)).join(''))
    const [first, ...others] = ['a &amp; &lt;b&gt;', '', '', '1']
    const rows = others.map((cli, at) => row(at + 2, 'NOTFOUND', cli))
    expect(text).toBe(answer(root, row(1, 'DELETED', first) + rows.join('')))
  })

  test('has a word for each outcome', () => {
    const words: Record<Deletion['outcome'], string> = { deleted: 'DELETED', sent: 'SENT', 'not-found': 'NOTFOUND' }
    expect(DELETION).toEqual(words)
  })
})

describe('an error, for which nothing is deleted', () => {
  const notValid = 'Not Valid XML Document'
  const rows: readonly [string, (key: string) => string, string][] = [
    ...['+1', 'W1', '１'].map((id): [string, (key: string) => string, string] => [
      `the ID '${id}' after a good one`,
      (key) => documentOf(key, messageIdElement(1) + messageIdElement(id)),
      notValid,
    ]),
    [
      'one bad id, before too many',
      (key) => documentOf(key, messageIdElement(1).repeat(1000) + messageIdElement('x')),
      notValid,
    ],
  ]
  test.each(rows)('%s', async (_, documentFor, error) => {
    const { schedule, post, key, balance } = await serve()
    await schedule(['27825550101'])
    const { status, text } = await post(path, documentFor(key))
    expect([status, text]).toEqual([200, errorIn(root, error)])
    expect(await balance()).toBe(990)
  })

  test('an error of the store is answered with 503 and not with NOTFOUND', async () => {
    const deleteScheduled = () => Promise.reject(new Error('the connection was lost'))
    const { remove } = await serve({
      change: (ports) => ({ ...ports, messages: { ...ports.messages, deleteScheduled } }),
    })
    const { status, text } = await remove(messageIdElement(1))
    expect([status, text]).toEqual([503, errorIn(root, 'Service unavailable')])
  })
})
