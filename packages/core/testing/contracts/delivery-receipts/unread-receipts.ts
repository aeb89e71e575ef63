import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import { unreadReceiptBounds, type StoredUnreadReceipt, type UnreadReceipt } from '@gateway/core/dispatch'
import { instant } from '@gateway/core/time'
import { aCarrierId, aNumber } from '../../builders.ts'
import { concurrentCallers, farAhead, type Contract } from '../shared.ts'

const aReceipt = (text: string, more: Partial<UnreadReceipt> = {}): UnreadReceipt => ({
  ...{ carrier: aCarrierId('one'), reference: undefined, number: undefined, text, pdu: '', isMessage: false },
  ...more,
})

const numbered = (count: number, from = 0): readonly UnreadReceipt[] =>
  Array.from({ length: count }, (_, at) => aReceipt(String(from + at)))

async function all({
  deliveryReceipts,
}: Pick<StoredPorts, 'deliveryReceipts'>): Promise<readonly StoredUnreadReceipt[]> {
  let found: readonly StoredUnreadReceipt[] = []
  for (;;) {
    const page = await deliveryReceipts.listUnread(found.at(-1)?.id, 4000)
    if (page.length === 0) return found
    found = [...found, ...page]
  }
}

const textsOf = (receipts: readonly StoredUnreadReceipt[]): readonly string[] => receipts.map(({ text }) => text)

/** Contract of deliveries that could not be parsed. */
export const unreadReceipts: Contract<StoredPorts> = {
  'stored receipts are listed unchanged, oldest first': async (ports) => {
    const whole = aReceipt('id=7 "ok", {x} \\ é \u2028 Ж', {
      reference: 'ref "7", \\',
      number: aNumber(),
      pdu: '00ff1a',
      isMessage: true,
    })
    await ports.deliveryReceipts.storeUnread([whole, aReceipt('')])
    await ports.deliveryReceipts.storeUnread([aReceipt('last', { carrier: aCarrierId('two') })])
    await ports.deliveryReceipts.storeUnread([])
    const [first, second, third] = await all(ports)
    assert.equal(typeof first?.at, 'number')
    assert.deepEqual({ ...first, id: 0, at: 0 }, { ...whole, id: 0, at: 0 })
    assert.deepEqual({ ...second, id: 0, at: 0 }, { ...aReceipt(''), id: 0, at: 0 })
    assert.deepEqual([third?.text, third?.carrier], ['last', 'two'])
    assert.ok((first?.id ?? 0) < (second?.id ?? 0) && (second?.id ?? 0) < (third?.id ?? 0))
  },

  'receipts are listed in pages, by carrier and since a time': async (ports) => {
    const { deliveryReceipts } = ports
    await deliveryReceipts.storeUnread([...numbered(3), aReceipt('other', { carrier: aCarrierId('two') })])
    const [first] = await deliveryReceipts.listUnread(undefined, 1)
    assert.deepEqual(textsOf(await deliveryReceipts.listUnread(first?.id, 2)), ['1', '2'])
    const one = { carrier: aCarrierId('one'), since: first?.at }
    assert.deepEqual(textsOf(await deliveryReceipts.listUnread(undefined, 9, one)), ['0', '1', '2'])
    assert.deepEqual(await deliveryReceipts.listUnread(undefined, 9, { since: farAhead }), [])
    assert.equal((await deliveryReceipts.listUnread(undefined, 9, { since: instant(0) })).length, 4)
  },

  'deleted receipts are gone, and others stay': async (ports) => {
    await ports.deliveryReceipts.storeUnread(numbered(3))
    const [, second] = await all(ports)
    await ports.deliveryReceipts.dropUnread(second === undefined ? [] : [second.id])
    await ports.deliveryReceipts.dropUnread(second === undefined ? [] : [second.id])
    await ports.deliveryReceipts.dropUnread([])
    assert.deepEqual(textsOf(await all(ports)), ['0', '2'])
  },

  'beyond the maximum the oldest receipts are replaced': async (ports) => {
    const { countMax } = unreadReceiptBounds
    await ports.deliveryReceipts.storeUnread(numbered(countMax / 2))
    await ports.deliveryReceipts.storeUnread(numbered(countMax / 2 + 2, countMax / 2))
    const storedReceipts = await all(ports)
    assert.deepEqual(
      [storedReceipts.length, storedReceipts[0]?.text, storedReceipts.at(-1)?.text],
      [countMax, '2', String(countMax + 1)],
    )
  },

  'concurrent additions are all stored': async (ports) => {
    await Promise.all(numbered(concurrentCallers).map((one) => ports.deliveryReceipts.storeUnread([one])))
    const storedReceipts = await all(ports)
    assert.equal(new Set(textsOf(storedReceipts)).size, concurrentCallers)
    assert.equal(new Set(storedReceipts.map(({ id }) => id)).size, concurrentCallers)
  },
}
